//! Shared parts of Rolecall's tests: real servers, networks that fail on demand, and waiting for conditions.

#[cfg(feature = "servers")]
pub mod asker;
#[cfg(feature = "servers")]
pub mod chaos;
#[cfg(feature = "servers")]
pub mod cluster;
#[cfg(feature = "servers")]
pub mod command;
#[cfg(feature = "servers")]
pub mod contender;
#[cfg(feature = "servers")]
pub mod documents;
#[cfg(feature = "servers")]
pub mod ensemble;
pub mod fuzz;
#[cfg(feature = "servers")]
pub mod peers;
#[cfg(feature = "servers")]
pub mod ports;
#[cfg(feature = "servers")]
pub mod process;
#[cfg(feature = "servers")]
pub mod proxy;
#[cfg(feature = "servers")]
pub mod redis;
#[cfg(feature = "servers")]
pub mod reign;
#[cfg(feature = "servers")]
pub mod socks;
#[cfg(feature = "servers")]
pub mod tools;
#[cfg(feature = "servers")]
pub mod wait;
#[cfg(feature = "servers")]
pub mod zookeeper;

/// README of the project, whose examples must compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
