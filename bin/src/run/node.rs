//! `rolecall node`: one node of a cluster.

use core::time::Duration;
use std::sync::Arc;

use rolecall::store::{Participant, StoreUrl};

use super::application::Application;
use super::launch::{self, Plan};
use super::narrator;
use super::signals::Signals;
use super::{block_on, folders, secret, try_out};
use crate::cli::{Failure, Name, Node, print};
use crate::service_manager::ServiceManager;

/// Time within which a store that cannot be used says so. One that does not answer may come later.
const TRIAL_LIMIT: Duration = Duration::from_secs(5);

/// Runs a node until it is told to end.
///
/// # Errors
/// If the options contradict each other, the store refuses this node, the address is in use, another node has the id, or a
/// promise was violated.
pub fn node(options: &Node) -> Result<(), Failure> {
    options.store.require_built()?;
    let id = options.id.clone().unwrap_or_else(|| Name(rolecall::generated_id()));
    let advertise = advertise(options)?;
    let token = options.cluster_token.as_deref().map(secret::token).transpose()?;
    if token.is_none() {
        require_loopback(options)?;
    }
    let plan = Plan {
        cluster: options.store.cluster.to_string(),
        config: launch::config(&id.0, &options.store.store, &options.tuning)?,
        session_timeout: options.tuning.session_timeout,
        listen: options.listen.to_string(),
        advertise,
        allowed_hosts: options.allowed_host.iter().map(|host| host.0.clone()).collect(),
        journal: options.tuning.journal.clone(),
        store: options.store.store.scheme(),
        console: None,
    };
    let (data, _claim) = match (&options.id, options.tuning.data.as_deref()) {
        (None, None) => folders::claim_generated(&plan.cluster, &id.0)?,
        (Some(_), data) | (None, data @ Some(_)) => {
            let data = folders::data(data, &plan.cluster, &id.0)?;
            let claim = folders::claim(&data)?;
            (data, claim)
        }
    };
    let application = Application::new(&id.0, &options.documents, &data, &options.tuning, token);
    block_on(run(plan, application, options.store.store.clone()))
}

async fn run(plan: Plan, application: Application, store: StoreUrl) -> Result<(), Failure> {
    let mut signals = Signals::new()?;
    let manager = ServiceManager::find()?.map(Arc::new);
    let id = plan.config.id.to_string();
    let told = format!("{id} of cluster {}, {store}, over {}", plan.cluster, application.documents().display());
    let participant = Participant::new(&plan.cluster, &id, plan.session_timeout);
    try_out(&store, &participant, TRIAL_LIMIT).await?;
    let mut node = launch::launch(plan, application, move |participant| store.open(participant)).await?;
    // A node does not mind if nobody reads this.
    print(&format!("{told}: http://{}/\n", node.address())).ok();
    tokio::spawn(narrator::follow(id, node.observer().clone()));
    if let Some(manager) = manager.clone() {
        let observer = node.observer().clone();
        tokio::spawn(async move { manager.follow(&observer).await });
    }
    tokio::select! {
        outcome = node.wait() => return narrator::end(&outcome),
        name = signals.next() => tracing::info!("{name}: ending in good order"),
    }
    if let Some(manager) = manager {
        manager.stopping();
    }
    signals.end_at_next();
    node.shut_down().await;
    narrator::end(&node.wait().await)
}

/// Refuses to listen where strangers can connect, unless told otherwise.
fn require_loopback(options: &Node) -> Result<(), Failure> {
    if options.listen.is_loopback() || options.insecure {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "--listen {}: whoever can connect there could give this node tasks or pose as a worker; give all nodes the same secret \
         with --cluster-token FILE, or accept the risk with --insecure",
        options.listen
    )))
}

/// Address at which others reach the node, if it is not the one on which it listens.
fn advertise(options: &Node) -> Result<Option<String>, Failure> {
    match &options.advertise {
        Some(advertise) if advertise.is_unspecified() || advertise.port == 0 => Err(Failure::Usage(format!(
            "--advertise {advertise}: expected a host and a port that others can connect to"
        ))),
        Some(advertise) => Ok(Some(advertise.to_string())),
        None if options.listen.is_unspecified() => Err(Failure::Usage(format!(
            "--listen {}: others cannot connect to this address; give one that they can reach with --advertise HOST:PORT",
            options.listen
        ))),
        None => Ok(None),
    }
}
