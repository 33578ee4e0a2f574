//! Parses the command line into [`Cli`], with defaults from the environment and the file.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgAction, Command, CommandFactory as _, FromArgMatches as _};

use super::{Cli, Failure, environment, file};

/// Parses `words`, the first of which is the name of the program.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Cli, Failure> {
    let words: Vec<OsString> = words.into_iter().collect();
    let command_line = environment::without_kubernetes(definitions());
    let command_line = match config_file(&words) {
        Some(path) => underlay(command_line, &path)?,
        None => command_line,
    };
    let parsed = command_line
        .try_get_matches_from(&words)
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .map_err(|error| failure(&error, &words));
    if !matches!(parsed, Err(Failure::Asked(_))) {
        // A misspelt variable may be the reason for whatever else is missing.
        environment::check(&definitions(), environment::variables())?;
    }
    parsed
}

/// All commands and options, with the defaults that differ between commands.
pub(crate) fn definitions() -> Command {
    Cli::command().mut_subcommand("demo", |demo| demo.mut_arg("session_timeout", |option| option.default_value("2s")))
}

/// Path of the configuration file, found before the rest of the command line is parsed.
fn config_file(words: &[OsString]) -> Option<PathBuf> {
    let mut words = words.iter().skip(1).take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        if word == "--config" {
            return words.next().map(PathBuf::from);
        }
        if let Some(path) = word.to_str().and_then(|word| word.strip_prefix("--config=")) {
            return Some(path.into());
        }
    }
    std::env::var_os("ROLECALL_CONFIG").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Parses the text of a configuration file.
///
/// # Errors
/// The number of the wrong line, counted from 1, and a message.
pub fn configuration(text: &str) -> Result<Vec<file::Setting>, (usize, String)> {
    file::settings(text, &option_names(&definitions()))
}

/// Makes each setting of the file the default of its option, on every command that has it. Flags and the environment take
/// precedence.
fn underlay(mut command: Command, path: &std::path::Path) -> Result<Command, Failure> {
    let settings = file::read(path, &option_names(&command))?;
    for setting in settings {
        let place = format!("{}:{}", path.display(), setting.line);
        command = set(command, &setting, &place)?;
        let commands: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
        for name in commands {
            let mut outcome = Ok(());
            command = command.mut_subcommand(name, |sub| match set(sub.clone(), &setting, &place) {
                Ok(changed) => changed,
                Err(failure) => {
                    outcome = Err(failure);
                    sub
                }
            });
            outcome?;
        }
    }
    Ok(command)
}

/// Sets the default of one option of `command`, if the option's own parser accepts it.
fn set(command: Command, setting: &file::Setting, place: &str) -> Result<Command, Failure> {
    let Some(id) =
        command.get_arguments().find(|arg| arg.get_long() == Some(&setting.name)).map(|arg| arg.get_id().clone())
    else {
        return Ok(command);
    };
    let trial = [OsString::from("rolecall"), format!("--{}={}", setting.name, setting.value).into()];
    // Try it without the environment, so that mistakes there are not blamed on the file.
    let alone = command.clone().mut_args(|option| option.env(None::<&'static str>));
    if let Err(error) = alone.try_get_matches_from(trial)
        && matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue)
    {
        return Err(Failure::Usage(format!("{place}: {}", one_line(&error))));
    }
    // The leak is harmless: this is read once in a process and needed until its end.
    let value: &'static str = setting.value.clone().leak();
    Ok(command.mut_arg(id, |option| option.required(false).default_value(value)))
}

/// Options that a file may set: those that take a value and make sense for more than one call.
fn option_names(command: &Command) -> Vec<String> {
    const ONLY_FLAGS: [&str; 9] =
        ["config", "to", "leader", "worker", "on-lead", "on-follow", "on-end", "report", "election"];
    let options = command.get_arguments().chain(command.get_subcommands().flat_map(Command::get_arguments));
    let mut names: Vec<String> = options
        .filter(|option| matches!(option.get_action(), ArgAction::Set | ArgAction::Append))
        .filter_map(|option| option.get_long())
        .filter(|name| !ONLY_FLAGS.contains(name))
        .map(str::to_owned)
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn failure(error: &clap::Error, words: &[OsString]) -> Failure {
    if error.exit_code() == 0 {
        return Failure::Asked(error.to_string());
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure::Usage("a command is missing; rolecall --help lists the commands".to_owned());
    }
    let line = one_line(error);
    Failure::Usage(variable(error, words).map_or_else(|| line.clone(), |name| format!("{name}: {line}")))
}

/// Environment variable that holds the refused value. `None` if the value is in `words`, or in the file, whose values were
/// tried before.
fn variable(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(refused)) = error.get(ContextKind::InvalidArg) else { return None };
    let option = refused.split(' ').next().filter(|option| option.starts_with("--"))?;
    let is_word = |word: &OsString| word.to_str().is_some_and(|word| word.split('=').next() == Some(option));
    let name = format!("ROLECALL_{}", option.trim_start_matches('-').replace('-', "_").to_uppercase());
    (!words.iter().any(is_word) && std::env::var_os(&name).is_some()).then_some(name)
}

/// Joins the lines of clap's message into one, without the usage and the hint at `--help`.
fn one_line(error: &clap::Error) -> String {
    let text = without_password(error);
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let told = text.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"));
    let mut line = told.map(str::trim).filter(|part| !part.is_empty()).fold(String::new(), |mut line, part| {
        if line.ends_with(':') || part.starts_with('[') {
            line.push(' ');
        } else if !line.is_empty() {
            line.push_str("; ");
        }
        line.push_str(part);
        line
    });
    if matches!(
        error.kind(),
        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand | ErrorKind::MissingRequiredArgument
    ) && !line.contains("--help")
    {
        line.push_str("; --help lists what is accepted");
    }
    line
}

/// The message with a password masked: clap repeats a malformed URL in full.
fn without_password(error: &clap::Error) -> String {
    let text = error.to_string();
    let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue) else { return text };
    let Some((scheme, rest)) = value.split_once("//") else { return text };
    let Some((_, host)) = rest.rsplit_once('@') else { return text };
    text.replace(value, &format!("{scheme}//***@{host}"))
}
