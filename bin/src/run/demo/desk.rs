//! Where nodes of a demo are killed and started: from its terminal, and from the page of any of them.

use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::header::ORIGIN;
use http::{Method, Request, Response, StatusCode};
use rolecall::Observer;
use rolecall::http::{Peer, error, json, only};
use rolecall_core::Role;
use serde::Serialize;
use tokio::sync::mpsc;

use crate::front::is_same_origin;

/// What can be done to a node of a demo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// End it as by a crash: nothing is cleaned up.
    Kill,
    /// Start it again.
    Start,
}

/// An order that was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// Which node, from 0.
    pub(super) index: usize,
    pub(super) act: Act,
}

/// The nodes of a demo, whether they run or not.
#[derive(Debug)]
pub struct Desk {
    seats: Vec<Seat>,
    states: Mutex<Vec<State>>,
    orders: mpsc::UnboundedSender<Order>,
}

/// Who a node of a demo is, through all its lives.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    pub(super) id: String,
    pub(super) address: String,
}

#[derive(Debug)]
enum State {
    Down,
    Starting,
    Up(Observer),
}

#[derive(Serialize)]
struct Shown<'a> {
    number: usize,
    id: &'a str,
    address: &'a str,
    running: bool,
    role: Role,
}

/// So long a kill waits that was asked for over HTTP, so that the answer leaves before its node does.
const LAST_WORD: Duration = Duration::from_millis(100);

impl Desk {
    pub(super) fn new(seats: Vec<Seat>) -> (Self, mpsc::UnboundedReceiver<Order>) {
        let (orders, accepted) = mpsc::unbounded_channel();
        let states = Mutex::new(seats.iter().map(|_| State::Down).collect());
        (Self { seats, states, orders }, accepted)
    }

    /// Where the nodes answer, `host:port`.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &str> {
        self.seats.iter().map(|seat| &*seat.address)
    }

    pub(super) fn seats(&self) -> &[Seat] {
        &self.seats
    }

    pub(super) fn is_up(&self, index: usize, observer: Observer) {
        self.states()[index] = State::Up(observer);
    }

    pub(super) fn is_down(&self, index: usize) {
        self.states()[index] = State::Down;
    }

    /// Accepts an order for the node `number`, counted from 1, and carries it out `after` a while.
    ///
    /// # Errors
    /// Why it can't be done, for people.
    pub(super) fn order(&self, number: usize, act: Act, after: Duration) -> Result<(), String> {
        let index = number.checked_sub(1).filter(|index| *index < self.seats.len());
        let index =
            index.ok_or_else(|| format!("there is no node {number}; accepted are 1 to {}", self.seats.len()))?;
        let mut states = self.states();
        states[index] = match (&states[index], act) {
            (State::Down, Act::Start) => State::Starting,
            (State::Up(_), Act::Kill) => State::Down,
            (State::Down, Act::Kill) => return Err(format!("node {number} does not run")),
            (State::Starting, _) => return Err(format!("node {number} is being started")),
            (State::Up(_), Act::Start) => return Err(format!("node {number} runs already")),
        };
        drop(states);
        let orders = self.orders.clone();
        let order = Order { index, act };
        if after.is_zero() {
            // Without a receiver the demo is ending.
            orders.send(order).ok();
        } else {
            tokio::spawn(async move {
                tokio::time::sleep(after).await;
                orders.send(order).ok();
            });
        }
        Ok(())
    }

    /// Answers what is under `/demo/`.
    pub(crate) async fn answer(&self, head: &Request<()>) -> Response<Bytes> {
        if !self.may(head) {
            return error(
                StatusCode::FORBIDDEN,
                "forbidden",
                "only this machine and the pages of this demo may do this",
            );
        }
        let path = head.uri().path();
        if path == "/demo/nodes" {
            return only(&[Method::GET], head).unwrap_or_else(|| self.shown());
        }
        let order = path.strip_prefix("/demo/nodes/").and_then(|rest| rest.split_once('/'));
        let order = order.and_then(|(number, act)| Some((number.parse().ok()?, Act::parse(act)?)));
        let Some((number, act)) = order else {
            let message = "accepted are /demo/nodes, and POST to /demo/nodes/N/kill and /demo/nodes/N/start";
            return error(StatusCode::NOT_FOUND, "not_found", message);
        };
        if let Some(refused) = only(&[Method::POST], head) {
            return refused;
        }
        match self.order(number, act, LAST_WORD) {
            Ok(()) => json(StatusCode::ACCEPTED, &serde_json::json!({ "accepted": true })),
            Err(message) => error(StatusCode::CONFLICT, "not_possible", &message),
        }
    }

    /// A browser says of whose page a request is; whatever else is on this machine may do as it likes.
    fn may(&self, head: &Request<()>) -> bool {
        let is_local = head.extensions().get::<Peer>().is_some_and(|peer| {
            peer.0.parse::<std::net::SocketAddr>().is_ok_and(|address| address.ip().to_canonical().is_loopback())
        });
        let is_ours = head.headers().get(ORIGIN).is_none_or(|origin| {
            origin.to_str().is_ok_and(|origin| self.addresses().any(|address| is_same_origin(origin, address)))
        });
        is_local && is_ours
    }

    fn shown(&self) -> Response<Bytes> {
        let states = self.states();
        let nodes = self.seats.iter().zip(&*states).enumerate().map(|(index, (seat, state))| Shown {
            number: index + 1,
            id: &seat.id,
            address: &seat.address,
            running: !matches!(state, State::Down),
            role: match state {
                State::Up(observer) => observer.status().role,
                State::Down | State::Starting => Role::None,
            },
        });
        let nodes: Vec<Shown<'_>> = nodes.collect();
        json(StatusCode::OK, &serde_json::json!({ "nodes": nodes }))
    }

    fn states(&self) -> MutexGuard<'_, Vec<State>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Act {
    pub(super) fn parse(word: &str) -> Option<Self> {
        match word {
            "kill" => Some(Self::Kill),
            "start" => Some(Self::Start),
            _ => None,
        }
    }
}
