//! One connection to a Redis, with its subscription.

use core::time::Duration;
use std::sync::Arc;

use redis::aio::MultiplexedConnection;
use redis::{Cmd, ErrorKind, PushInfo, PushKind, RedisError, ServerErrorKind, Value};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, timeout_at};

use super::failure::Failure;
use super::layout::Layout;
use super::script::Script;
use super::target::{Aborted, Target};

/// Oldest version whose scripts can do what ours do: their writes follow their effects, and they may ask for the time.
const OLDEST: (u32, u32) = (6, 2);

/// Connection that is set up, subscribed, and known to lead to a server that can serve.
pub(super) struct Connection {
    client: MultiplexedConnection,
    /// Task of a client whose network was given; it ends with the connection.
    _task: Option<Aborted>,
    layout: Arc<Layout>,
    wait: u32,
}

/// News that arrives on a connection.
pub(super) struct Pushes(UnboundedReceiver<PushInfo>);

/// News that the server sends by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Push {
    /// Something was published.
    Change(String),
    /// The connection is lost.
    Lost,
}

impl Target {
    /// Connects by `deadline`.
    pub(super) async fn connect(&self, deadline: Instant) -> Result<(Connection, Pushes), Failure> {
        in_time(deadline, self.set_up()).await
    }

    async fn set_up(&self) -> Result<(Connection, Pushes), Failure> {
        let (sender, pushes) = unbounded_channel();
        let (client, task) = self.dial(sender).await?;
        let connection = Connection { client, _task: task, layout: Arc::clone(&self.layout), wait: self.url.wait };
        connection.check_server(self.url.is_cluster()).await?;
        connection.subscribe().await?;
        Ok((connection, Pushes(pushes)))
    }
}

impl Connection {
    /// Checks that the server is new enough, of the kind that is expected, and not a replica.
    async fn check_server(&self, is_of_cluster: bool) -> Result<(), Failure> {
        let server = self.info("server").await?;
        let version = field(&server, "redis_version").unwrap_or("unknown");
        let mut parts = version.split('.').map_while(|part| part.parse().ok());
        if (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) < OLDEST {
            let (major, minor) = OLDEST;
            let reason = format!("the server is Redis {version}; needed: {major}.{minor} or later");
            return Err(Failure::Useless { refused: true, reason });
        }
        if is_of_cluster && field(&server, "redis_mode") != Some("cluster") {
            return Err(Failure::Useless { refused: true, reason: "the server is not part of a Redis Cluster".into() });
        }
        let replication = self.info("replication").await?;
        match field(&replication, "role") {
            Some("master") => Ok(()),
            role => {
                let reason = format!("the server is no primary but a {}", role.unwrap_or("server without a role"));
                Err(Failure::Useless { refused: false, reason })
            }
        }
    }

    async fn subscribe(&self) -> Result<(), Failure> {
        let channel = &self.layout.channel;
        match self.client.clone().subscribe(channel).await.map_err(Failure::from) {
            Err(Failure::Useless { refused, reason }) => {
                Err(Failure::Useless { refused, reason: format!("{reason}: {channel}") })
            }
            outcome => outcome,
        }
    }

    async fn info(&self, section: &str) -> Result<String, Failure> {
        let reply = self.send(redis::cmd("INFO").arg(section)).await?;
        Ok(redis::from_redis_value(reply).map_err(RedisError::from)?)
    }

    /// Runs a script by `deadline`. The server may have forgotten it, and then gets its text.
    pub(super) async fn run(
        &self,
        script: &Script,
        arguments: &[&[u8]],
        deadline: Instant,
    ) -> Result<Vec<Value>, Failure> {
        let Layout { keys, channel, .. } = &*self.layout;
        self.evaluate(script, keys, channel, arguments, deadline).await
    }

    /// Tries out what the scripts do. Returns the commands that failed, and why.
    pub(super) async fn trial(&self, script: &Script, deadline: Instant) -> Result<Vec<(String, String)>, Failure> {
        let Layout { trial, channel, .. } = &*self.layout;
        let failed = self.evaluate(script, core::slice::from_ref(trial), channel, &[], deadline).await?;
        let failed: Vec<String> = redis::from_redis_value(Value::Array(failed)).map_err(RedisError::from)?;
        Ok(failed.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect())
    }

    async fn evaluate(
        &self,
        script: &Script,
        keys: &[String],
        channel: &str,
        arguments: &[&[u8]],
        deadline: Instant,
    ) -> Result<Vec<Value>, Failure> {
        let command = |name, script: &str| {
            let mut command = redis::cmd(name);
            command.arg(script).arg(keys.len()).arg(keys).arg(channel);
            arguments.iter().for_each(|argument| {
                command.arg(*argument);
            });
            command
        };
        let outcome = in_time(deadline, async {
            match self.send(&command("EVALSHA", script.digest())).await {
                Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                    Ok(self.send(&command("EVAL", script.text())).await?)
                }
                outcome => Ok(outcome?),
            }
        });
        let Value::Array(reply) = outcome.await? else { return Err(Failure::Unknown) };
        Ok(reply)
    }

    /// Waits until enough replicas have confirmed all writes so far, if the URL asks for that. Returns true if they have.
    pub(super) async fn replicated(&self, deadline: Instant) -> Result<bool, Failure> {
        if self.wait == 0 {
            return Ok(true);
        }
        let left = deadline.saturating_duration_since(Instant::now()) / 2;
        let limit = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1);
        let mut command = redis::cmd("WAIT");
        command.arg(self.wait).arg(limit);
        let confirmed = in_time(deadline, async { Ok(self.send(&command).await?) }).await?;
        let confirmed: u32 = redis::from_redis_value(confirmed).map_err(RedisError::from)?;
        Ok(confirmed >= self.wait)
    }

    async fn send(&self, command: &Cmd) -> Result<Value, RedisError> {
        self.client.clone().send_packed_command(command).await?.extract_error()
    }
}

impl Pushes {
    /// News from the server. Cancellation loses none.
    pub(super) async fn next(&mut self) -> Push {
        loop {
            let Some(PushInfo { kind, data }) = self.0.recv().await else { return Push::Lost };
            match (kind, data.into_iter().nth(1)) {
                (PushKind::Disconnection, _) => return Push::Lost,
                (PushKind::Message, Some(change)) => {
                    if let Ok(change) = redis::from_redis_value(change) {
                        return Push::Change(change);
                    }
                }
                // Confirmations of the subscription, and kinds that a later version of the server adds.
                (_, _) => {}
            }
        }
    }
}

/// Value of a field in the text of INFO.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}

/// Runs `work` until `deadline`.
async fn in_time<T>(deadline: Instant, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let begin = Instant::now();
    timeout_at(deadline, work).await.unwrap_or_else(|_| {
        let passed = deadline.saturating_duration_since(begin).max(Duration::from_millis(1));
        Err(Failure::Silent { reason: format!("no answer within {} ms", passed.as_millis()) })
    })
}
