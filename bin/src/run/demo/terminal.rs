//! Commands typed on the terminal of a demo.

use std::io::BufRead as _;

use tokio::sync::mpsc;

use crate::console::Act;

/// Parsed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// `kill N` or `start N`.
    Order(Act, usize),
    /// `help`.
    Help,
    /// `quit` or `exit`.
    Quit,
    /// Anything else, with a message that says what is accepted.
    Unknown(String),
}

pub(super) const HELP: &str =
    "kill N    end node N as a crash would\nstart N   start node N again\nquit      end the demo\n";

/// Starts a thread that reads lines from the terminal. It must be a thread, because reading cannot be cancelled.
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
    // Without the thread nothing can be typed, but the buttons of the page still work.
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
    Typed::Unknown(format!("unknown command '{}'; expected kill N, start N, help or quit\n", line.trim()))
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
