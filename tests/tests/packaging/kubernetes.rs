//! The example for Kubernetes, judged by its schemas, and its pods as processes on a real ZooKeeper.

use std::process::{Child, Command, Stdio};

use http::StatusCode;
use rolecall_tests::process::{Web, binary};
use rolecall_tests::tools::tool;
use rolecall_tests::wait::until;
use rolecall_tests::zookeeper::ZooKeeperServer;
use rolecall_tests::{documents, ports};
use serde_json::Value;
use tempfile::TempDir;

use super::{file, quiet};

const MANIFEST: &str = "kubernetes/rolecall.yaml";

#[test]
fn the_schemas_accept_the_manifest() {
    quiet(Command::new(tool("kubernetes-validate")).args(["--strict", "--quiet"]).arg(file(MANIFEST)));
}

/// The documents of the manifest.
fn manifest() -> Vec<Value> {
    let convert = "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))";
    let text = quiet(Command::new(tool("python3")).args(["-c", convert]).arg(file(MANIFEST)));
    serde_json::from_str(&text).expect("it is JSON")
}

fn container() -> Value {
    let manifest = manifest();
    let set = manifest.iter().find(|document| document["kind"] == "StatefulSet").expect("a stateful set");
    let headless = |document: &&Value| document["kind"] == "Service" && document["spec"]["clusterIP"] == "None";
    let service = manifest.iter().find(headless).expect("a service that names the pods");
    assert_eq!(set["spec"]["serviceName"], service["metadata"]["name"]);
    assert_eq!(set["spec"]["selector"]["matchLabels"], set["spec"]["template"]["metadata"]["labels"]);
    assert_eq!(service["spec"]["selector"], set["spec"]["selector"]["matchLabels"]);
    set["spec"]["template"]["spec"]["containers"][0].clone()
}

/// One pod: the container's command as a process, with paths and addresses of this machine. Killed when dropped.
struct Pod {
    process: Child,
    name: &'static str,
    address: String,
}

impl Drop for Pod {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// What the pods mount.
struct Mounts {
    folder: TempDir,
    store: String,
}

impl Mounts {
    fn new(store: String) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        documents::generate(&folder.path().join("documents"), 10).expect("a new folder can be written");
        std::fs::write(folder.path().join("token"), "a secret of more than sixteen bytes").expect("it can be written");
        Self { folder, store }
    }

    /// A command with the container's environment.
    fn command(&self, container: &Value, pod: &str) -> Command {
        let mut command = Command::new(binary());
        for variable in container["env"].as_array().expect("it has variables") {
            let name = variable["name"].as_str().expect("a variable has a name");
            let value = match (&variable["valueFrom"]["fieldRef"]["fieldPath"], &variable["value"]) {
                (Value::String(field), Value::Null) if field == "metadata.name" => pod,
                (Value::Null, Value::String(store)) if store.starts_with("zookeeper://") => &self.store,
                (Value::Null, Value::String(value)) => value,
                other => panic!("{name}: {other:?}"),
            };
            command.env(name, value);
        }
        command.stdin(Stdio::null());
        command
    }

    fn start(&self, container: &Value, name: &'static str) -> Pod {
        let address = format!("127.0.0.1:{}", ports::free());
        let here = |path: &str| self.folder.path().join(path).display().to_string();
        let mut command = self.command(container, name);
        for argument in container["args"].as_array().expect("it has arguments") {
            let argument = argument.as_str().expect("an argument is text").replace("$(ROLECALL_ID)", name);
            command.arg(match argument.split_once('=') {
                Some(("--listen", _)) => format!("--listen={}", address.replace("127.0.0.1", "0.0.0.0")),
                Some(("--documents", "/documents")) => format!("--documents={}", here("documents")),
                Some(("--data", "/data")) => format!("--data={}", here(name)),
                Some(("--cluster-token", "/etc/rolecall/token")) => format!("--cluster-token={}", here("token")),
                Some(_) | None => argument,
            });
        }
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary was built");
        Pod { process, name, address }
    }

    /// Runs the hook that comes before the end of a pod.
    fn stop_hook(&self, container: &Value, pod: &str) -> String {
        let words = container["lifecycle"]["preStop"]["exec"]["command"].as_array().expect("a hook");
        let mut words = words.iter().map(|word| word.as_str().expect("a word is text"));
        assert_eq!(words.next(), Some("/usr/local/bin/rolecall"));
        quiet(self.command(container, pod).args(words))
    }
}

async fn until_leads(web: &Web, pod: &Pod) {
    until(&format!("{} to lead", pod.name), async || {
        (web.status(&pod.address).await?["role"] == "leader").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_answer_their_probes_and_hand_over_before_they_end() {
    let server = ZooKeeperServer::start().await.unwrap_or_else(|error| panic!("{error}"));
    let (container, mounts, web) = (container(), Mounts::new(server.url()), Web::default());
    let first = mounts.start(&container, "rolecall-0");
    until_leads(&web, &first).await;
    let second = mounts.start(&container, "rolecall-1");
    for pod in [&first, &second] {
        for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
            let path = container[probe]["httpGet"]["path"].as_str().expect("a probe asks for a path");
            until(&format!("{}: {probe}", pod.name), async || {
                (web.get(&pod.address, path).await?.status == StatusCode::OK).then_some(())
            })
            .await;
        }
    }

    let told = mounts.stop_hook(&container, second.name);
    assert!(told.contains("rolecall-0 at ") && told.contains("nobody is asked"), "{told}");
    assert_eq!(web.status(&first.address).await.expect("it answers")["role"], "leader");
    let told = mounts.stop_hook(&container, first.name);
    assert!(told.starts_with("rolecall-1 at rolecall-1.rolecall-nodes:8080 leads"), "{told}");
    until_leads(&web, &second).await;
}
