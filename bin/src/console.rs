//! Console of a demo, which kills and starts nodes: from the terminal, and from the page of any node.

use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::header::ORIGIN;
use http::{Method, Request, Response, StatusCode};
use rolecall::http::{Peer, error, json, only};
use rolecall::{Observer, Role};
use serde::Serialize;
use tokio::sync::mpsc;

use crate::origin::is_same;

/// Operation on a node of a demo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// End the node as a crash would, without any cleanup.
    Kill,
    /// Start the node again.
    Start,
}

/// Accepted order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// Index of the node, from 0.
    pub(crate) index: usize,
    pub(crate) act: Act,
}

/// Console over all nodes of a demo, running or not.
#[derive(Debug)]
pub struct Console {
    nodes: Vec<DemoNode>,
    states: Mutex<Vec<State>>,
    orders: mpsc::UnboundedSender<Order>,
}

/// Identity of a node of a demo, the same through all its lives.
#[derive(Clone, Debug)]
pub(crate) struct DemoNode {
    pub(crate) id: String,
    pub(crate) address: String,
}

#[derive(Debug)]
enum State {
    Down,
    Starting,
    Up(Observer),
}

#[derive(Serialize)]
struct NodeView<'a> {
    number: usize,
    id: &'a str,
    address: &'a str,
    running: bool,
    role: Role,
}

/// Delay of a kill requested over HTTP, so that the answer is sent before the node dies.
const LAST_WORD: Duration = Duration::from_millis(100);

impl Console {
    pub(crate) fn new(nodes: Vec<DemoNode>) -> (Self, mpsc::UnboundedReceiver<Order>) {
        let (orders, accepted) = mpsc::unbounded_channel();
        let states = Mutex::new(nodes.iter().map(|_| State::Down).collect());
        (Self { nodes, states, orders }, accepted)
    }

    /// Addresses of the nodes, `host:port`.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|node| &*node.address)
    }

    pub(crate) fn nodes(&self) -> &[DemoNode] {
        &self.nodes
    }

    pub(crate) fn is_up(&self, index: usize, observer: Observer) {
        self.states()[index] = State::Up(observer);
    }

    pub(crate) fn is_down(&self, index: usize) {
        self.states()[index] = State::Down;
    }

    /// Accepts an order for the node `number`, counted from 1. It is carried out after the delay `after`.
    ///
    /// # Errors
    /// The reason why the order is not possible, for people.
    pub(crate) fn order(&self, number: usize, act: Act, after: Duration) -> Result<(), String> {
        let index = number.checked_sub(1).filter(|index| *index < self.nodes.len());
        let index = index.ok_or_else(|| format!("there is no node {number}; expected 1 to {}", self.nodes.len()))?;
        let mut states = self.states();
        states[index] = match (&states[index], act) {
            (State::Down, Act::Start) => State::Starting,
            (State::Up(_), Act::Kill) => State::Down,
            (State::Down, Act::Kill) => return Err(format!("node {number} is not running")),
            (State::Starting, _) => return Err(format!("node {number} is being started")),
            (State::Up(_), Act::Start) => return Err(format!("node {number} is already running")),
        };
        drop(states);
        let orders = self.orders.clone();
        let order = Order { index, act };
        if after.is_zero() {
            // This fails only if the demo is ending.
            orders.send(order).ok();
        } else {
            tokio::spawn(async move {
                tokio::time::sleep(after).await;
                orders.send(order).ok();
            });
        }
        Ok(())
    }

    /// Answers requests for paths under `/demo/`.
    pub(crate) async fn answer(&self, head: &Request<()>) -> Response<Bytes> {
        if !self.may(head) {
            return error(
                StatusCode::FORBIDDEN,
                "forbidden",
                "only this machine and the pages of this demo may use these routes",
            );
        }
        let path = head.uri().path();
        if path == "/demo/nodes" {
            return only(&[Method::GET], head).unwrap_or_else(|| self.list());
        }
        let order = path.strip_prefix("/demo/nodes/").and_then(|rest| rest.split_once('/'));
        let order = order.and_then(|(number, act)| Some((number.parse().ok()?, Act::parse(act)?)));
        let Some((number, act)) = order else {
            let message = "expected GET /demo/nodes, POST /demo/nodes/N/kill or POST /demo/nodes/N/start";
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

    /// True if the request comes from this machine, and, if a browser sent it, from a page of this demo.
    fn may(&self, head: &Request<()>) -> bool {
        let is_local = head.extensions().get::<Peer>().is_some_and(|peer| {
            peer.0.parse::<std::net::SocketAddr>().is_ok_and(|address| address.ip().to_canonical().is_loopback())
        });
        let is_ours = head.headers().get(ORIGIN).is_none_or(|origin| {
            origin.to_str().is_ok_and(|origin| self.addresses().any(|address| is_same(origin, address)))
        });
        // Browsers leave the origin out of some requests, but not this field.
        let is_foreign = head.headers().get("sec-fetch-site").is_some_and(|site| site == "cross-site");
        is_local && is_ours && !is_foreign
    }

    fn list(&self) -> Response<Bytes> {
        let states = self.states();
        let nodes = self.nodes.iter().zip(&*states).enumerate().map(|(index, (node, state))| NodeView {
            number: index + 1,
            id: &node.id,
            address: &node.address,
            running: !matches!(state, State::Down),
            role: match state {
                State::Up(observer) => observer.status().role,
                State::Down | State::Starting => Role::None,
            },
        });
        let nodes: Vec<NodeView<'_>> = nodes.collect();
        json(StatusCode::OK, &serde_json::json!({ "nodes": nodes }))
    }

    fn states(&self) -> MutexGuard<'_, Vec<State>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Act {
    pub(crate) fn parse(word: &str) -> Option<Self> {
        match word {
            "kill" => Some(Self::Kill),
            "start" => Some(Self::Start),
            _ => None,
        }
    }
}
