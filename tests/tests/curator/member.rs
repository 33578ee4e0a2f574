//! A member of the election: a node of Rolecall in this process, or a LeaderLatch in a process of its own.

use core::time::Duration;
use std::sync::{Arc, Mutex};

use rolecall::Leader;
use rolecall_tests::contender::Contender;
use rolecall_tests::peers::{Entry, Peer, Peers, Program};
use rolecall_tests::reign::{Reign, now};
use rolecall_tests::wait::until;
use rolecall_tests::zookeeper::ZooKeeperServer;

use super::{PATH, SESSION};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Rolecall,
    Curator,
}

/// Ways in which a life ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// In good order.
    Leave,
    /// As by `kill -9`.
    Kill,
}

/// A time for which a member led, on `CLOCK_MONOTONIC`: no longer than it really led, so two terms that overlap really did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    pub(crate) kind: Kind,
    pub(crate) begin: Duration,
    pub(crate) end: Duration,
}

pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    life: Option<Life>,
    terms: Vec<Term>,
}

enum Life {
    Node(Box<Contender>),
    Latch { process: Peer, log: LatchLog },
}

/// What a latch has told: a time at which it began to lead, or ended.
type LatchLog = Arc<Mutex<Vec<(Word, Duration)>>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Leads,
    Ends,
}

impl Member {
    pub(crate) async fn start(server: &ZooKeeperServer, peers: &Peers, name: &'static str, kind: Kind) -> Self {
        let mut member = Self { name, kind, life: None, terms: Vec::new() };
        member.live(server, peers).await;
        member
    }

    async fn live(&mut self, server: &ZooKeeperServer, peers: &Peers) {
        let servers = [server.address()];
        self.life = Some(match self.kind {
            Kind::Rolecall => {
                Life::Node(Box::new(Contender::start(self.name, &servers, SESSION).await.expect("it starts")))
            }
            Kind::Curator => {
                let log = LatchLog::default();
                let entry = Entry { path: PATH, id: self.name, servers: &servers, session: SESSION };
                let process = peers.start(Program::CuratorMember, &entry, {
                    let log = Arc::clone(&log);
                    move |line| log.lock().expect("nobody panics with it").extend(parse(line))
                });
                let process = process.expect("java starts");
                Life::Latch { process, log }
            }
        });
    }

    pub(crate) fn leads(&self) -> bool {
        match &self.life {
            Some(Life::Node(node)) => node.leads(),
            Some(Life::Latch { log, .. }) => {
                log.lock().expect("nobody panics with it").last().is_some_and(|(word, _)| *word == Word::Leads)
            }
            None => false,
        }
    }

    /// The leader that a node sees. A latch tells nothing.
    pub(crate) fn sees(&self) -> Option<Leader> {
        match &self.life {
            Some(Life::Node(node)) => node.observer().status().leader,
            Some(Life::Latch { .. }) | None => None,
        }
    }

    pub(crate) fn knows_a_leader(&self) -> bool {
        self.kind == Kind::Curator || self.sees().is_some()
    }

    /// Ends the present life, and begins another.
    pub(crate) async fn end(&mut self, server: &ZooKeeperServer, peers: &Peers, ending: Ending) {
        match (self.life.take(), ending) {
            (Some(Life::Node(node)), Ending::Leave) => self.note(node.leave().await),
            (Some(Life::Node(node)), Ending::Kill) => self.note(node.crash()),
            (Some(Life::Latch { mut process, log }), Ending::Leave) => {
                let before = ends(&log);
                process.tell("end").expect("it runs");
                until("the latch to end", async || (ends(&log) > before).then_some(())).await;
                self.life = Some(Life::Latch { process, log });
                return;
            }
            (Some(Life::Latch { process, log }), Ending::Kill) => {
                let end = now();
                drop(process);
                self.note_latch(&log, end);
            }
            (None, _) => {}
        }
        self.live(server, peers).await;
    }

    /// All terms, once the present life is over.
    pub(crate) async fn terms(mut self) -> Vec<Term> {
        match self.life.take() {
            Some(Life::Node(node)) => self.note(node.leave().await),
            Some(Life::Latch { process, log }) => {
                let end = now();
                drop(process);
                self.note_latch(&log, end);
            }
            None => {}
        }
        self.terms
    }

    fn note(&mut self, reign: Option<Reign>) {
        self.terms.extend(reign.map(|reign| Term { kind: self.kind, begin: reign.first, end: reign.last }));
    }

    /// Pairs what a latch has told. One that was killed at `killed` has told no end.
    fn note_latch(&mut self, log: &LatchLog, killed: Duration) {
        let mut begin = None;
        for (word, time) in log.lock().expect("nobody panics with it").drain(..) {
            match word {
                Word::Leads => begin = Some(time),
                Word::Ends => self.terms.extend(begin.take().map(|begin| Term { kind: self.kind, begin, end: time })),
            }
        }
        let last = begin.filter(|begin| *begin <= killed);
        self.terms.extend(last.map(|begin| Term { kind: self.kind, begin, end: killed }));
    }
}

fn ends(log: &LatchLog) -> usize {
    log.lock().expect("nobody panics with it").iter().filter(|(word, _)| *word == Word::Ends).count()
}

fn parse(line: &str) -> Option<(Word, Duration)> {
    let (word, time) = line.split_once(' ')?;
    let word = match word {
        "leads" => Word::Leads,
        "ends" => Word::Ends,
        _ => return None,
    };
    Some((word, Duration::from_nanos(time.parse().ok()?)))
}
