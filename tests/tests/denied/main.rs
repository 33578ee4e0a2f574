//! Rights that a store denies: the node says which are missing, and on what, instead of waiting in silence or blaming the
//! connection, and goes on by itself once they are granted.

mod redis;
mod zookeeper;

use rolecall_tests::process::{Process, Web};
use rolecall_tests::wait::until;

/// Waits until a node says on standard error, and as its health, what the store denies.
async fn until_said(web: &Web, node: &Process, denial: &str) {
    until(&format!("{} to say: {denial}", node.id), async || node.log().contains(denial).then_some(())).await;
    until(&format!("the health of {} to say: {denial}", node.id), async || {
        let health = web.get(&node.address, "/health/ready").await?;
        health.body.to_string().contains(denial).then_some(())
    })
    .await;
}

/// Waits until a node serves its role and nothing is denied.
async fn until_granted(web: &Web, node: &Process) {
    until(&format!("{} to be ready", node.id), async || {
        let health = web.get(&node.address, "/health/ready").await?;
        (health.body == serde_json::json!({ "ready": true })).then_some(())
    })
    .await;
}
