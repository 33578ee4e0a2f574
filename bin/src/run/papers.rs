//! `rolecall completions` and `rolecall man`: files for shells and for readers, from the command line's own definitions.

use std::fs;
use std::io;
use std::path::Path;

use clap_complete::aot::generate;
use clap_mangen::Man;

use crate::cli::{self, Completions, Failure, Manual, print};

/// Prints the completions for one shell.
///
/// # Errors
/// If they cannot be written.
pub fn completions(options: &Completions) -> Result<(), Failure> {
    let mut command = cli::definitions();
    let mut script = Vec::new();
    generate(options.shell, &mut command, "rolecall", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// Writes the manual pages into a folder, or prints the first one.
///
/// # Errors
/// If they cannot be written.
pub fn manual(options: &Manual) -> Result<(), Failure> {
    let mut command = cli::definitions().disable_help_subcommand(true);
    command.build();
    let Some(folder) = &options.folder else {
        let page = page(&command).map_err(|error| Failure::Failed(error.to_string()))?;
        return print(&page);
    };
    for command in core::iter::once(&command).chain(command.get_subcommands()) {
        let file = format!("{}.1", command.get_display_name().unwrap_or_else(|| command.get_name()));
        write(folder, &file, command)
            .map_err(|error| Failure::Failed(format!("{}: {error}", folder.join(file).display())))?;
    }
    Ok(())
}

fn write(folder: &Path, file: &str, command: &clap::Command) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join(file), page(command)?)
}

/// Manual page of one command. Examples and lists keep their lines.
fn page(command: &clap::Command) -> io::Result<String> {
    let man = Man::new(command.clone()).manual("Rolecall").source(format!("rolecall {}", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    let mut text = String::from_utf8_lossy(&text).into_owned();
    if let Some(more) = command.get_after_help() {
        text.push_str(&more_section(&more.to_string()));
    }
    Ok(text)
}

/// Section with the text that follows the options in a command's help. The generator would fill the lines of the examples.
fn more_section(text: &str) -> String {
    let mut section = String::from(".SH MORE\n");
    for line in text.lines() {
        let escaped = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
        match line.chars().next() {
            None => section.push_str(".PP\n"),
            Some(' ') => section.push_str(&format!(".br\n{}\n", escaped.replacen("  ", "\\ \\ ", 1))),
            Some(_) => {
                section.push_str(&format!("{}\n", escaped.replacen('.', "\\&.", usize::from(line.starts_with('.')))))
            }
        }
    }
    section
}
