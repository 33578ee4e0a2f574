//! Options from a TOML file, as `name = value` under the long names of the options.

use std::fs;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::Failure;
use super::nearest::nearest;

/// Option set in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Long name of the option, with dashes.
    pub name: String,
    /// Value, as it would be given on the command line.
    pub value: String,
    /// Line of the file, counted from 1.
    pub line: usize,
}

/// Reads the settings of the file at `path`. Their names must be among `known`.
pub(super) fn read(path: &Path, known: &[String]) -> Result<Vec<Setting>, Failure> {
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::Usage(format!("--config {}: expected a readable TOML file: {error}", path.display()))
    })?;
    settings(&text, known).map_err(|(line, message)| Failure::Usage(format!("{}:{line}: {message}", path.display())))
}

/// Parses the settings in `text`. The error is the number of the wrong line, counted from 1, and a message.
pub(super) fn settings(text: &str, known: &[String]) -> Result<Vec<Setting>, (usize, String)> {
    let line_of = |offset: usize| text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1;
    let table = DeTable::parse(text).map_err(|error| {
        (line_of(error.span().map_or(0, |span| span.start)), format!("not TOML: {}", error.message()))
    })?;
    let mut settings = Vec::new();
    for (key, value) in table.get_ref() {
        let line = line_of(key.span().start);
        let name = key.get_ref().replace('_', "-");
        if !known.contains(&name) {
            let hint = nearest(&name, known)
                .map_or_else(String::new, |known| format!("; the nearest known option is {known}"));
            return Err((line, format!("unknown option {}{hint}", key.get_ref())));
        }
        let value = plain(value.get_ref())
            .ok_or_else(|| (line, format!("{name}: expected a string, a whole number, true or false")))?;
        settings.push(Setting { name, value, line });
    }
    settings.sort_by_key(|setting| setting.line);
    Ok(settings)
}

fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Boolean(yes) => Some(yes.to_string()),
        DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<String> {
        ["store", "cluster", "session-timeout", "shards"].map(str::to_owned).to_vec()
    }

    #[test]
    fn strings_and_numbers_are_settings() {
        let text = "# a comment\nstore = \"memory:\"\nsession_timeout = '3s'\n\nshards = 16\n";
        let setting = |name: &str, value: &str, line| Setting { name: name.to_owned(), value: value.to_owned(), line };
        let expected =
            vec![setting("store", "memory:", 2), setting("session-timeout", "3s", 3), setting("shards", "16", 5)];
        assert_eq!(settings(text, &known()), Ok(expected));
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line_and_the_nearest_known_one() {
        let refused = settings("store = 'memory:'\nsesion-timeout = '1s'\n", &known());
        let message = "unknown option sesion-timeout; the nearest known option is session-timeout".to_owned();
        assert_eq!(refused, Err((2, message)));
    }

    #[test]
    fn other_kinds_of_values_are_refused() {
        for bad in ["shards = 1.5", "shards = [1]", "[shards]", "shards = { a = 1 }", "shards = 1979-05-27"] {
            let refused = settings(bad, &known());
            assert_eq!(
                refused,
                Err((1, "shards: expected a string, a whole number, true or false".to_owned())),
                "{bad}"
            );
        }
    }

    #[test]
    fn text_that_is_not_toml_is_refused_with_its_line() {
        assert!(
            settings("store = 'memory:'\nshards = = 1", &known())
                .is_err_and(|(line, text)| line == 2 && text.starts_with("not TOML"))
        );
        assert!(settings("shards = 1\nshards = 2", &known()).is_err_and(|(line, _)| line == 2));
    }
}
