//! `rolecall demo`: a whole cluster in this process, on the embedded store, to try it out.

mod terminal;

use core::convert::Infallible;
use core::fmt::Write as _;
use core::time::Duration;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rolecall::http::HttpNode;
use rolecall::store::{MemoryStore, Store};
use rolecall::{Observer, Outcome, SystemClock};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use self::terminal::Typed;
use super::application::Application;
use super::launch::{self, Plan};
use super::narrator;
use super::signals::Signals;
use super::{block_on, folders};
use crate::cli::{Demo, Failure, print};
use crate::console::{Act, Console, DemoNode, Order};

const HOST: &str = "127.0.0.1";

/// Runs a cluster until it is told to end.
///
/// # Errors
/// If no ports are free, the options contradict each other, or a promise was violated.
pub fn demo(options: Demo) -> Result<(), Failure> {
    if !options.store.is_embedded() {
        return Err(Failure::Usage(format!(
            "--store {}: the demo keeps its store in its own process; expected memory: or memory:?election=lease",
            options.store
        )));
    }
    block_on(run(options))
}

async fn run(options: Demo) -> Result<(), Failure> {
    let mut signals = Signals::new()?;
    let ports = free_ports(options.port, options.nodes)?;
    let nodes = ports
        .iter()
        .enumerate()
        .map(|(index, port)| DemoNode { id: format!("node-{}", index + 1), address: format!("{HOST}:{port}") });
    let (console, mut orders) = Console::new(nodes.collect());
    let data = folders::data(options.tuning.data.as_deref(), "demo", &ports[0].to_string())?;
    let _claim = folders::claim(&data)?;
    let documents = documents(options.documents.as_deref(), &data)?;
    let welcome = welcome(&options, &console, &documents)?;
    let mut cluster = Cluster::new(options, Arc::new(console), documents, data);
    // Start the nodes before printing the addresses, so that a reader finds a node at each.
    let observers = cluster.start_all().await?;
    print(&welcome)?;
    observers.into_iter().for_each(follow);
    let mut typed = terminal::lines();
    let mut is_typing = true;
    loop {
        tokio::select! {
            name = signals.next() => {
                tracing::info!("{name}: ending in good order");
                break;
            }
            Some(order) = orders.recv() => cluster.carry_out(order).await?,
            Some((index, life, outcome)) = cluster.ends.recv() => cluster.ended(index, life, &outcome)?,
            line = typed.recv(), if is_typing => match line {
                Some(Typed::Quit) => break,
                Some(line) => cluster.obey(&line)?,
                // The end of the input does not end the demo, which may run without a terminal.
                None => is_typing = false,
            },
        }
    }
    signals.end_at_next();
    cluster.shut_down().await
}

/// Folder asked for, or else the Rust documentation, or else the project's own guide.
fn documents(asked: Option<&Path>, data: &Path) -> Result<PathBuf, Failure> {
    match asked {
        Some(folder) => Ok(folder.to_owned()),
        None => folders::rust_documentation(data).map_or_else(|| folders::guide(data), Ok),
    }
}

/// First `count` free ports, from `first` on.
fn free_ports(first: u16, count: u16) -> Result<Vec<u16>, Failure> {
    let is_free = |port: &u16| std::net::TcpListener::bind((HOST, *port)).is_ok();
    let ports: Vec<u16> = (first..=u16::MAX).filter(is_free).take(count.into()).collect();
    if ports.len() == usize::from(count) {
        Ok(ports)
    } else {
        Err(Failure::Failed(format!(
            "the demo needs {count} free ports from {first} on and found {}; give another first port with --port",
            ports.len()
        )))
    }
}

fn welcome(options: &Demo, console: &Console, documents: &Path) -> Result<String, Failure> {
    let what = if options.documents.is_none() && documents.ends_with("rust-documentation") {
        "the books of the Rust documentation on this machine".to_owned()
    } else {
        documents.display().to_string()
    };
    let mut text = format!("A cluster of {} over {what}\n\n", options.nodes);
    let mut line =
        |words: core::fmt::Arguments<'_>| writeln!(text, "{words}").map_err(|error| Failure::Failed(error.to_string()));
    for node in console.nodes() {
        line(format_args!("  {}  http://{}/", node.id, node.address))?;
    }
    let last = options.port.checked_add(options.nodes - 1);
    if console.addresses().last().is_some_and(|address| last.is_none_or(|last| address != format!("{HOST}:{last}"))) {
        line(format_args!("  (some ports were in use, so these are not the ones asked for)"))?;
    }
    line(format_args!(
        "\nOpen one of them and search. Kill and start nodes there, or here: kill 1, start 1, help, quit\n"
    ))?;
    Ok(text)
}

/// Running nodes, with everything needed to start one.
struct Cluster {
    options: Demo,
    console: Arc<Console>,
    store: MemoryStore,
    documents: PathBuf,
    data: PathBuf,
    nodes: Vec<Option<Life>>,
    lives: u64,
    ended: mpsc::UnboundedSender<(usize, u64, Outcome)>,
    ends: mpsc::UnboundedReceiver<(usize, u64, Outcome)>,
}

