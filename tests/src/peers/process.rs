//! A contender in a process of its own, which is told what to do on its standard input and reports on its output.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;

/// A contender's process. Killed when dropped.
#[derive(Debug)]
pub struct Peer {
    process: Child,
    input: ChildStdin,
}

impl Peer {
    /// Starts `command`, and passes each line of its output to `on_line`, on a thread of its own.
    pub(super) fn start(command: &mut Command, mut on_line: impl FnMut(&str) + Send + 'static) -> io::Result<Self> {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let output = process.stdout.take().expect("it is piped");
        let input = process.stdin.take().expect("it is piped");
        thread::spawn(move || BufReader::new(output).lines().map_while(Result::ok).for_each(|line| on_line(&line)));
        Ok(Self { process, input })
    }

    /// Writes a line to its standard input.
    ///
    /// # Errors
    /// If it has ended.
    pub fn tell(&mut self, line: &str) -> io::Result<()> {
        self.input.write_all(format!("{line}\n").as_bytes())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
