//! Variables of the environment: each whose name begins as ours do has to be one that is known.

use clap::Command;

use super::Failure;
use super::nearest::nearest;

const PREFIX: &str = "ROLECALL_";
/// Variables of ours that are not options: `ROLECALL_MUTANT` names the rule that a mutant build breaks.
const OTHERS: [&str; 1] = ["ROLECALL_MUTANT"];

/// Refuses the first of the variables `names` that has our prefix but belongs to no option of `command`.
pub(super) fn check(command: &Command, names: impl IntoIterator<Item = String>) -> Result<(), Failure> {
    let known = known(command);
    let mut unknown: Vec<String> = names
        .into_iter()
        .filter(|name| name.starts_with(PREFIX) && !known.contains(name))
        .filter(|name| !OTHERS.contains(&name.as_str()) && !is_of_kubernetes(name))
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
/// such as `ROLECALL_SERVICE_HOST` and `ROLECALL_PORT_8080_TCP_ADDR`.
fn is_of_kubernetes(name: &str) -> bool {
    const ENDS: [&str; 5] = ["_TCP", "_UDP", "_PROTO", "_PORT", "_ADDR"];
    let is_link = || {
        let port = name.rsplit_once("_PORT_").map(|(_, port)| port);
        port.is_some_and(|port| port.starts_with(|first: char| first.is_ascii_digit()))
            && ENDS.iter().any(|end| name.ends_with(end))
    };
    name.ends_with("_SERVICE_HOST") || name.contains("_SERVICE_PORT") || is_link()
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    fn checked(names: &[&str]) -> Result<(), Failure> {
        let option = |name| Arg::new(name).long(name).env(name);
        let node = Command::new("node").arg(option("ROLECALL_SESSION_TIMEOUT")).arg(option("ROLECALL_SHARDS"));
        let command = Command::new("rolecall").arg(option("ROLECALL_CONFIG")).subcommand(node);
        check(&command, names.iter().map(|name| (*name).to_owned()))
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
            "ROLECALL_SERVICE_HOST",
            "ROLECALL_SERVICE_PORT_HTTP",
            "ROLECALL_PORT_8080_TCP",
            "ROLECALL_WEB_PORT_8080_TCP_ADDR",
        ];
        assert_eq!(checked(&known), Ok(()));
        assert!(checked(&["ROLECALL_PORT_NUMBER"]).is_err());
    }
}
