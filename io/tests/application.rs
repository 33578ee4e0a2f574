//! A test as an application would have it: its own work, members of one process, and the embedded store.

use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};

use rolecall::{Election, Fence};

/// The application: it numbers invoices, each under the fence of the term in which it was written.
#[derive(Clone, Default)]
struct Invoices(Arc<Mutex<Vec<Fence>>>);

impl Invoices {
    fn write(&self, fence: Fence) -> usize {
        let mut invoices = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        invoices.push(fence);
        invoices.len()
    }
}

/// A member of an election of this test's own: its name is that of the test.
async fn member(id: &str) -> Election {
    let builder = Election::builder("memory:", "invoices").id(id).session_timeout(Duration::from_secs(2));
    builder.join().await.expect("the store is in this process")
}

/// Writes `count` invoices in one term.
async fn write(election: &Election, invoices: &Invoices, count: usize) -> Fence {
    let term = election.lead().await.expect("the member is no observer and has not left");
    let work = async {
        for _ in 0..count {
            invoices.write(term.check().expect("the term was just begun"));
        }
        term.fence()
    };
    term.run(work).await.expect("nothing ends the term")
}

#[tokio::test]
async fn the_work_goes_on_with_another_member_under_a_newer_fence() {
    let (a, b, invoices) = (member("a").await, member("b").await, Invoices::default());

    let first = write(&a, &invoices, 3).await;
    a.leave().await;
    let second = write(&b, &invoices, 2).await;

    assert!(second.is_newer_than(first));
    let written = invoices.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert_eq!(written, [first, first, first, second, second]);
    drop(b);
}
