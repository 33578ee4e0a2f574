//! Carries out steps: what may happen to a server and to the way there.

use core::time::Duration;
use std::collections::BTreeMap;

use rolecall::store::{Store as _, StoreEvent};
use rolecall_core::store::lease::LeaseMachine;
use rolecall_core::store::{Answer, LeaseRequest, Refusal, Request};
use rolecall_core::{OpId, Session};
use rolecall_tests::ports;
use rolecall_tests::redis::RedisServer;
use rolecall_tests::wait::until;
use tokio::time::sleep;

use super::step::{Ask, Node, Standstill, Step};
use super::world::{PEEK, World, key, open};
use super::{TestResult, is_same};

/// Time for which a server stands still. Whatever is sent waits there, however long it is.
const STANDSTILL: Duration = Duration::from_millis(60);
/// Orders in which three requests can be carried out.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

impl World {
    pub(crate) async fn step(&mut self, step: Step) -> TestResult {
        self.log.push(format!("{step:?}"));
        match step {
            Step::Ask(node, ask) => self.ask(node, ask).await,
            Step::Clock(by_s) => {
                self.server.step_clock(by_s * 1_000_000);
                self.all_heard().await
            }
            Step::Close(node) => self.close(node).await,
            Step::Restart => self.restart().await,
            Step::Wipe => {
                self.server.kill();
                self.server.wipe()?;
                self.machine = LeaseMachine::default();
                self.restart().await
            }
            Step::FlushData => self.flush().await,
            Step::FlushScripts => Ok(self.server.command(redis::cmd("SCRIPT").arg("FLUSH")).await?),
            Step::Attach => {
                drop(self.server.replica().await?);
                Ok(())
            }
            Step::Promote(node, ask) => self.promote(node, ask).await,
            Step::StandStill(how, asks) => self.stand_still(how, asks).await,
            Step::Break(node, ask) => self.break_connections(node, ask).await,
            Step::ForbidWrites(node, ask) => self.forbid_writes(node, ask).await,
        }
    }

    async fn close(&mut self, node: Node) -> TestResult {
        let fresh = open(&self.server, node);
        let client = self.client(node);
        let closed = client.session;
        client.watch = None;
        client.asker.store.close();
        client.asker.find("the end", |event| (*event == StoreEvent::Closed).then_some(())).await;
        client.asker = fresh;
        // The script that closes moves the clock, too.
        self.machine_answer(node, &PEEK).await?;
        let mut notified = Vec::new();
        self.machine.close_session(closed, &mut notified);
        self.noticed(&notified).await;
        self.up(node).await
    }

    async fn restart(&mut self) -> TestResult {
        self.life.run += 1;
        self.server.restart().await?;
        self.all_up().await
    }

    async fn flush(&mut self) -> TestResult {
        self.server.command::<()>(&redis::cmd("FLUSHALL")).await?;
        self.machine = LeaseMachine::default();
        for node in Node::ALL {
            let answer = self.client(node).asker.ask(Request::Sync).await;
            assert!(matches!(answer, Answer::Refused(_)), "{answer:?}");
        }
        self.all_up().await
    }

    async fn promote(&mut self, node: Node, ask: Ask) -> TestResult {
        let mut replica = self.server.replica().await?;
        let caught_up = async || (written(&self.server).await? == written(&replica).await?).then_some(());
        until("the replica to catch up", caught_up).await;
        let behind = self.machine.clone();
        // It hears nothing from now on. One that is only stopped would read what waits in its socket before it is promoted.
        replica.promote().await?;
        self.ask(node, ask).await?;
        self.machine = behind;
        self.server.kill();
        self.server = replica;
        self.life.history += 1;
        self.life.run += 1;
        // The nodes are told of the new primary, as an operator or a service address does it.
        for node in Node::ALL {
            self.client(node).asker = open(&self.server, node);
        }
        self.all_up().await
    }

    async fn stand_still(&mut self, how: Standstill, asks: [Ask; 3]) -> TestResult {
        match how {
            Standstill::Stopped => self.server.pause().await,
            Standstill::Paused => {
                let mut pause = redis::cmd("CLIENT");
                pause.arg("PAUSE").arg(STANDSTILL.as_millis() as u64).arg("ALL");
                self.server.command::<()>(&pause).await?;
            }
        }
        let mut asked = Vec::new();
        for (node, ask) in Node::ALL.into_iter().zip(asks) {
            // A watch that is set in the same moment may fire for a release before its reading.
            let request = self.request(if ask == Ask::Watch { Ask::Peek } else { ask });
            let id = self.send(node, &request);
            asked.push((request, id));
        }
        if how == Standstill::Stopped {
            sleep(STANDSTILL).await;
            self.server.resume();
        }
        let mut answers = Vec::new();
        for (client, (_, id)) in self.clients.iter_mut().zip(&asked) {
            answers.push(client.asker.answer(*id).await);
        }
        self.in_some_order(&asked, &answers).await
    }

