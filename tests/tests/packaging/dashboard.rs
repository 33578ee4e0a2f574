//! The dashboard for Grafana, held against what real nodes export.

use std::collections::BTreeSet;

use http::Request;
use rolecall::http::{Client, ClientLimits};
use rolecall::{Clock as _, SystemClock, TokioNet};
use rolecall_tests::cluster::Cluster;
use rolecall_tests::process::binary;
use rolecall_tests::wait::LIMIT;
use serde_json::Value;
use std::process::Command;
use std::sync::Arc;

use super::{file, quiet, read};

#[tokio::test(flavor = "multi_thread")]
async fn nodes_export_every_metric_that_the_dashboard_shows() {
    let dashboard: Value = serde_json::from_str(&read(&file("grafana/rolecall.json"))).expect("it is JSON");
    let (mut shown, mut ids) = (BTreeSet::new(), BTreeSet::new());
    for panel in dashboard["panels"].as_array().expect("it has panels") {
        assert!(ids.insert(panel["id"].as_u64()), "two panels have one id: {panel}");
        for target in panel["targets"].as_array().expect("a panel shows something") {
            shown.extend(names(target["expr"].as_str().expect("it is a query")));
        }
    }
    for variable in dashboard["templating"]["list"].as_array().expect("it has variables") {
        shown.extend(names(variable["query"]["query"].as_str().unwrap_or_default()));
    }
    assert!(shown.len() > 15, "{shown:?}");

    let mut cluster = Cluster::new(20).await;
    cluster.start_in_order(&["a", "b"]).await;
    cluster.until_leads("a").await;
    // A term that ends gives the metrics of ends a value.
    quiet(Command::new(binary()).args(["resign", "--store", &cluster.zookeeper.url()]));
    cluster.until_leads("b").await;
    let mut exported = BTreeSet::new();
    for id in ["a", "b"] {
        let samples = metrics(cluster.address(id)).await;
        exported.extend(samples.lines().filter(|line| !line.starts_with('#')).flat_map(names));
    }
    let unknown: Vec<_> = shown.difference(&exported).collect();
    assert!(unknown.is_empty(), "no node exports {unknown:?}, but {exported:?}");
}

/// Names of metrics in a text.
fn names(text: &str) -> Vec<String> {
    let words = text.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_');
    words.filter(|word| word.starts_with("rolecall_")).map(str::to_owned).collect()
}

async fn metrics(address: &str) -> String {
    let clock = Arc::new(SystemClock::new());
    let client = Client::new(Arc::new(TokioNet), clock.clone(), ClientLimits::default());
    let request = Request::get("/metrics").body(bytes::Bytes::new()).expect("the path is well-formed");
    let answer = client.send(address, request, clock.now() + LIMIT).await.expect("it answers");
    String::from_utf8_lossy(answer.body()).into_owned()
}
