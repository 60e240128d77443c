//! The choice of the program by the arguments, and the messages and exit statuses of usage errors.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser};
use ringwalk::shown::is_plain;

use crate::cli::{Cli, Command, CountAlone, DuLink};
use crate::common_args::CommonArgs;
use crate::console;
use crate::engine_options::{EngineOptions, Lacks};
use crate::status::{GNU_USAGE, TROUBLE};

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
    fn status(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Ours => TROUBLE,
            Self::Find | Self::Du => GNU_USAGE,
        })
    }
}

/// Runs the program that `args` name. The first of them is the name by which the program was
/// called.
pub fn run(args: Vec<OsString>) -> ExitCode {
    run_command(args).unwrap_or_else(|status| status)
}

/// Runs the program. Both results are exit statuses.
fn run_command(args: Vec<OsString>) -> Result<ExitCode, ExitCode> {
    if called_as(&args, "find") {
        console::set_program("find");
        // Clap would take longer than a search of a small directory.
        let options = resolve(&CommonArgs::default(), Usage::Find)?;
        return Ok(crate::find::run(
            args.into_iter().skip(1).collect(),
            &options,
        ));
    }
    if called_as(&args, "du") {
        console::set_program("du");
        let DuLink { common, du } = parse(DuLink::command(), args, Usage::Du)?;
        return Ok(crate::du::run(&du, &resolve(&common, Usage::Du)?));
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
        "du" => {
            console::set_program("du");
            if let Some(DuLink { common, du }) = alone(&args, at) {
                return Ok(crate::du::run(&du, &resolve(&common, Usage::Du)?));
            }
        }
        "count" => {
            if let Some(CountAlone { common, count }) = alone(&args, at) {
                return Ok(crate::count::run(&count, &resolve(&common, Usage::Ours)?));
            }
        }
        _ => {}
    }
    let usage = if name == "du" { Usage::Du } else { Usage::Ours };
    let lacks = Lacks::always(name).map(|lacks| (lacks, format!("on ringwalk {name}")));
    let cli: Cli = parse(Cli::definition(), args, usage)?;
    let options = resolve(&cli.common, usage)?;
    if let Some((lacks, place)) = lacks {
        let refused = options.refuse(lacks, &place);
        refused.map_err(|message| {
            console::error(message);
            usage.status()
        })?;
    }
    Ok(match &cli.command {
        #[cfg(feature = "browse")]
        Command::Browse(args) => crate::browse::run(args, &options),
        Command::Count(args) => crate::count::run(args, &options),
        Command::Diff(args) => crate::diff::run(args, &options),
        Command::Doctor(args) => crate::doctor::run(args, &options),
        Command::Du(args) => crate::du::run(args, &options),
        Command::Dupes(args) => crate::dupes::run(args, &options),
        Command::Export(args) => crate::export::run(args, &options),
        Command::Find(args) => crate::find::run(args.words.clone(), &options),
        Command::Hash(args) => crate::hash::run(args, &options),
        Command::Import(args) => crate::import::run(args, &options),
        Command::Report(args) => crate::report::run(args, &options),
        Command::Snapshot(args) => crate::snapshot::run(args, &options),
        Command::Sql(args) => crate::sql::run(args),
    })
}

/// Runs `find`, the subcommand at `at`. The words after it are find's own language, which clap
/// cannot read.
fn run_find(mut args: Vec<OsString>, at: usize) -> Result<ExitCode, ExitCode> {
    let words = args.split_off(at + 1);
    let common = if at == 1 {
        CommonArgs::default()
    } else {
        parse::<Cli>(Cli::definition(), args, Usage::Find)?.common
    };
    let options = resolve(&common, Usage::Find)?;
    console::set_program("find");
    Ok(crate::find::run(words, &options))
}

fn resolve(common: &CommonArgs, usage: Usage) -> Result<EngineOptions, ExitCode> {
    EngineOptions::resolve(common).map_err(|error| {
        console::error(error);
        usage.status()
    })
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

/// Parses the words of the subcommand at `at` by a definition of that subcommand alone. To define
/// all subcommands takes longer than to walk a small directory.
///
/// Returns `None` if there are options before the subcommand, for help, and for usage errors: these
/// are for the definition of the whole command line.
fn alone<P: Parser>(args: &[OsString], at: usize) -> Option<P> {
    (at == 1).then(|| P::try_parse_from(&args[at..]).ok())?
}

/// Parses `args` by a definition of the command line. Prints help and version.
fn parse<P: FromArgMatches>(
    mut definition: clap::Command,
    args: Vec<OsString>,
    usage: Usage,
) -> Result<P, ExitCode> {
    let matches = definition.try_get_matches_from_mut(args);
    let parsed = matches.and_then(|matches| {
        P::from_arg_matches(&matches).map_err(|error| error.format(&mut definition))
    });
    let error = match parsed {
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
        (_, Usage::Ours | Usage::Find) => {
            console::error(usage_message(&error.render().to_string()));
            usage.status()
        }
        (_, Usage::Du) => {
            crate::du::usage_error(&error);
            usage.status()
        }
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
mod tests;
