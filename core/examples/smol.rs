//! The core on smol: a task for each node, a channel, and a timer until the node's next deadline.
//!
//! `cargo run -p rolecall-core --example smol`

mod common;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use common::{Next, Seat, Shared, Story};
use rolecall_core::{Event, Role};
use smol::channel::{Receiver, Sender, unbounded};
use smol::future::or;
use smol::{LocalExecutor, Timer};

/// A message to a node's task.
enum Message {
    Event(Event),
    Die,
}

type Mailbox = Box<dyn Fn(Event)>;
type Store = Rc<RefCell<Shared<Mailbox>>>;

fn main() {
    let executor = LocalExecutor::new();
    smol::block_on(executor.run(act(&executor)));
}

async fn act(executor: &LocalExecutor<'_>) {
    let store: Store = Rc::new(RefCell::new(Shared::new()));
    let (report, reports) = unbounded();
    let mut nodes = BTreeMap::new();
    for id in ["a", "b", "c"] {
        let (mail, letters) = unbounded();
        let task = executor.spawn(run(id, Rc::clone(&store), letters, report.clone(), mail.clone()));
        nodes.insert(id, (mail, task));
    }
    let mut story = Story::default();
    let ending = loop {
        let (id, role) = reports.recv().await.expect("the nodes report until they are told to end");
        match story.hear(id, role) {
            Next::Wait => {}
            Next::Kill(id) => nodes[id].0.try_send(Message::Die).expect("it lives until it is told this"),
            Next::End(ending) => break ending,
        }
    };
    for (mail, task) in nodes.into_values() {
        // The killed node does not listen any more.
        let _ = mail.try_send(Message::Event(Event::Shutdown));
        task.await;
    }
    print!("{}", store.borrow().text());
    println!("{ending}");
}

async fn run(
    id: &'static str,
    store: Store,
    letters: Receiver<Message>,
    report: Sender<(&'static str, Role)>,
    own: Sender<Message>,
) {
    let mailbox: Mailbox = Box::new(move |event| {
        // A node that has ended reads no more mail.
        let _ = own.try_send(Message::Event(event));
    });
    let mut seat = Seat::take(id, &mut store.borrow_mut(), mailbox);
    loop {
        let patience = seat.patience(&store.borrow());
        let message = or(async { letters.recv().await.ok() }, async {
            Timer::after(patience).await;
            None
        })
        .await;
        let event = match message {
            Some(Message::Event(event)) => Some(event),
            Some(Message::Die) => return seat.die(&mut store.borrow_mut()),
            None => None,
        };
        let Some(role) = seat.step(&mut store.borrow_mut(), event) else { return };
        // Once the story is over, nobody listens.
        let _ = report.try_send((id, role));
    }
}
