//! A contender in a process of its own, which reports when it leads.

use std::io::{self, BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread;

use core::time::Duration;

use rolecall_tests::reign::{Chronicle, Reign};

/// A contender's process. Killed when dropped.
pub(crate) struct Child {
    process: std::process::Child,
    chronicle: Chronicle,
}

impl Child {
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let output = process.stdout.take().expect("it is piped");
        let chronicle = Chronicle::default();
        thread::spawn({
            let chronicle = chronicle.clone();
            move || BufReader::new(output).lines().map_while(Result::ok).for_each(|line| note(&chronicle, &line))
        });
        Ok(Self { process, chronicle })
    }

    pub(crate) fn reign(&self) -> Option<Reign> {
        self.chronicle.reign()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Parses `leads NANOSECONDS` or `led NANOSECONDS`.
fn note(chronicle: &Chronicle, line: &str) {
    let Some((word, moment)) = line.split_once(' ') else { return };
    let Ok(moment) = moment.parse().map(Duration::from_nanos) else { return };
    match word {
        "leads" => chronicle.note(true, moment, moment),
        "led" => {
            chronicle.note(true, moment, moment);
            chronicle.note(false, moment, moment);
        }
        _ => {}
    }
}
