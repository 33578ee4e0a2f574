//! What the tests of Rolecall share: real servers, networks that fail on demand, and waiting for conditions.

pub mod asker;
pub mod cluster;
pub mod documents;
pub mod fuzz;
pub mod ports;
pub mod process;
pub mod proxy;
pub mod wait;
pub mod zookeeper;
