//! The [register](super) on simulated machines. The history of its four clients judges the leaders.

use core::hash::{Hash, Hasher};
use core::time::Duration;
use std::io;

use rolecall::Time;
use rolecall::http::{Client, ClientLimits, HttpNodeBuilder, ServerLimits};
use rolecall_sim::{Evidence, Host, Simulation, StorageHost, Visitor, Wrong};

use super::{Answer, Caller, History, Register, Storage, check};

/// Limit for a request of a leader to the storage: longer than a term lasts, so that its last writes arrive late.
const PATIENCE: Duration = Duration::from_secs(8);

/// Simulation of three nodes, four clients and a storage for one minute, without faults.
#[must_use]
pub fn simulation() -> Simulation {
    let simulation = Simulation::new(node).evidence(History::new).storage(|host| keep(Storage::new(), host));
    simulation.visitor(visit).visitor(visit).visitor(visit).visitor(look_in)
}

impl Evidence for History {
    fn verdict(&self, excused: &[(Time, Time)]) -> Result<(), Wrong> {
        check(&self.operations(), excused)
            .map(drop)
            .map_err(|wrong| Wrong { at: wrong.at, text: format!("the register is not linearizable: {wrong}") })
    }

    fn digest(&self, mut hasher: &mut dyn Hasher) {
        self.operations().hash(&mut hasher);
    }
}

/// Builds a node that runs the register.
#[must_use]
pub fn node(host: &Host) -> HttpNodeBuilder {
    let client = Client::new(host.net(), host.clock(), ClientLimits::default());
    host.node(Register::new(client, host.clock(), host.storage(), PATIENCE))
}

/// Serves `storage` to the nodes.
///
/// # Errors
/// If the host cannot listen.
pub async fn keep(storage: Storage, host: StorageHost) -> io::Result<()> {
    let limits = ServerLimits::default().without_date();
    let _server = storage.serve(&*host.net(), host.clock(), &host.listen(), limits).await?;
    core::future::pending().await
}

/// Client that mostly stays with the node that answered last, and sometimes picks another one, which may still believe
/// that it leads.
///
/// # Errors
/// None: the history is judged instead.
pub async fn visit(mut visitor: Visitor) -> Result<(), String> {
    let (clock, addresses) = (visitor.clock(), visitor.addresses().to_vec());
    let caller = Caller::new(visitor.number(), visitor.client(), visitor.clock(), visitor.evidence::<History>());
    let mut place = 0;
    loop {
        let mut dice = |bound: usize| below(&mut visitor, bound);
        if dice(4) == 0 {
            place = dice(addresses.len());
        }
        let patience = Duration::from_millis([500, 2_000, 8_000][dice(3)]);
        let (answer, name) = if dice(2) == 0 {
            (caller.write(&addresses[place], patience).await, "writes")
        } else {
            (caller.read(&addresses[place], patience).await, "reads")
        };
        visitor.count(name);
        match answer {
            Answer::Done(epoch) => {
                visitor.count(&format!("{name} done"));
                visitor.is_served();
                if visitor.number() == 0 {
                    visitor.sees(&format!("is answered in epoch {}", epoch.0));
                }
            }
            Answer::Refused | Answer::Unknown => {
                visitor.count(&format!("{name} {}", if answer == Answer::Refused { "refused" } else { "unknown" }));
                place = (place + 1) % addresses.len();
            }
        }
        let pause = Duration::from_millis(visitor.bits() % 400);
        clock.sleep_until(clock.now() + pause).await;
    }
}

/// Client that now and then reads from any node, on connections that it keeps, and waits patiently: its request to a stopped
/// machine is still there when the machine goes on.
///
/// # Errors
/// None: the history is judged instead.
pub async fn look_in(mut visitor: Visitor) -> Result<(), String> {
    let (clock, addresses) = (visitor.clock(), visitor.addresses().to_vec());
    let caller = Caller::new(visitor.number(), visitor.client(), visitor.clock(), visitor.evidence::<History>());
    loop {
        // Ask every node, so that there is a connection to each. Later, ask one of them.
        for address in &addresses {
            caller.read(address, PATIENCE / 4).await;
        }
        visitor.count("looks");
        let pause = Duration::from_millis(3_500 + visitor.bits() % 1_400);
        clock.sleep_until(clock.now() + pause).await;
        let place = below(&mut visitor, addresses.len());
        caller.read(&addresses[place], PATIENCE).await;
    }
}

fn below(visitor: &mut Visitor, bound: usize) -> usize {
    usize::try_from(visitor.bits() % 1_024).unwrap_or(0) % bound
}
