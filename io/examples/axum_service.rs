//! Three axum services of which the leader writes, to a storage that refuses what an earlier leader sends late:
//! `cargo run -p rolecall --features tower --example axum_service`.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, StatusCode};
use axum::routing::post;
use axum::{Extension, Router};
use rolecall::{Election, Fence, LeaderLayer, Watermark};
use tower::ServiceExt;

/// A storage outside the cluster, which all three services write to.
#[derive(Clone, Default)]
struct Storage(Arc<Mutex<(Watermark, Vec<String>)>>);

impl Storage {
    fn write(&self, fence: Fence, line: &str) -> Result<(), String> {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.0.admit(fence).map_err(|stale| stale.to_string())?;
        inner.1.push(line.to_owned());
        Ok(())
    }
}

async fn order(
    State(storage): State<Storage>,
    Extension(fence): Extension<Fence>,
    line: String,
) -> Result<String, (StatusCode, String)> {
    storage.write(fence, &line).map_err(|stale| (StatusCode::CONFLICT, stale))?;
    Ok(format!("{line}: written under epoch {}\n", fence.epoch.0))
}

/// A member of the election, and the service in front of which it stands.
async fn service(id: &str, storage: &Storage) -> Result<(Arc<Election>, Router), Box<dyn Error>> {
    let builder = Election::builder("memory:", "orders").id(id).address(format!("{id}.example:80"));
    let election = Arc::new(builder.join().await?);
    let layer = LeaderLayer::new(election.observer().clone());
    let router = Router::new().route("/orders", post(order)).layer(layer).with_state(storage.clone());
    // `axum::serve(listener, router)` would serve it.
    Ok((election, router))
}

async fn ask(router: &Router, line: &str) -> Result<(StatusCode, String), Box<dyn Error>> {
    let request = Request::post("/orders").body(Body::from(line.to_owned()))?;
    let answer = router.clone().oneshot(request).await?;
    let location = answer.headers().get("location").map(|target| format!("{target:?}"));
    let status = answer.status();
    let body = axum::body::to_bytes(answer.into_body(), 1 << 16).await?;
    Ok((status, location.unwrap_or_else(|| String::from_utf8_lossy(&body).trim().to_owned())))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let storage = Storage::default();
    let (a, to_a) = service("a", &storage).await?;
    let (b, to_b) = service("b", &storage).await?;

    let first = a.lead().await?;
    println!("a: {:?}", ask(&to_a, "one order").await?);
    b.leader().wait_for(|leader| leader.is_some()).await?;
    println!("b: {:?}", ask(&to_b, "one order").await?);

    println!("a gives its term back, b leads");
    let old = first.fence();
    drop(first);
    let second = b.lead().await?;
    println!("b: {:?}", ask(&to_b, "another order").await?);
    println!("what a had sent before arrives late: {:?}", storage.write(old, "late order"));
    drop(second);
    for election in [a, b] {
        Arc::into_inner(election).expect("nobody else has it").leave().await;
    }
    Ok(())
}