/// Life of a node, from its start to its end.
struct Life {
    number: u64,
    end: oneshot::Sender<End>,
    keeper: JoinHandle<Option<Outcome>>,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Crash,
    GoodOrder,
}

impl Cluster {
    fn new(options: Demo, console: Arc<Console>, documents: PathBuf, data: PathBuf) -> Self {
        let (ended, ends) = mpsc::unbounded_channel();
        let store = MemoryStore::of(options.store.family(), Arc::new(SystemClock::new()));
        let nodes = console.nodes().iter().map(|_| None).collect();
        Self { options, console, store, documents, data, nodes, lives: 0, ended, ends }
    }

    async fn start_all(&mut self) -> Result<Vec<(String, Observer)>, Failure> {
        let mut observers = Vec::new();
        for index in 0..self.nodes.len() {
            observers.push(self.start(index).await?);
        }
        Ok(observers)
    }

    async fn start(&mut self, index: usize) -> Result<(String, Observer), Failure> {
        let DemoNode { id, address } = self.console.nodes()[index].clone();
        let tuning = &self.options.tuning;
        let plan = Plan {
            cluster: "demo".into(),
            config: launch::config(&id, &self.options.store, tuning)?,
            session_timeout: tuning.session_timeout,
            listen: address,
            advertise: None,
            allowed_hosts: Vec::new(),
            journal: tuning.journal.as_ref().map(|folder| folder.join(&id)),
            store: "memory",
            console: Some(Arc::clone(&self.console)),
        };
        let application = Application::new(&id, &self.documents, &self.data.join(&id), tuning, None);
        let store = self.store.clone();
        let open_store = move |participant| Ok::<Box<dyn Store>, Infallible>(Box::new(store.connect(participant)));
        let node = launch::launch(plan, application, open_store).await?;
        self.console.is_up(index, node.observer().clone());
        let observer = (id, node.observer().clone());
        self.lives += 1;
        let number = self.lives;
        let (end, asked) = oneshot::channel();
        let ended = self.ended.clone();
        let keeper = tokio::spawn(async move {
            let outcome = keep(node, asked).await;
            if let Some(outcome) = &outcome {
                // This fails only if the demo is ending.
                drop(ended.send((index, number, outcome.clone())));
            }
            outcome
        });
        self.nodes[index] = Some(Life { number, end, keeper });
        Ok(observer)
    }

    async fn carry_out(&mut self, order: Order) -> Result<(), Failure> {
        let Order { index, act } = order;
        let id = self.console.nodes()[index].id.clone();
        match act {
            Act::Kill => {
                if let Some(life) = self.nodes[index].take() {
                    end(life, End::Crash).await;
                    print(&format!("{id} was killed\n"))?;
                }
            }
            Act::Start => match self.start(index).await {
                Ok(observer) => {
                    print(&format!("{id} was started\n"))?;
                    follow(observer);
                }
                Err(failure) => {
                    self.console.is_down(index);
                    print(&format!("cannot start {id}: {failure}\n"))?;
                }
            },
        }
        Ok(())
    }

    fn obey(&self, typed: &Typed) -> Result<(), Failure> {
        match typed {
            Typed::Order(act, number) => match self.console.order(*number, *act, Duration::ZERO) {
                Ok(()) => Ok(()),
                Err(message) => print(&format!("{message}\n")),
            },
            Typed::Help => print(terminal::HELP),
            Typed::Unknown(message) => print(message),
            Typed::Quit => Ok(()),
        }
    }

    /// Handles a node that ended by itself.
    fn ended(&mut self, index: usize, life: u64, outcome: &Outcome) -> Result<(), Failure> {
        if self.nodes[index].as_ref().is_some_and(|running| running.number == life) {
            self.nodes[index] = None;
            self.console.is_down(index);
            print(&format!("{} {outcome}\n", self.console.nodes()[index].id))?;
        }
        match outcome {
            Outcome::Halted(_) => narrator::end(outcome),
            Outcome::Exited | Outcome::Refused(_) => Ok(()),
        }
    }

    /// Ends all nodes in good order, at the same time.
    async fn shut_down(&mut self) -> Result<(), Failure> {
        let lives = self.nodes.iter_mut().filter_map(Option::take);
        for outcome in futures_util::future::join_all(lives.map(|life| end(life, End::GoodOrder))).await {
            outcome.map_or(Ok(()), |outcome| narrator::end(&outcome))?;
        }
        Ok(())
    }
}

/// Prints the roles of a node from now on.
fn follow((id, observer): (String, Observer)) {
    tokio::spawn(narrator::follow(id, observer));
}

/// Owns a node until it ends or is told to end. Returns its outcome, unless it was crashed.
async fn keep(mut node: HttpNode, asked: oneshot::Receiver<End>) -> Option<Outcome> {
    let asked = tokio::select! {
        outcome = node.wait() => return Some(outcome),
        asked = asked => asked,
    };
    match asked {
        Ok(End::GoodOrder) => {
            node.shut_down().await;
            Some(node.wait().await)
        }
        Ok(End::Crash) | Err(_) => {
            node.crash().await;
            None
        }
    }
}

async fn end(life: Life, how: End) -> Option<Outcome> {
    // This fails if the node has ended meanwhile.
    life.end.send(how).ok();
    life.keeper.await.ok().flatten()
}
