//! The choice of the program by the arguments, and the messages and exit statuses of usage errors.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, FromArgMatches};
use ringwalk::shown::is_plain;

use crate::cli;
use crate::common_args::CommonArgs;
use crate::console;
use crate::engine_options::{EngineOptions, Lacks};
use crate::registry::{self, Command};
use crate::status::{Ended, GNU_USAGE, TROUBLE, trouble};

/// The common options with a value. The value may be the next word.
const VALUED: [&str; 5] = [
    "--source",
    "--workers",
    "--in-flight",
    "--prefetch",
    "--progress",
];

/// The wording and exit status of usage errors.
#[derive(Clone, Copy, Debug)]
enum Usage {
    /// Clap's wording, and status 2.
    Ours,
    /// Clap's wording, and GNU's status.
    Find,
    /// GNU du's wording and status.
    Du,
}

impl Usage {
    /// Returns the usage of a command.
    fn of(command: &str) -> Self {
        match command {
            "find" => Self::Find,
            "du" => Self::Du,
            _ => Self::Ours,
        }
    }

    /// Ends the program. The usage error has been reported.
    fn end(self) -> Ended {
        Ended::with(match self {
            Self::Ours => TROUBLE,
            Self::Find | Self::Du => GNU_USAGE,
        })
    }

    /// Reports a usage error.
    fn refused(self, message: impl Display) -> Ended {
        console::error(message);
        self.end()
    }
}

/// Runs the program that `args` name. The first of them is the name by which the program was
/// called.
pub fn run(args: Vec<OsString>) -> ExitCode {
    run_command(args).unwrap_or_else(Ended::status)
}

fn run_command(args: Vec<OsString>) -> Result<ExitCode, Ended> {
    if called_as(&args, "find") {
        console::set_program("find");
        // Clap would take longer than a search of a small directory.
        let options = resolve(&CommonArgs::default(), Usage::Find)?;
        return crate::find::run(args.into_iter().skip(1).collect(), &options);
    }
    if called_as(&args, "du")
        && let Some(du) = registry::command("du")
    {
        console::set_program("du");
        let words = parse(cli::alone(du), args, du.name)?;
        return start_alone(du, words);
    }
    let (at, name) = match subcommand(&args) {
        Some((at, name)) => (at, name.to_str().unwrap_or_default()),
        None => (args.len(), ""),
    };
    match name {
        "find" => return run_find(args, at),
        // Clap cannot list the words of find, so find prints its own help.
        "help" if args[1..] == ["help", "find"] => {
            let help = ringwalk_find::table::help("find");
            return console::print(help.as_bytes()).map(|()| ExitCode::SUCCESS);
        }
        "du" => console::set_program("du"),
        _ => {}
    }
    if let Some(command) = registry::command(name)
        && let Some(words) = alone(command, &args, at)
    {
        return start_alone(command, words);
    }
    let name = name.to_owned();
    let mut words = parse(cli::definition(), args, &name)?;
    let given = words.remove_subcommand();
    let given = given.and_then(|(name, own)| Some((registry::command(&name)?, own)));
    // Clap knows no other commands, and it has asked for one.
    let (command, own) = given.ok_or_else(|| trouble("expected a command"))?;
    start(command, &common(&mut words)?, own)
}

/// Runs a command whose words have the common options, too.
fn start_alone(command: &Command, mut words: ArgMatches) -> Result<ExitCode, Ended> {
    start(command, &common(&mut words)?, words)
}

fn start(command: &Command, common: &CommonArgs, mut own: ArgMatches) -> Result<ExitCode, Ended> {
    let usage = Usage::of(command.name);
    let options = resolve(common, usage)?;
    if command.lacks != Lacks::Nothing {
        let refused = options.refuse(command.lacks, &format!("on ringwalk {}", command.name));
        refused.map_err(|message| usage.refused(message))?;
    }
    command.run(&mut own, &options)
}

fn common(words: &mut ArgMatches) -> Result<CommonArgs, Ended> {
    CommonArgs::from_arg_matches_mut(words).map_err(trouble)
}

/// Runs `find`, the subcommand at `at`. The words after it are find's own language, which clap
/// cannot read.
fn run_find(mut args: Vec<OsString>, at: usize) -> Result<ExitCode, Ended> {
    let words = args.split_off(at + 1);
    let given = if at == 1 {
        CommonArgs::default()
    } else {
        common(&mut parse(cli::definition(), args, "find")?)?
    };
    let options = resolve(&given, Usage::Find)?;
    console::set_program("find");
    crate::find::run(words, &options)
}

fn resolve(common: &CommonArgs, usage: Usage) -> Result<EngineOptions, Ended> {
    EngineOptions::resolve(common).map_err(|error| usage.refused(error))
}

/// Returns true if the program was called through a link with this name.
fn called_as(args: &[OsString], program: &str) -> bool {
    args.first()
        .is_some_and(|name| Path::new(name).file_name() == Some(OsStr::new(program)))
}

