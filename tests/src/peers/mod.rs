//! Contenders that are not Rolecall's, as installed on this machine: Apache Curator's LeaderLatch and kazoo's Election.

mod contender;
mod process;

use core::error::Error;
use core::fmt;
use core::time::Duration;
use std::fs::{self, File};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

pub use self::contender::PeerContender;
pub use self::process::Peer;

const JARS: [&str; 7] = [
    "/usr/share/java/curator-recipes.jar",
    "/usr/share/java/curator-framework.jar",
    "/usr/share/java/curator-client.jar",
    "/usr/share/java/guava.jar",
    "/usr/share/java/zookeeper.jar",
    "/usr/share/java/slf4j-api.jar",
    "/usr/share/java/slf4j-simple.jar",
];
const SOURCES: [(&str, &str); 5] = [
    ("CuratorContender.java", include_str!("CuratorContender.java")),
    ("CuratorMember.java", include_str!("CuratorMember.java")),
    ("CuratorQueue.java", include_str!("CuratorQueue.java")),
    ("kazoo_contender.py", include_str!("kazoo_contender.py")),
    ("kazoo_queue.py", include_str!("kazoo_queue.py")),
];

/// Programs of the contenders, compiled into a folder that is removed at the end.
#[derive(Debug)]
pub struct Peers {
    /// Programs of the contenders, and their standard error.
    folder: TempDir,
    python: PathBuf,
    curator_version: String,
    kazoo_version: String,
    zookeeper_version: String,
}

/// Programs that contend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// One LeaderLatch, which reports its reign.
    CuratorContender,
    /// One LeaderLatch, which reports its terms, and makes room for another when it is told to.
    CuratorMember,
    /// Many LeaderLatches, whose leader hands over when it is told to.
    CuratorQueue,
    /// One Election, which reports its reign.
    KazooContender,
    /// Many Elections, whose leader hands over when it is told to.
    KazooQueue,
}

/// Arguments of a program.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Path of the queue.
    pub path: &'a str,
    /// Id of the contender; for a queue, the number of its contenders.
    pub id: &'a str,
    /// Servers to connect to.
    pub servers: &'a [SocketAddr],
    /// Session timeout.
    pub session: Duration,
}

/// A program that is not installed.
#[derive(Debug, thiserror::Error)]
#[error("{missing}; to install it: {how}")]
struct Missing {
    missing: String,
    how: &'static str,
}

impl Peers {
    /// Finds both peers, and compiles what has to be compiled.
    ///
    /// # Errors
    /// If one is not installed; the message has the command that installs it.
    pub fn find(python: &Path) -> Result<Self, Box<dyn Error>> {
        let folder = TempDir::new()?;
        for (name, text) in SOURCES {
            fs::write(folder.path().join(name), text)?;
        }
        Ok(Self {
            curator_version: find_curator(folder.path())?,
            kazoo_version: find_kazoo(python)?,
            zookeeper_version: version_of("zookeeper"),
            python: python.to_owned(),
            folder,
        })
    }

    /// Starts a program, and passes each line of its output to `on_line`.
    ///
    /// # Errors
    /// If the process can't be started.
    pub fn start(
        &self,
        program: Program,
        entry: &Entry<'_>,
        on_line: impl FnMut(&str) + Send + 'static,
    ) -> io::Result<Peer> {
        let mut command = match program {
            Program::CuratorContender => self.java("CuratorContender"),
            Program::CuratorMember => self.java("CuratorMember"),
            Program::CuratorQueue => self.java("CuratorQueue"),
            Program::KazooContender => self.script("kazoo_contender.py"),
            Program::KazooQueue => self.script("kazoo_queue.py"),
        };
        let Entry { path, id, servers, session } = entry;
        let servers: Vec<_> = servers.iter().map(ToString::to_string).collect();
        let log = File::create(self.folder.path().join(format!("{program:?}-{id}.log")))?;
        command.args([&servers.join(","), *path, *id, &session.as_millis().to_string()]).stderr(log);
        Peer::start(&mut command, on_line)
    }

    /// The end of what the contenders wrote to standard error.
    #[must_use]
    pub fn logs(&self) -> String {
        let files = fs::read_dir(self.folder.path()).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
        let logs = files.filter(|path| path.extension().is_some_and(|extension| extension == "log"));
        let ends = logs.map(|path| {
            let log = fs::read_to_string(&path).unwrap_or_default();
            let lines: Vec<_> = log.lines().collect();
            format!("{}:\n{}\n", path.display(), lines[lines.len().saturating_sub(10)..].join("\n"))
        });
        ends.collect()
    }

    fn java(&self, class: &str) -> Command {
        let class_path = format!("{}:{}", self.folder.path().display(), JARS.join(":"));
        let mut command = Command::new("java");
        // Small stacks: a queue of a thousand latches has four thousand threads.
        command.args(["-Xmx384m", "-Xss256k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
        command.args(["-cp", &class_path, class]);
        command
    }

    fn script(&self, name: &str) -> Command {
        let mut command = Command::new(&self.python);
        command.arg(self.folder.path().join(name));
        command
    }
}

impl fmt::Display for Peers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { curator_version, kazoo_version, zookeeper_version, .. } = self;
        let own = env!("CARGO_PKG_VERSION");
        write!(
            formatter,
            "Rolecall {own}, Curator {curator_version}, kazoo {kazoo_version}, ZooKeeper {zookeeper_version}"
        )
    }
}

/// Compiles the programs, and returns the version of Curator.
fn find_curator(folder: &Path) -> Result<String, Box<dyn Error>> {
    const HOW: &str = "apt-get install -y --no-install-recommends libcurator-recipes-java default-jdk-headless";
    if let Some(missing) = JARS.into_iter().find(|jar| !Path::new(jar).exists()) {
        return Err(Missing { missing: format!("{missing} is missing"), how: HOW }.into());
    }
    let sources = SOURCES.iter().filter(|(name, _)| name.ends_with(".java")).map(|(name, _)| folder.join(name));
    let compiled = Command::new("javac").args(["-cp", &JARS.join(":"), "-d"]).arg(folder).args(sources).status();
    match compiled {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(format!("javac failed: {status}").into()),
        Err(error) => return Err(Missing { missing: format!("no javac ({error})"), how: HOW }.into()),
    }
    Ok(version_of("curator-recipes"))
}

/// Reads the version of a jar from a second jar beside it, which has the version in its name.
fn version_of(jar: &str) -> String {
    let names = fs::read_dir("/usr/share/java")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let versions = names.filter_map(|name| {
        let version = name.strip_prefix(jar)?.strip_prefix('-')?.strip_suffix(".jar")?;
        version.starts_with(|first: char| first.is_ascii_digit()).then(|| version.to_owned())
    });
    versions.max().unwrap_or_else(|| "of unknown version".into())
}

/// Returns the version of kazoo.
fn find_kazoo(python: &Path) -> Result<String, Box<dyn Error>> {
    let missing = |why: &dyn fmt::Display| Missing {
        missing: format!("{} has no kazoo ({why})", python.display()),
        how: "python3 -m venv /tmp/kazoo && /tmp/kazoo/bin/pip install kazoo==2.11.0, and add --python /tmp/kazoo/bin/python",
    };
    let asked = Command::new(python)
        .args(["-c", "import kazoo.version; print(kazoo.version.__version__)"])
        .stderr(Stdio::null())
        .output()
        .map_err(|error| missing(&error))?;
    if !asked.status.success() {
        return Err(missing(&asked.status).into());
    }
    Ok(String::from_utf8(asked.stdout)?.trim().to_owned())
}
