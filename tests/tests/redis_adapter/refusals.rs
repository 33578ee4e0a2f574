//! Servers that cannot be used: what an operator has to mend is said at once, and how.

use rolecall::store::Participant;

use super::*;

const LIMIT: Duration = Duration::from_secs(60);

/// The error of trying a server out, without the URL in front.
async fn refused(url: &str) -> String {
    let participant = Participant::new(CLUSTER, "a", LONG);
    let tried = rolecall::store::redis::check(&redis_url(url), &participant, LIMIT).await;
    tried.unwrap_or_else(|| "nothing is wrong".into())
}

fn with_login(server: &RedisServer, login: &str) -> String {
    format!("redis://{login}@{}", server.address())
}

#[tokio::test]
async fn a_wrong_password_or_none_is_said_at_once() -> TestResult {
    let server = RedisServer::start_with(&["--requirepass", "secret"]).await?;
    assert_eq!(refused(&with_login(&server, ":secret")).await, "nothing is wrong");
    let told = refused(&with_login(&server, ":wrong")).await;
    assert!(told.contains("WRONGPASS"), "{told}");
    let told = refused(&server.url()).await;
    assert!(told.contains("NOAUTH"), "{told}");
    Ok(())
}

#[tokio::test]
async fn a_missing_permission_is_named() -> TestResult {
    let server = RedisServer::start().await?;
    let user = async |rules: &[&str]| {
        let mut command = redis::cmd("ACL");
        command.arg("SETUSER").arg("bob").arg("reset").arg("on").arg(">secret");
        server.command::<()>(command.arg(rules)).await
    };
    let url = with_login(&server, "bob:secret");
    user(&["~rolecall:*", "&rolecall:*", "+@all"]).await?;
    assert_eq!(refused(&url).await, "nothing is wrong");
    for (rules, named) in [
        (["~rolecall:*", "&rolecall:*", "+@all", "-info"].as_slice(), "info"),
        (&["~rolecall:*", "&rolecall:*", "+@all", "-zadd"], "ZADD"),
        (&["~rolecall:*", "&rolecall:*", "+@all", "-eval", "-evalsha"], "eval"),
        (&["~rolecall:*", "+@all"], "rolecall:{test}:changes"),
        (&["~other:*", "&rolecall:*", "+@all"], "key"),
    ] {
        user(rules).await?;
        let told = refused(&url).await;
        assert!(told.contains(named), "{rules:?}: {told}");
    }
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_reached_yet_is_no_refusal() -> TestResult {
    assert_eq!(refused("redis://127.0.0.1:1").await, "nothing is wrong");
    let server = RedisServer::start().await?;
    let replica = server.replica().await?;
    assert_eq!(refused(&replica.url()).await, "nothing is wrong", "it may be promoted");
    Ok(())
}
