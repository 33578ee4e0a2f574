//! Shared parts of Rolecall's tests: real servers, networks that fail on demand, and waiting for conditions.

pub mod asker;
pub mod cluster;
pub mod contender;
pub mod documents;
pub mod ensemble;
pub mod fuzz;
pub mod ports;
pub mod process;
pub mod proxy;
pub mod redis;
pub mod reign;
pub mod socks;
pub mod wait;
pub mod zookeeper;

/// README of the project, whose examples must compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
