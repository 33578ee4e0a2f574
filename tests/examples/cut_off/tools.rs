//! The contenders that are not Rolecall's, as installed on this machine.

use core::error::Error;
use core::fmt;
use core::time::Duration;
use std::fs::{self, File};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::child::Child;

const JARS: [&str; 7] = [
    "/usr/share/java/curator-recipes.jar",
    "/usr/share/java/curator-framework.jar",
    "/usr/share/java/curator-client.jar",
    "/usr/share/java/guava.jar",
    "/usr/share/java/zookeeper.jar",
    "/usr/share/java/slf4j-api.jar",
    "/usr/share/java/slf4j-simple.jar",
];
const CURATOR_CONTENDER: &str = include_str!("contenders/CuratorContender.java");
const KAZOO_CONTENDER: &str = include_str!("contenders/kazoo_contender.py");

/// Starts the contenders that are not Rolecall's.
pub(crate) struct Tools {
    /// Programs of the contenders, and their standard error.
    folder: TempDir,
    python: PathBuf,
    curator_version: String,
    kazoo_version: String,
    zookeeper_version: String,
}

/// Settings of a contender.
pub(crate) struct Place<'a> {
    pub(crate) path: &'a str,
    pub(crate) id: &'a str,
    pub(crate) servers: &'a [SocketAddr],
    pub(crate) session: Duration,
}

/// A program that is not installed.
#[derive(Debug, thiserror::Error)]
#[error("{missing}; to install it: {how}")]
struct Missing {
    missing: String,
    how: &'static str,
}

impl Tools {
    pub(crate) fn find(python: &Path) -> Result<Self, Box<dyn Error>> {
        let folder = TempDir::new()?;
        Ok(Self {
            curator_version: find_curator(folder.path())?,
            kazoo_version: find_kazoo(python, folder.path())?,
            zookeeper_version: version_of("zookeeper"),
            python: python.to_owned(),
            folder,
        })
    }

    pub(crate) fn curator(&self, place: &Place<'_>) -> io::Result<Child> {
        let class_path = format!("{}:{}", self.folder.path().display(), JARS.join(":"));
        let mut command = Command::new("java");
        command.args([
            "-Xmx128m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            &class_path,
            "CuratorContender",
        ]);
        self.start(&mut command, place)
    }

    pub(crate) fn kazoo(&self, place: &Place<'_>) -> io::Result<Child> {
        let mut command = Command::new(&self.python);
        command.arg(self.folder.path().join("kazoo_contender.py"));
        self.start(&mut command, place)
    }

    /// The end of what the contenders wrote to standard error.
    pub(crate) fn logs(&self) -> String {
        let files = fs::read_dir(self.folder.path()).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
        let logs = files.filter(|path| path.extension().is_some_and(|extension| extension == "log"));
        let ends = logs.map(|path| {
            let log = fs::read_to_string(&path).unwrap_or_default();
            let lines: Vec<_> = log.lines().collect();
            format!("{}:\n{}\n", path.display(), lines[lines.len().saturating_sub(10)..].join("\n"))
        });
        ends.collect()
    }

    fn start(&self, command: &mut Command, place: &Place<'_>) -> io::Result<Child> {
        let Place { path, id, servers, session } = place;
        let servers: Vec<_> = servers.iter().map(ToString::to_string).collect();
        let log = File::create(self.folder.path().join(format!("{}-{id}.log", path.trim_start_matches('/'))))?;
        Child::start(command.args([&servers.join(","), *path, *id, &session.as_millis().to_string()]).stderr(log))
    }
}

impl fmt::Display for Tools {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { curator_version, kazoo_version, zookeeper_version, .. } = self;
        let own = env!("CARGO_PKG_VERSION");
        write!(
            formatter,
            "Rolecall {own}, Curator {curator_version}, kazoo {kazoo_version}, ZooKeeper {zookeeper_version}"
        )
    }
}

/// Compiles the contender, and returns the version of Curator.
fn find_curator(folder: &Path) -> Result<String, Box<dyn Error>> {
    const HOW: &str = "apt-get install -y --no-install-recommends libcurator-recipes-java default-jdk-headless";
    if let Some(missing) = JARS.into_iter().find(|jar| !Path::new(jar).exists()) {
        return Err(Missing { missing: format!("{missing} is missing"), how: HOW }.into());
    }
    let source = folder.join("CuratorContender.java");
    fs::write(&source, CURATOR_CONTENDER)?;
    let compiled = Command::new("javac").args(["-cp", &JARS.join(":"), "-d"]).arg(folder).arg(&source).status();
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

/// Writes the contender to a file, and returns the version of kazoo.
fn find_kazoo(python: &Path, folder: &Path) -> Result<String, Box<dyn Error>> {
    fs::write(folder.join("kazoo_contender.py"), KAZOO_CONTENDER)?;
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
