//! Program with its arguments, as it was given on the command line.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use serde::{Deserialize, Serialize};

use crate::cli::Failure;

/// Program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Words {
    pub(super) program: OsString,
    pub(super) arguments: Vec<OsString>,
}

impl Words {
    /// Reads the value of `option`. Several words are taken as they are. A single one is split as a shell would split it, with
    /// its quotes and backslashes, but nothing is expanded.
    ///
    /// # Errors
    /// If there is no program, or a quote is not closed.
    pub(crate) fn parse(option: &str, given: &[OsString]) -> Result<Self, Failure> {
        let words = match given {
            [line] => shlex::bytes::split(line.as_bytes())
                .ok_or_else(|| {
                    let line = line.display();
                    Failure::Usage(format!("{option} '{line}': a quote is not closed, or a backslash ends the line"))
                })?
                .into_iter()
                .map(OsString::from_vec)
                .collect(),
            words => words.to_vec(),
        };
        Self::exact(words).ok_or_else(|| Failure::Usage(format!("{option}: expected a program, such as ./run-jobs")))
    }

    /// Takes each word as it is. `None` if there is no program.
    pub(crate) fn exact(words: Vec<OsString>) -> Option<Self> {
        let mut words = words.into_iter();
        let program = words.next().filter(|program| !program.is_empty())?;
        Some(Self { program, arguments: words.collect() })
    }

    /// Looks for the program, in the folders of `PATH` if its name has no slash.
    ///
    /// # Errors
    /// Exit code 127 if there is no such file, and 126 if it may not be executed.
    pub(crate) fn find(&self) -> Result<(), Failure> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let places: Vec<PathBuf> = if self.program.as_bytes().contains(&b'/') {
            vec![PathBuf::from(&self.program)]
        } else {
            std::env::split_paths(&path).map(|folder| folder.join(&self.program)).collect()
        };
        let is_program = |place: &Path| place.is_file() && access(place, Access::EXEC_OK).is_ok();
        if places.iter().any(|place| is_program(place)) {
            return Ok(());
        }
        let program = self.program.display();
        Err(match places.iter().find(|place| place.exists()) {
            Some(place) => Failure::Exit {
                code: CANNOT_RUN,
                told: format!("cannot run {program}: {} is not a file that may be executed", place.display()),
            },
            None => Failure::Exit {
                code: NOT_FOUND,
                told: format!("cannot run {program}: no such file{}", if places.len() == 1 { "" } else { " in PATH" }),
            },
        })
    }
}

/// Exit code for a program that cannot be run.
pub(super) const CANNOT_RUN: u8 = 126;
/// Exit code for a program that does not exist.
pub(super) const NOT_FOUND: u8 = 127;

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(given: &[&str]) -> Result<Vec<String>, Failure> {
        let given: Vec<OsString> = given.iter().map(OsString::from).collect();
        let words = Words::parse("--leader", &given)?;
        let all = core::iter::once(words.program).chain(words.arguments);
        Ok(all.map(|word| word.to_string_lossy().into_owned()).collect())
    }

    #[test]
    fn one_word_is_split_as_a_shell_splits_it_and_several_are_taken_as_they_are() {
        assert_eq!(
            parsed(&["./run-jobs --name 'a b' $HOME"]),
            Ok(["./run-jobs", "--name", "a b", "$HOME"].map(str::to_owned).to_vec())
        );
        assert_eq!(parsed(&["./run jobs", "'a b'"]), Ok(["./run jobs", "'a b'"].map(str::to_owned).to_vec()));
    }

    #[test]
    fn what_names_no_program_is_refused_with_its_option() {
        for bad in [&["'open"][..], &[""], &["  "], &["", "x"]] {
            let refused = parsed(bad).expect_err("it names no program");
            assert!(matches!(&refused, Failure::Usage(told) if told.starts_with("--leader")), "{refused}");
        }
    }

    #[test]
    fn a_program_that_is_missing_or_may_not_run_has_the_exit_code_that_shells_give_it() {
        let code = |program: &str| match Words::exact(vec![program.into()]).expect("a program").find() {
            Ok(()) => 0,
            Err(Failure::Exit { code, told }) => {
                assert!(told.contains(program), "{told}");
                code
            }
            Err(other) => panic!("{other}"),
        };
        assert_eq!([code("sh"), code("/bin/sh")], [0, 0]);
        assert_eq!([code("no-such-program"), code("./no-such-program")], [127, 127]);
        assert_eq!([code("/etc/passwd"), code("/etc")], [126, 126]);
    }
}
