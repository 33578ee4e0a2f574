//! Messages between `rolecall exec` and the guard of a run: one JSON object a line, over a pair of sockets.
//!
//! Before the first line, one byte carries the descriptor of standard input along, whose place the socket has taken.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::cmsg_space;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::end::{Cause, End};
use super::script::Assignment;

/// Order to the guard.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Begin the run. The first order.
    Begin(Box<Assignment>),
    /// The term was renewed and ends at this time, in nanoseconds of `CLOCK_BOOTTIME`.
    Until(u64),
    /// Pass this signal on to the program.
    Signal(i32),
    /// End the run in good order.
    Stop,
    /// End the run without a grace.
    Kill,
}

/// Report of the guard.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Report {
    /// Nothing of the run is left. The last report.
    Gone {
        /// Reason for which it ended.
        cause: Cause,
        /// End of the program that decides, if one ran.
        end: Option<End>,
    },
}

/// The line of a message.
pub(super) fn line(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("every key of a message is a string");
    line.push(b'\n');
    line
}

/// The message of a line.
pub(super) fn message<M: DeserializeOwned>(line: &str) -> io::Result<M> {
    serde_json::from_str(line).map_err(io::Error::from)
}

/// Sends a copy of `descriptor` along with one byte.
pub(super) fn send_descriptor(socket: &UnixStream, descriptor: BorrowedFd<'_>) -> io::Result<()> {
    let (mut space, descriptors) = ([MaybeUninit::uninit(); cmsg_space!(ScmRights(1))], [descriptor]);
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("a descriptor has no room in a message"));
    }
    sendmsg(socket, &[IoSlice::new(&[0])], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives a descriptor and its byte, and nothing more.
pub(super) fn receive_descriptor(socket: &UnixStream) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    recvmsg(socket, &mut [IoSliceMut::new(&mut [0])], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let descriptors = control.drain().filter_map(|message| {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message { Some(descriptors) } else { None }
    });
    descriptors.flatten().next().ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "no descriptor came"))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Seek as _, Write as _};
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn a_descriptor_arrives_and_the_lines_after_it_stay_in_the_socket() {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"input").expect("it can be written");
        file.rewind().expect("it is a file");

        send_descriptor(&ours, file.as_fd()).expect("it is sent");
        (&ours).write_all(&line(&Order::Stop)).expect("it is sent");
        drop((ours, file));

        let mut input = String::new();
        let received = receive_descriptor(&theirs).expect("it came");
        std::fs::File::from(received).read_to_string(&mut input).expect("it can be read");
        assert_eq!(input, "input");
        let mut rest = String::new();
        (&theirs).read_to_string(&mut rest).expect("it can be read");
        assert!(matches!(message(rest.trim_end()), Ok(Order::Stop)), "{rest:?}");
        assert!(receive_descriptor(&theirs).is_err(), "nothing is left");
    }
}
