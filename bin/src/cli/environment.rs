//! Variables of the environment: each whose name begins as ours do has to be one that is known.

use std::ffi::OsString;

use clap::{Arg, Command};

use super::Failure;
use super::nearest::nearest;

const PREFIX: &str = "ROLECALL_";
/// Variables of ours that are not options: `ROLECALL_MUTANT` names the rule that a mutant build breaks, and `rolecall exec` sets
/// the others for its commands, which may call `rolecall`.
const OTHERS: [&str; 6] = [
    "ROLECALL_MUTANT",
    "ROLECALL_ROLE",
    "ROLECALL_EPOCH",
    "ROLECALL_INCARNATION",
    "ROLECALL_TERM_FILE",
    "ROLECALL_MEMBERS_FILE",
];

/// Variables of the process, by name and value.
pub(super) fn variables() -> impl Iterator<Item = (String, String)> {
    let text = |word: OsString| word.to_string_lossy().into_owned();
    std::env::vars_os().map(move |(name, value)| (text(name), text(value)))
}

/// Lets no option of `command` take its value from a variable that Kubernetes sets: `ROLECALL_PORT` is `tcp://10.0.0.1:80`
/// in every container if there is a service called `rolecall`.
pub(super) fn without_kubernetes(command: Command) -> Command {
    let without = |option: Arg| {
        let name = option.get_env().map(|name| name.to_string_lossy().into_owned());
        let value = option.get_env().and_then(std::env::var_os).map(|value| value.to_string_lossy().into_owned());
        match (name, value) {
            (Some(name), Some(value)) if is_of_kubernetes(&name, &value) => option.env(None::<&'static str>),
            (Some(_), Some(_)) | (Some(_), None) | (None, _) => option,
        }
    };
    command.mut_args(without).mut_subcommands(|command| command.mut_args(without))
}

/// Says in one line of the log which variables Kubernetes has set and this program ignores.
pub(crate) fn report_kubernetes() {
    let theirs = |(name, value): &(String, String)| name.starts_with(PREFIX) && is_of_kubernetes(name, value);
    let mut names: Vec<String> = variables().filter(theirs).map(|(name, _)| name).collect();
    names.sort_unstable();
    if !names.is_empty() {
        tracing::warn!(
            "ignored, since Kubernetes sets them for a service whose name begins as our variables do: {}; \
             `enableServiceLinks: false` in the pod keeps them away",
            names.join(", ")
        );
    }
}

/// Refuses the first of the `variables` that has our prefix but belongs to no option of `command`.
pub(super) fn check(command: &Command, variables: impl IntoIterator<Item = (String, String)>) -> Result<(), Failure> {
    let known = known(command);
    let mut unknown: Vec<String> = variables
        .into_iter()
        .filter(|(name, _)| name.starts_with(PREFIX) && !known.contains(name))
        .filter(|(name, value)| !OTHERS.contains(&name.as_str()) && !is_of_kubernetes(name, value))
        .map(|(name, _)| name)
        .collect();
    unknown.sort_unstable();
    let Some(name) = unknown.first() else { return Ok(()) };
    let hint = nearest(name, &known).map_or_else(String::new, |known| format!("; the nearest known one is {known}"));
    Err(Failure::Usage(format!("{name}: unknown environment variable{hint}")))
}

fn known(command: &Command) -> Vec<String> {
    let options = command.get_arguments().chain(command.get_subcommands().flat_map(Command::get_arguments));
    let names = options.filter_map(|option| option.get_env()).filter_map(|name| name.to_str());
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// True for the variables that Kubernetes sets in every container if there is a service called `rolecall` or `rolecall-…`,
/// such as `ROLECALL_SERVICE_HOST`, `ROLECALL_PORT_8080_TCP_ADDR` and, with an address in place of a number, `ROLECALL_PORT`.
fn is_of_kubernetes(name: &str, value: &str) -> bool {
    const PROTOCOLS: [&str; 3] = ["tcp://", "udp://", "sctp://"];
    const ENDS: [&str; 6] = ["_TCP", "_UDP", "_SCTP", "_PROTO", "_PORT", "_ADDR"];
    let is_link = || {
        let port = name.rsplit_once("_PORT_").map(|(_, port)| port);
        port.is_some_and(|port| port.starts_with(|first: char| first.is_ascii_digit()))
            && ENDS.iter().any(|end| name.ends_with(end))
    };
    let is_address = || name.ends_with("_PORT") && PROTOCOLS.iter().any(|protocol| value.starts_with(protocol));
    name.ends_with("_SERVICE_HOST") || name.contains("_SERVICE_PORT") || is_link() || is_address()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(names: &[&str]) -> Result<(), Failure> {
        checked_with("1", names)
    }

    fn checked_with(value: &str, names: &[&str]) -> Result<(), Failure> {
        let option = |name| Arg::new(name).long(name).env(name);
        let node = Command::new("node").arg(option("ROLECALL_SESSION_TIMEOUT")).arg(option("ROLECALL_SHARDS"));
        let command = Command::new("rolecall").arg(option("ROLECALL_CONFIG")).subcommand(node);
        check(&command, names.iter().map(|name| ((*name).to_owned(), value.to_owned())))
    }

    #[test]
    fn a_misspelt_variable_is_named_with_the_one_that_was_meant() {
        let told = "ROLECALL_SESION_TIMEOUT: unknown environment variable; the nearest known one is \
                    ROLECALL_SESSION_TIMEOUT";
        let names = ["PATH", "ROLECALL_SHARDS", "ROLECALL_SESION_TIMEOUT"];
        assert_eq!(checked(&names), Err(Failure::Usage(told.to_owned())));
    }

    #[test]
    fn options_of_every_command_and_variables_of_other_tools_are_known() {
        let known = [
            "HOME",
            "ROLECALL_CONFIG",
            "ROLECALL_SHARDS",
            "ROLECALL_MUTANT",
            "ROLECALL_TERM_FILE",
            "ROLECALL_SERVICE_HOST",
            "ROLECALL_SERVICE_PORT_HTTP",
            "ROLECALL_PORT_8080_TCP",
            "ROLECALL_WEB_PORT_8080_TCP_ADDR",
        ];
        assert_eq!(checked(&known), Ok(()));
        assert!(checked(&["ROLECALL_PORT_NUMBER"]).is_err());
    }

    #[test]
    fn a_port_that_is_an_address_is_a_variable_of_kubernetes() {
        for address in ["tcp://10.0.0.1:80", "udp://10.0.0.1:53"] {
            assert_eq!(checked_with(address, &["ROLECALL_WEB_PORT"]), Ok(()));
            assert!(checked_with(address, &["ROLECALL_SESION_TIMEOUT"]).is_err());
        }
        assert!(checked_with("8080", &["ROLECALL_WEB_PORT"]).is_err());
    }
}
