//! What is typed on the terminal of a demo.

use std::io::BufRead as _;

use tokio::sync::mpsc;

use super::desk::Act;

/// A line that was understood, or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// `kill N`, `start N`.
    Order(Act, usize),
    /// `help`.
    Help,
    /// `quit`.
    Quit,
    /// Anything else, with what is accepted.
    Unknown(String),
}

pub(super) const HELP: &str =
    "kill N    end node N as by a crash\nstart N   start node N again\nquit      end the demo\n";

/// The lines, read on a thread of its own: nothing else can give up waiting for a terminal.
pub(super) fn lines() -> mpsc::UnboundedReceiver<Typed> {
    let (sender, receiver) = mpsc::unbounded_channel();
    let read = move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if line.trim().is_empty() {
                continue;
            }
            if sender.send(parse(&line)).is_err() {
                return;
            }
        }
    };
    // Without it nothing can be typed; the page's buttons are still there.
    drop(std::thread::Builder::new().name("terminal".into()).spawn(read));
    receiver
}

fn parse(line: &str) -> Typed {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["help"] => Typed::Help,
        ["quit" | "exit"] => Typed::Quit,
        [act, number] => match (Act::parse(act), number.parse()) {
            (Some(act), Ok(number)) => Typed::Order(act, number),
            (Some(_), Err(_)) | (None, _) => unknown(line),
        },
        _ => unknown(line),
    }
}

fn unknown(line: &str) -> Typed {
    Typed::Unknown(format!("'{}' is not understood; accepted are kill N, start N, help and quit\n", line.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_name_a_node() {
        assert_eq!(parse(" kill  2 "), Typed::Order(Act::Kill, 2));
        assert_eq!(parse("start 1"), Typed::Order(Act::Start, 1));
        assert_eq!(parse("help"), Typed::Help);
        assert_eq!(parse("quit"), Typed::Quit);
        for bad in ["kill", "kill me", "kill 1 2", "stop 1", "start -1"] {
            assert!(
                matches!(parse(bad), Typed::Unknown(text) if text.contains(bad) && text.contains("kill N")),
                "{bad}"
            );
        }
    }
}
