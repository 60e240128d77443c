//! The command line as clap reads it, made from the registry of commands.
//!
//! The help, the man pages and the completions come from these definitions.

use std::fmt::Write as _;

use clap::{Arg, Args};

use crate::common_args::CommonArgs;
use crate::registry::{COMMANDS, Command, Group};

/// What the program does, in a line of the help.
const ABOUT: &str =
    "Read directory trees and their metadata at the speed the kernel and the disk allow";

/// Returns the command line of the program. The common options stand before the command, or after
/// one on which they can have an effect.
///
/// To define all commands takes longer than to walk a small directory: see [`alone`].
pub fn definition() -> clap::Command {
    let program = clap::Command::new("ringwalk")
        .about(ABOUT)
        .version(env!("CARGO_PKG_VERSION"))
        .arg_required_else_help(true)
        .subcommand_required(true)
        .help_template(help_template());
    let program = with_common_options(program);
    // Global: the matches of the program have the values that stand after the command, too.
    let common: Vec<Arg> = program
        .get_arguments()
        .map(|option| option.clone().global(true))
        .collect();
    program.subcommands(COMMANDS.iter().map(|command| {
        let has_effect = |option: &&Arg| {
            let name = option.get_long();
            name.is_some_and(|name| command.lacks.leaves(name))
        };
        let options = common.iter().filter(has_effect);
        command.definition().args(options)
    }))
}

/// Returns the command line of one command, with all common options.
pub fn alone(command: &Command) -> clap::Command {
    with_common_options(command.definition())
}

/// Adds the common options. Clap takes the comment on their struct for the description.
fn with_common_options(program: clap::Command) -> clap::Command {
    let about = program.get_about().cloned().unwrap_or_default();
    CommonArgs::augment_args(program).about(about)
}

/// Returns the help of the program: the commands in groups, and the options.
fn help_template() -> String {
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for group in Group::ALL {
        let _ = write!(text, "\n{}:\n", group.heading());
        for command in COMMANDS.iter().filter(|command| command.group == group) {
            let _ = writeln!(text, "  {:<9} {}", command.name, command.about);
        }
        // Clap adds this command.
        if group == Group::Diagnose {
            text.push_str("  help      Print the help of a command\n");
        }
    }
    text + "\nOptions (most commands also take them after the command; find does not):\n{options}"
}

#[cfg(test)]
mod tests;
