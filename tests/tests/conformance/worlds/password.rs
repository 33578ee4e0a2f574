//! Ends the sessions of other clients, as their expiry would.
//!
//! ZooKeeper runs the same transaction when a session times out and when its client closes it. Anyone who knows a
//! session's password can connect for it and close it, and Apache's server makes the password from the session's number
//! alone.

use std::net::SocketAddr;

use rolecall_core::Session;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use rolecall_tests::wait::LIMIT;

const CLOSE_SESSION: i32 = -11;

/// Ends a session. One that is already over stays so.
pub(super) async fn end_session(server: SocketAddr, session: Session) -> std::io::Result<()> {
    timeout(LIMIT, async {
        // A connection of its client that was under way may take the session back.
        while take_over(server, session).await.unwrap_or(true) {}
    })
    .await
    .map_err(Into::into)
}

/// Connects for a session and closes it. Returns true if it was alive.
async fn take_over(server: SocketAddr, session: Session) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect(server).await?;
    stream.write_all(&hello(session)).await?;
    let mut length = [0; 4];
    stream.read_exact(&mut length).await?;
    let mut welcome = vec![0; usize::try_from(u32::from_be_bytes(length)).expect("a length fits")];
    stream.read_exact(&mut welcome).await?;
    let alive = welcome.get(8..16) == Some(&session.0.to_be_bytes());
    if alive {
        stream.write_all(&frame(&[&1_i32.to_be_bytes(), &CLOSE_SESSION.to_be_bytes()])).await?;
        // The server answers, and ends the connection, once the session is gone.
        stream.read_to_end(&mut Vec::new()).await?;
    }
    Ok(alive)
}

/// A client's first message: version, last zxid, timeout in ms, session, password, and whether a read-only server will
/// do.
fn hello(Session(session): Session) -> Vec<u8> {
    let password = password(session);
    let parts: [&[u8]; 7] = [
        &0_i32.to_be_bytes(),
        &0_i64.to_be_bytes(),
        &10_000_i32.to_be_bytes(),
        &session.to_be_bytes(),
        &16_i32.to_be_bytes(),
        &password,
        &[0],
    ];
    frame(&parts)
}

fn frame(parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    [&u32::try_from(body.len()).expect("a short message").to_be_bytes(), body.as_slice()].concat()
}

/// `ZooKeeperServer.generatePasswd`: 16 bytes of `java.util.Random`, seeded with the session and a constant.
fn password(session: u64) -> [u8; 16] {
    const SALT: u64 = 0xB341_5C00;
    const MULTIPLIER: u64 = 0x5_DEEC_E66D;
    const MASK: u64 = (1 << 48) - 1;
    let mut state = (session ^ SALT ^ MULTIPLIER) & MASK;
    let mut bytes = [0; 16];
    for word in bytes.chunks_exact_mut(4) {
        state = state.wrapping_mul(MULTIPLIER).wrapping_add(0xB) & MASK;
        word.copy_from_slice(&u32::try_from(state >> 16).expect("32 of 48 bits").to_le_bytes());
    }
    bytes
}
