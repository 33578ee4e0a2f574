//! Demo as a person uses it: from its terminal and over HTTP.

use core::time::Duration;
use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use serde_json::Value;

type TestResult<T = ()> = Result<T, Box<dyn Error>>;

const LIMIT: Duration = Duration::from_secs(60);

/// Running demo, killed at the end of its test.
struct Demo {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    addresses: Vec<String>,
}

impl Demo {
    fn start(documents: &Path, data: &Path, nodes: usize) -> TestResult<Self> {
        let first = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().min(60_000);
        let mut child = Command::new(env!("CARGO_BIN_EXE_rolecall"))
            .args(["demo", "--nodes", &nodes.to_string(), "--port", &first.to_string()])
            .args(["--session-timeout", "1s", "--drain-timeout", "1s", "--shards", "4"])
            .arg("--documents")
            .arg(documents)
            .arg("--data")
            .arg(data)
            .arg("--journal")
            .arg(data.join("journal"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = BufReader::new(child.stdout.take().ok_or("the output is piped")?);
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        let mut demo = Self { child, input, lines, addresses: Vec::new() };
        while demo.addresses.len() < nodes {
            let line = demo.line("http://")?;
            let address = line.split("http://").nth(1).ok_or("a line with an address")?;
            demo.addresses.push(address.trim_end_matches('/').to_owned());
        }
        Ok(demo)
    }

    /// Next line that contains `part`.
    fn line(&self, part: &str) -> TestResult<String> {
        loop {
            let line = self.lines.recv_timeout(LIMIT).map_err(|error| format!("waiting for {part:?}: {error}"))?;
            if line.contains(part) {
                return Ok(line);
            }
        }
    }

    fn type_line(&mut self, line: &str) -> TestResult {
        writeln!(self.input.as_mut().ok_or("the input is open")?, "{line}")?;
        Ok(())
    }

    fn get(&self, node: usize, path: &str) -> TestResult<(u16, String, Value)> {
        ask(&self.addresses[node], "GET", path, "")
    }

    /// Waits until one of the nodes leads with `workers` workers, and returns its index and epoch.
    fn leader(&self, workers: usize) -> TestResult<(usize, u64)> {
        until("a leader with its workers", || {
            for node in 0..self.addresses.len() {
                let Ok((200, _, status)) = self.get(node, "/status") else { continue };
                if status["role"] == "leader" && status["workers"].as_array().is_some_and(|list| list.len() == workers)
                {
                    return Ok(Some((node, status["epoch"].as_u64().ok_or("a leader has an epoch")?)));
                }
            }
            Ok(None)
        })
    }

    fn end(mut self) -> TestResult<Option<i32>> {
        until("the end of the demo", || Ok(self.child.try_wait()?)).map(|status| status.code())
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn until<T>(wanted: &str, mut look: impl FnMut() -> TestResult<Option<T>>) -> TestResult<T> {
    let begun = Instant::now();
    while begun.elapsed() < LIMIT {
        if let Some(found) = look()? {
            return Ok(found);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err(format!("waited in vain for {wanted}").into())
}

/// Sends a request and returns status, head and body of the answer. Each of `headers` ends with a line feed.
fn ask(address: &str, method: &str, path: &str, headers: &str) -> TestResult<(u16, String, Value)> {
    ask_as(address, method, path, address, headers)
}

/// Does what [`ask`] does, with `host` as the `Host` field.
fn ask_as(address: &str, method: &str, path: &str, host: &str, headers: &str) -> TestResult<(u16, String, Value)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(LIMIT))?;
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("an answer has a head")?;
    let status = head.split(' ').nth(1).ok_or("an answer has a status")?.parse()?;
    Ok((status, head.to_ascii_lowercase(), serde_json::from_str(body).unwrap_or_default()))
}

fn documents(folder: &Path) -> TestResult {
    for number in 0..40 {
        let word = if number % 2 == 0 { "even" } else { "odd" };
        fs::write(
            folder.join(format!("{number:02}.md")),
            format!("# Document {number}\n\nAn {word} number, {number}.\n"),
        )?;
    }
    Ok(())
}

/// Documents that were found, in order, with their scores.
fn found(demo: &Demo, node: usize) -> TestResult<Option<Vec<(String, String)>>> {
    let (status, _, answer) = demo.get(node, "/search?q=odd&limit=100")?;
    if status != 200 || answer["partial"] != false || answer["total"] != 20 {
        return Ok(None);
    }
    let hits = answer["hits"].as_array().ok_or("hits are a list")?;
    Ok(Some(hits.iter().map(|hit| (hit["document"].to_string(), hit["score"].to_string())).collect()))
}

#[test]
fn a_killed_leader_is_replaced_and_the_same_search_gives_the_same_answers() -> TestResult {
    let (texts, data) = (tempfile::tempdir()?, tempfile::tempdir()?);
    documents(texts.path())?;
    let mut demo = Demo::start(texts.path(), data.path(), 3)?;
    let (first, epoch) = demo.leader(2)?;
    let before = until("a whole answer", || found(&demo, first))?;
    assert_eq!(before.len(), 20);

    // A worker redirects to the leader.
    let worker = (first + 1) % 3;
    let (_, _, seen) = demo.get(worker, "/status")?;
    assert_eq!(seen["workers"], Value::Array(Vec::new()), "only the leader follows the workers");
    let (status, head, _) = demo.get(worker, "/search?q=odd")?;
    assert_eq!(status, 307);
    assert!(head.contains(&format!("location: http://{}/search?q=odd", demo.addresses[first])), "{head}");

    // Kill the leader from the page of another node.
    let kill = format!("/demo/nodes/{}/kill", first + 1);
    let (status, ..) = ask(&demo.addresses[worker], "POST", &kill, "")?;
    assert_eq!(status, 202);
    demo.line("was killed")?;
    let (second, later) = demo.leader(1)?;
    assert!(second != first && later > epoch, "{later} is not above {epoch}");
    assert_eq!(until("a whole answer", || found(&demo, second))?, before);
    assert!(TcpStream::connect(&demo.addresses[first]).is_err(), "a killed node does not answer");

    // Start it from the terminal.
    demo.type_line(&format!("kill {}", first + 1))?;
    demo.line("is not running")?;
    demo.type_line(&format!("start {}", first + 1))?;
    demo.line("was started")?;
    assert_eq!(demo.leader(2)?, (second, later), "who leads goes on leading");
    assert_eq!(until("a whole answer", || found(&demo, second))?, before);

    demo.type_line("quit")?;
    assert_eq!(demo.end()?, Some(0));
    let replay = Command::new(env!("CARGO_BIN_EXE_rolecall"))
        .arg("replay")
        .arg(data.path().join("journal").join(format!("node-{}", second + 1)))
        .output()?;
    let told = String::from_utf8_lossy(&replay.stdout).into_owned();
    assert_eq!(replay.status.code(), Some(0), "{}", String::from_utf8_lossy(&replay.stderr));
    assert!(told.contains("every action is the same"), "{told}");
    Ok(())
}

#[test]
fn a_node_answers_its_own_routes_in_every_role() -> TestResult {
    let (texts, data) = (tempfile::tempdir()?, tempfile::tempdir()?);
    documents(texts.path())?;
    let demo = Demo::start(texts.path(), data.path(), 1)?;
    demo.leader(0)?;
    let address = &demo.addresses[0];

    let (status, head, _) = demo.get(0, "/")?;
    assert_eq!(status, 200);
    for part in
        ["content-type: text/html", "content-security-policy: default-src 'none'", "x-content-type-options: nosniff"]
    {
        assert!(head.contains(part), "{head}");
    }
    let (status, _, answer) = demo.get(0, "/status")?;
    assert_eq!(
        (status, &answer["cluster"], &answer["node"]["address"]),
        (200, &"demo".into(), &address.as_str().into())
    );
    assert_eq!((&answer["store"]["kind"], &answer["store"]["state"]), (&"memory".into(), &"connected".into()));
    assert_eq!((&answer["leader"]["id"], &answer["leader"]["foreign"]), (&"node-1".into(), &false.into()));
    assert!(answer["valid_for_ms"].as_u64().is_some_and(|left| left <= 1000), "{answer}");
    assert_eq!(demo.get(0, "/health/live")?.0, 200);
    assert_eq!(demo.get(0, "/health/ready")?.0, 200);
    assert!(demo.get(0, "/metrics")?.1.contains("content-type: text/plain; version=0.0.4"));
    assert_eq!(ask(address, "POST", "/status", "Content-Length: 0\r\n")?.0, 405);
    assert_eq!(demo.get(0, "/nowhere")?.0, 404);
    assert_eq!(demo.get(0, "/search?q=")?.2["error"]["code"], "bad_query");

    // A page of this demo may read and kill; a page of another site may do neither.
    let port = address.rsplit(':').next().ok_or("an address has a port")?;
    let (_, head, _) = ask(address, "GET", "/search?q=odd", &format!("Origin: http://localhost:{port}\r\n"))?;
    assert!(head.contains(&format!("access-control-allow-origin: http://localhost:{port}")), "{head}");
    let (_, head, _) = ask(address, "GET", "/search?q=odd", "Origin: http://site.example\r\n")?;
    assert!(!head.contains("access-control-allow-origin"), "{head}");
    assert_eq!(ask(address, "POST", "/demo/nodes/1/kill", "Origin: http://site.example\r\n")?.0, 403);
    assert_eq!(ask(address, "POST", "/demo/nodes/9/kill", "")?.0, 409);
    assert_eq!(ask(address, "GET", "/demo/nodes/1/kill", "")?.0, 405);
    assert_eq!(ask(address, "POST", "/demo/nodes/1/stop", "")?.0, 404);
    Ok(())
}

#[test]
fn a_site_that_points_its_name_at_a_node_reads_nothing_and_kills_nothing() -> TestResult {
    let (texts, data) = (tempfile::tempdir()?, tempfile::tempdir()?);
    documents(texts.path())?;
    let demo = Demo::start(texts.path(), data.path(), 1)?;
    demo.leader(0)?;
    let address = &demo.addresses[0];
    let port = address.rsplit(':').next().ok_or("an address has a port")?;
    for host in ["attacker.test".to_owned(), format!("attacker.test:{port}"), format!("localhost.attacker.test:{port}")]
    {
        for path in ["/", "/page.js", "/status", "/search?q=odd", "/metrics", "/health/live", "/demo/nodes", "/nowhere"]
        {
            let (status, _, answer) = ask_as(address, "GET", path, &host, "")?;
            assert_eq!((status, &answer["error"]["code"]), (421, &"unknown_host".into()), "{path} as {host}");
        }
        assert_eq!(ask_as(address, "POST", "/task", &host, "Content-Length: 0\r\n")?.0, 421);
        assert_eq!(ask_as(address, "POST", "/demo/nodes/1/kill", &host, "")?.0, 421);
    }
    assert_eq!(ask(address, "POST", "/demo/nodes/1/kill", "Sec-Fetch-Site: cross-site\r\n")?.0, 403);
    assert_eq!(ask_as(address, "GET", "/search?q=odd", &format!("localhost:{port}"), "")?.0, 200);
    assert!(demo.get(0, "/status")?.2["role"] == "leader");
    Ok(())
}

#[test]
fn a_folder_that_does_not_exist_is_reported_and_searched_once_it_does() -> TestResult {
    let (texts, data) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let folder = texts.path().join("later");
    let demo = Demo::start(&folder, data.path(), 1)?;
    until("the reason", || {
        let (status, _, answer) = demo.get(0, "/health/ready")?;
        let told = answer["error"]["message"].as_str().unwrap_or_default().to_owned();
        Ok((status == 503 && told.contains("could not be started")).then_some(()))
    })?;
    fs::create_dir(&folder)?;
    documents(&folder)?;
    assert_eq!(until("a whole answer", || found(&demo, 0))?.len(), 20);
    Ok(())
}
