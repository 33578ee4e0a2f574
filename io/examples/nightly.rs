//! Nightly job that one of several copies of a program does: `cargo run -p rolecall --example nightly [STORE]`.

use std::error::Error;

use rolecall::{Election, Term};

async fn nightly_job(term: &Term) {
    println!("sending the invoices under epoch {}", term.fence().epoch.0);
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let store = std::env::args().nth(1).unwrap_or_else(|| "memory:".into());
    let election = Election::join(store, "billing").await?;
    let term = election.lead().await?; // waits for its turn
    term.run(nightly_job(&term)).await; // dropped when the term ends; if it returns, the term is given back
    election.leave().await;
    Ok(())
}