    /// The machine gives these answers if it is asked in one order or another.
    async fn in_some_order(&mut self, asked: &[(LeaseRequest, OpId)], answers: &[Answer]) -> TestResult {
        let (before, reading) = (self.machine.clone(), self.reading().await?);
        for order in ORDERS {
            let (mut machine, mut notified) = (before.clone(), Vec::<Session>::new());
            let agrees = order.iter().all(|&place| {
                let pure = machine.handle(reading, &self.caller(Node(place)), &asked[place].0, &mut notified);
                is_same(&pure, &answers[place])
            });
            if agrees {
                let lines = order.map(|place| format!("{}: {:?}", Node(place).id(), answers[place]));
                self.log.extend(lines);
                self.machine = machine;
                self.noticed(&notified).await;
                return Ok(());
            }
        }
        panic!("{asked:?} was answered by {answers:?}, as in no order, after\n{}", self.log());
    }

    async fn break_connections(&mut self, node: Node, ask: Ask) -> TestResult {
        self.server.pause().await;
        let request = self.request(ask);
        let id = self.send(node, &request);
        let kill = async {
            for kind in ["normal", "pubsub"] {
                let mut kill = redis::cmd("CLIENT");
                kill.arg("KILL").arg("TYPE").arg(kind).arg("SKIPME").arg("yes");
                self.server.command::<()>(&kill).await?;
            }
            Ok::<_, redis::RedisError>(())
        };
        let resume = async {
            sleep(STANDSTILL).await;
            self.server.resume();
        };
        tokio::join!(kill, resume).0?;
        let real = self.client(node).asker.answer(id).await;
        self.log.push(format!("{}: {request:?}: {real:?}", node.id()));
        for node in Node::ALL {
            self.connected(node).await;
        }
        self.done_or_not(node, &request, &real).await
    }

    /// The machine gives this answer, or none came. Whether the request was carried out, the next reading tells.
    async fn done_or_not(&mut self, node: Node, request: &LeaseRequest, real: &Answer) -> TestResult {
        let not_done = self.machine.clone();
        let (pure, _) = self.machine_answer(node, request).await?;
        let agrees = match real {
            Answer::Done(_) | Answer::Refused(Refusal::LeaseLost) => is_same(&pure, real),
            Answer::Unknown | Answer::Refused(_) => true,
        };
        assert!(agrees, "Redis tells {real:?}, the machine {pure:?}, after\n{}", self.log());
        let seen = self.client(node).asker.ask(Request::Lease(PEEK)).await;
        let done = self.machine_answer(node, &PEEK).await?.0;
        if !is_same(&done, &seen) {
            assert!(!matches!(real, Answer::Done(_)), "{real:?} was not done, after\n{}", self.log());
            self.machine = not_done;
            let not_done = self.machine_answer(node, &PEEK).await?.0;
            let log = self.log();
            assert!(is_same(&not_done, &seen), "Redis: {seen:?}, the machine: {not_done:?} or {done:?}, after\n{log}");
        }
        Ok(())
    }

    async fn forbid_writes(&mut self, node: Node, ask: Ask) -> TestResult {
        let mut demote = redis::cmd("REPLICAOF");
        self.server.command::<()>(demote.arg("127.0.0.1").arg(ports::free())).await?;
        let request = self.request(ask);
        let asker = &mut self.client(node).asker;
        assert_eq!(asker.ask(Request::Lease(request)).await, Answer::Refused(Refusal::Denied), "READONLY");
        let event = asker.session_event().await;
        assert_eq!(event, StoreEvent::Suspended, "the connection is of no use, after\n{}", self.log());
        self.server.promote().await?;
        self.life.history += 1;
        self.connected(node).await;
        self.reborn().await?;
        self.all_heard().await
    }
}

/// Everything that requests about the lease have written. The store's hash has the time of the last one.
async fn written(server: &RedisServer) -> Option<[BTreeMap<String, String>; 2]> {
    let read = async |name: &str| server.command(&redis::Cmd::hgetall(key(name))).await.ok();
    Some([read("store").await?, read("lease").await?])
}
