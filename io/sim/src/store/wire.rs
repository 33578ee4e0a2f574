//! Messages between a node and a server of the simulated store: frames of JSON, preceded by their length.

use core::time::Duration;
use std::io;

use bytes::{Buf, BufMut, BytesMut};
use rolecall_core::store::{Client, Output, Request};
use rolecall_core::{OpId, Session};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};

use rolecall::Stream;

/// A message of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Call {
    Connect { client: Client, previous: Option<Session>, timeout: Duration },
    Request { id: OpId, request: Request },
    Ping,
    Close,
}

/// A message of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Word {
    Pong,
    Says(Output),
}

/// One end of a connection, as frames.
pub(super) struct Line {
    reading: ReadHalf<Box<dyn Stream>>,
    writing: WriteHalf<Box<dyn Stream>>,
    read: BytesMut,
    unsent: BytesMut,
}

impl core::fmt::Debug for Line {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Line").field("unsent", &self.unsent.len()).finish_non_exhaustive()
    }
}

/// An event on a line.
#[derive(Debug)]
pub(super) enum Heard<T> {
    Word(T),
    /// Waiting bytes were sent.
    Sent,
    /// The other end is gone.
    End,
}

/// Size of a frame's length, in bytes.
const HEAD: usize = 4;

impl Line {
    pub(super) fn new(stream: Box<dyn Stream>) -> Self {
        let (reading, writing) = tokio::io::split(stream);
        Self { reading, writing, read: BytesMut::new(), unsent: BytesMut::new() }
    }

    /// Queues a frame; [`next`](Self::next) sends it.
    pub(super) fn say(&mut self, word: &impl Serialize) {
        let text = serde_json::to_vec(word).expect("the store's messages can be written as JSON");
        self.unsent.put_u32(u32::try_from(text.len()).expect("a frame is shorter than 4 GiB"));
        self.unsent.put_slice(&text);
    }

    /// Sends queued frames and waits for the next one. May be dropped and called again.
    pub(super) async fn next<T: DeserializeOwned>(&mut self) -> Heard<T> {
        match self.word() {
            Ok(Some(word)) => return Heard::Word(word),
            Ok(None) => {}
            Err(_) => return Heard::End,
        }
        tokio::select! {
            biased;
            written = self.writing.write_buf(&mut self.unsent), if !self.unsent.is_empty() => match written {
                Ok(_) => Heard::Sent,
                Err(_) => Heard::End,
            },
            read = self.reading.read_buf(&mut self.read) => match read {
                Ok(count) if count > 0 => self.word().map_or(Heard::End, |word| word.map_or(Heard::Sent, Heard::Word)),
                Ok(_) | Err(_) => Heard::End,
            },
        }
    }

    fn word<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some(head) = self.read.first_chunk::<HEAD>() else { return Ok(None) };
        let length = usize::try_from(u32::from_be_bytes(*head)).unwrap_or(usize::MAX);
        if self.read.len() - HEAD < length {
            return Ok(None);
        }
        self.read.advance(HEAD);
        let frame = self.read.split_to(length);
        Ok(Some(serde_json::from_slice(&frame)?))
    }
}