/// Returns the subcommand and its index: the first word that is neither an option nor the value of
/// an option.
///
/// It must be known before clap reads the line, because clap's errors do not name the subcommand.
fn subcommand(args: &[OsString]) -> Option<(usize, &OsStr)> {
    let mut words = args.iter().enumerate().skip(1);
    while let Some((at, word)) = words.next() {
        if VALUED.iter().any(|option| word == option) {
            words.next();
        } else if !word.as_encoded_bytes().starts_with(b"-") {
            return Some((at, word));
        }
    }
    None
}

/// Parses the words of the command at `at` by a definition of that command alone. To define all
/// commands takes longer than to walk a small directory.
///
/// Returns `None` if there are options before the command, for help, and for usage errors: these
/// are for the definition of the whole command line.
fn alone(command: &Command, args: &[OsString], at: usize) -> Option<ArgMatches> {
    (at == 1).then(|| cli::alone(command).try_get_matches_from(&args[at..]).ok())?
}

/// Parses `args` by a definition of the command line, for a command. Prints help and version.
fn parse(
    mut definition: clap::Command,
    args: Vec<OsString>,
    command: &str,
) -> Result<ArgMatches, Ended> {
    let usage = Usage::of(command);
    let error = match definition.try_get_matches_from_mut(args) {
        Ok(matches) => return Ok(matches),
        Err(error) => error,
    };
    Err(match (error.kind(), usage) {
        (ErrorKind::DisplayHelp | ErrorKind::DisplayVersion, _) => {
            match console::require_stdout().and_then(|()| error.print()) {
                Ok(()) => Ended::with(ExitCode::SUCCESS),
                Err(failure) => console::write_failed(&failure),
            }
        }
        (ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, _) => {
            console::note(error.render());
            usage.end()
        }
        (_, Usage::Ours | Usage::Find) => {
            let message = usage_message(&error.render().to_string());
            usage.refused(advice(&error, command).unwrap_or(message))
        }
        (_, Usage::Du) => {
            crate::du::usage_error(&error);
            usage.end()
        }
    })
}

/// Returns what to write instead of `--from` for a command that takes a snapshot as an operand.
fn advice(error: &clap::Error, command: &str) -> Option<String> {
    let is_from = matches!(
        error.get(ContextKind::InvalidArg),
        Some(ContextValue::String(word)) if word == "--from"
    );
    let takes = registry::command(command).is_some_and(Command::takes_snapshots);
    (error.kind() == ErrorKind::UnknownArgument && is_from && takes).then(|| {
        format!(
            "{command} takes a snapshot in the place of a directory, without --from: ringwalk \
             {command} SNAP"
        )
    })
}

/// Returns clap's message without its `error:`. Control characters that the user typed become `?`.
fn usage_message(rendered: &str) -> String {
    let message = rendered
        .strip_prefix("error: ")
        .unwrap_or(rendered)
        .trim_end();
    message
        .chars()
        .map(|character| {
            if character == '\n' || is_plain(character) {
                character
            } else {
                '?'
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::CountArgs;
    use crate::output::TextFormat;

    fn args(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_link_is_known_by_its_last_component() {
        assert!(called_as(&args("du -s"), "du"));
        assert!(called_as(&args("/usr/local/bin/find"), "find"));
        assert!(!called_as(&args("ringwalk du"), "du"));
        assert!(!called_as(&args("/opt/du/ringwalk"), "du"));
        assert!(!called_as(&[], "du"));
    }

    #[test]
    fn the_subcommand_is_found_behind_common_options() {
        for (line, expected) in [
            ("ringwalk du --bad", Some((1, "du"))),
            (
                "ringwalk --source count --explain --workers=2 find",
                Some((5, "find")),
            ),
            ("ringwalk --prefetch never --sync du", Some((4, "du"))),
            ("ringwalk count du", Some((1, "count"))),
            ("ringwalk --workers du", None),
        ] {
            let args = args(line);
            let found = subcommand(&args).map(|(at, name)| (at, name.to_str().unwrap()));
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn every_common_option_with_a_value_is_known() {
        let command = cli::definition();
        let valued: Vec<_> = command
            .get_arguments()
            .filter(|argument| argument.get_action().takes_values())
            .filter_map(clap::Arg::get_long)
            .map(|name| format!("--{name}"))
            .collect();
        assert_eq!(valued, VALUED);
    }

    #[test]
    fn the_whole_definition_makes_messages() {
        let command = registry::command("count").unwrap();
        let count = |line| alone(command, &args(line), 1);
        let words = count("ringwalk count --workers 3 --format json a b").unwrap();
        let common = CommonArgs::from_arg_matches(&words).unwrap();
        let count_args = CountArgs::from_arg_matches(&words).unwrap();
        assert_eq!(common.workers.unwrap().get(), 3);
        assert_eq!(count_args.output.format, TextFormat::Json);
        assert_eq!(count_args.directories, ["a", "b"]);
        assert!(count("ringwalk count --help").is_none());
        assert!(count("ringwalk count --workers none").is_none());
        assert!(alone(command, &args("ringwalk --sync count"), 2).is_none());
    }

    #[test]
    fn messages_keep_lines_but_no_controls() {
        assert_eq!(
            usage_message("error: bad '\x1b[2J'\nUsage: x\n"),
            "bad '?[2J'\nUsage: x"
        );
    }
}
