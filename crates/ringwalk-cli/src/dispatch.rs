//! From the arguments to the program that is meant, and from what clap says to messages and exit statuses.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use ringwalk::shown::is_plain;

use crate::cli::{Cli, Command, CommonArgs, DuLink};
use crate::console;
use crate::engine_options::EngineOptions;

/// Exit status of usage errors; GNU du and find have 1 for them, and so have ours.
const USAGE: u8 = 2;
const GNU_USAGE: u8 = 1;

/// The common options that take a value, which may be the next word.
const VALUED: [&str; 4] = ["--source", "--workers", "--prefetch", "--progress"];

/// What is done with a command line that cannot be used.
#[derive(Clone, Copy, Debug)]
enum Usage {
    /// As clap words it, and its exit status.
    Ours,
    /// As GNU du and find do.
    Gnu,
}

impl Usage {
    fn status(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Ours => USAGE,
            Self::Gnu => GNU_USAGE,
        })
    }
}

/// Runs the program that `args` ask for, of which the first is the name it was called by.
pub fn run(args: Vec<OsString>) -> ExitCode {
    run_command(args).unwrap_or_else(|status| status)
}

/// Runs it; both sides are exit statuses.
fn run_command(args: Vec<OsString>) -> Result<ExitCode, ExitCode> {
    if called_as(&args, "find") {
        console::set_program("find");
        // Without clap, which takes longer than a search of a small directory.
        let options = resolve(&CommonArgs::default(), Usage::Gnu)?;
        return Ok(crate::find::run(
            args.into_iter().skip(1).collect(),
            &options,
        ));
    }
    if called_as(&args, "du") {
        console::set_program("du");
        let DuLink { common, du } = parse(args, Usage::Gnu)?;
        return Ok(crate::du::run(&du, &resolve(&common, Usage::Gnu)?));
    }
    let (at, name) = match subcommand(&args) {
        Some((at, name)) => (at, name.to_str().unwrap_or_default()),
        None => (args.len(), ""),
    };
    match name {
        "find" => return run_find(args, at),
        "du" => console::set_program("du"),
        _ => {}
    }
    let usage = if name == "du" {
        Usage::Gnu
    } else {
        Usage::Ours
    };
    let cli: Cli = parse(args, usage)?;
    let options = resolve(&cli.common, usage)?;
    Ok(match &cli.command {
        Command::Count(args) => crate::count::run(args, &options),
        Command::Doctor(args) => crate::doctor::run(args, &options),
        Command::Du(args) => crate::du::run(args, &options),
        Command::Find(args) => crate::find::run(args.words.clone(), &options),
    })
}

/// Runs `find`, the subcommand at `at`: what stands behind that word is its own language, and not for clap to read.
fn run_find(mut args: Vec<OsString>, at: usize) -> Result<ExitCode, ExitCode> {
    let words = args.split_off(at + 1);
    let common = if at == 1 {
        CommonArgs::default()
    } else {
        parse::<Cli>(args, Usage::Ours)?.common
    };
    let options = resolve(&common, Usage::Ours)?;
    console::set_program("find");
    Ok(crate::find::run(words, &options))
}

fn resolve(common: &CommonArgs, usage: Usage) -> Result<EngineOptions, ExitCode> {
    EngineOptions::resolve(common).map_err(|error| {
        console::error(error);
        usage.status()
    })
}

/// Whether the program was called through a link with this name.
fn called_as(args: &[OsString], program: &str) -> bool {
    args.first()
        .is_some_and(|name| Path::new(name).file_name() == Some(OsStr::new(program)))
}

/// The subcommand and where it stands: the first word that is neither an option nor the value of one.
///
/// Looked for before clap reads the line, because clap's errors do not tell which subcommand they arose in.
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

/// Reads `args`; help and versions are printed here.
fn parse<P: Parser>(args: Vec<OsString>, usage: Usage) -> Result<P, ExitCode> {
    let error = match P::try_parse_from(args) {
        Ok(parsed) => return Ok(parsed),
        Err(error) => error,
    };
    Err(match (error.kind(), usage) {
        (ErrorKind::DisplayHelp | ErrorKind::DisplayVersion, _) => {
            match console::require_stdout().and_then(|()| error.print()) {
                Ok(()) => ExitCode::SUCCESS,
                Err(failure) => console::write_failed(&failure),
            }
        }
        (ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, _) => {
            console::note(error.render());
            usage.status()
        }
        (_, Usage::Ours) => {
            console::error(usage_message(&error.render().to_string()));
            usage.status()
        }
        (_, Usage::Gnu) => {
            crate::du::usage_error(&error);
            usage.status()
        }
    })
}

/// Clap's message after our program's name instead of its `error:`, with what the user typed made harmless.
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
        use clap::CommandFactory;
        let command = Cli::command();
        let valued: Vec<_> = command
            .get_arguments()
            .filter(|argument| argument.get_action().takes_values())
            .filter_map(clap::Arg::get_long)
            .map(|name| format!("--{name}"))
            .collect();
        assert_eq!(valued, VALUED);
    }

    #[test]
    fn messages_keep_lines_but_no_controls() {
        assert_eq!(
            usage_message("error: bad '\x1b[2J'\nUsage: x\n"),
            "bad '?[2J'\nUsage: x"
        );
    }
}
