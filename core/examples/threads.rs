//! The core without an async runtime: a thread for each node, a channel, and `recv_timeout` until the node's next deadline.
//!
//! `cargo run -p rolecall-core --example threads`

mod common;

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use common::{Next, Seat, Shared, Story};
use rolecall_core::{Event, Role};

/// A message to a node's thread.
enum Message {
    Event(Event),
    Die,
}

type Mailbox = Box<dyn Fn(Event) + Send>;
type Store = Arc<Mutex<Shared<Mailbox>>>;

fn main() {
    let store: Store = Arc::new(Mutex::new(Shared::new()));
    let (report, reports) = channel();
    let mut nodes = BTreeMap::new();
    for id in ["a", "b", "c"] {
        let (mail, letters) = channel();
        let (store, report, own) = (Arc::clone(&store), report.clone(), mail.clone());
        let thread = thread::spawn(move || run(id, &store, &letters, &report, own));
        nodes.insert(id, (mail, thread));
    }
    let ending = tell(&reports, &nodes);
    for (mail, thread) in nodes.into_values() {
        // The killed node does not listen any more.
        let _ = mail.send(Message::Event(Event::Shutdown));
        thread.join().expect("a node's thread does not panic");
    }
    print!("{}", store.lock().unwrap_or_else(PoisonError::into_inner).text());
    println!("{ending}");
}

fn tell(
    reports: &Receiver<(&'static str, Role)>,
    nodes: &BTreeMap<&'static str, (Sender<Message>, thread::JoinHandle<()>)>,
) -> String {
    let mut story = Story::default();
    for (id, role) in reports {
        match story.hear(id, role) {
            Next::Wait => {}
            Next::Kill(id) => nodes[id].0.send(Message::Die).expect("it lives until it is told this"),
            Next::End(ending) => return ending,
        }
    }
    unreachable!("the nodes report until they are told to end")
}

fn run(
    id: &'static str,
    store: &Store,
    letters: &Receiver<Message>,
    report: &Sender<(&'static str, Role)>,
    own: Sender<Message>,
) {
    let lock = || store.lock().unwrap_or_else(PoisonError::into_inner);
    let mailbox: Mailbox = Box::new(move |event| {
        // A node that has ended reads no more mail.
        let _ = own.send(Message::Event(event));
    });
    let mut seat = Seat::take(id, &mut lock(), mailbox);
    loop {
        let patience = seat.patience(&lock());
        let event = match letters.recv_timeout(patience) {
            Ok(Message::Event(event)) => Some(event),
            Ok(Message::Die) => return seat.die(&mut lock()),
            Err(_) => None,
        };
        let Some(role) = seat.step(&mut lock(), event) else { return };
        // Once the story is over, nobody listens.
        let _ = report.send((id, role));
    }
}
