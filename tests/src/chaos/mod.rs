//! Faults of real stores under a register, whose clients' history must have an order.

mod clients;
mod ensemble;
mod sentinel;
mod world;

use core::error::Error;
use core::fmt;
use core::time::Duration;

pub use self::clients::{Clients, ClientsReport};
pub use self::ensemble::{EnsembleFault, over_an_ensemble};
pub use self::sentinel::over_a_failover;
pub use self::world::{World, until_serves};

/// Outcome of a step.
pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Account of one fault.
#[derive(Clone, Debug)]
pub struct Survived {
    /// The fault.
    pub fault: String,
    /// Time from the fault until the clients were served 200 times, with the fault still there unless nobody can be served then.
    pub served: Duration,
}

/// Account of one world from its beginning to its end. Its history has an order.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// The faults, in their order.
    pub faults: Vec<Survived>,
    /// Operations that the clients asked for.
    pub asked: usize,
    /// Operations that were done.
    pub done: usize,
    /// Terms that answered.
    pub terms: usize,
}

impl fmt::Display for Account {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { faults, asked, done, terms } = self;
        for Survived { fault, served } in faults {
            writeln!(formatter, "  {fault}: served again after {:.1} s", served.as_secs_f64())?;
        }
        write!(formatter, "  {done} of {asked} operations done in {terms} terms; their history has an order")
    }
}
