use super::*;
use crate::count::CountArgs;
use crate::du::DuArgs;
use crate::registry::command;
use clap::{ArgMatches, FromArgMatches};
use std::num::NonZeroUsize;

fn parsed(line: &str) -> Result<ArgMatches, clap::Error> {
    definition().try_get_matches_from(line.split(' '))
}

fn common(words: &ArgMatches) -> CommonArgs {
    CommonArgs::from_arg_matches(words).unwrap()
}

/// Returns the arguments of the command of a line.
fn own<A: FromArgMatches>(words: &ArgMatches) -> A {
    A::from_arg_matches(words.subcommand().unwrap().1).unwrap()
}

#[test]
fn the_definitions_hold_together() {
    definition().debug_assert();
    for command in COMMANDS {
        alone(command).debug_assert();
    }
}

#[test]
fn each_help_begins_with_what_the_program_does() {
    let about = |program: &clap::Command| program.get_about().unwrap().to_string();
    assert_eq!(about(&definition()), ABOUT);
    for command in COMMANDS {
        assert_eq!(about(&alone(command)), command.about);
    }
}

#[test]
fn common_options_stand_before_or_after_the_subcommand() {
    for line in [
        "ringwalk --workers 3 --explain count x",
        "ringwalk count --workers=3 x --explain",
    ] {
        let common = common(&parsed(line).unwrap());
        assert_eq!(common.workers, NonZeroUsize::new(3), "{line}");
        assert!(common.explain, "{line}");
    }
}

#[test]
fn du_takes_the_common_options_by_either_name() {
    let du = alone(command("du").unwrap());
    let link = du
        .try_get_matches_from(["du", "-sh", "--workers", "2", "x"])
        .unwrap();
    assert_eq!(common(&link).workers, NonZeroUsize::new(2));
    let words = parsed("ringwalk --workers=2 du -s -h x").unwrap();
    assert_eq!(common(&words).workers, NonZeroUsize::new(2));
    assert_eq!(
        own::<DuArgs>(&words),
        DuArgs::from_arg_matches(&link).unwrap()
    );
}

#[test]
fn an_empty_operand_is_an_operand() {
    let words = parsed("ringwalk count  x").unwrap();
    assert_eq!(own::<CountArgs>(&words).directories, ["", "x"]);
}

#[test]
fn a_bad_value_is_named_with_what_was_expected() {
    let error = parsed("ringwalk count --source rings")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("'rings'") && error.contains("no such source"),
        "{error}"
    );
    let error = parsed("ringwalk --workers 0 count")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("'0'") && error.contains("from 1 to 1024"),
        "{error}"
    );
}

#[test]
fn the_help_lists_every_command_once() {
    let help = definition().render_long_help().to_string();
    let (groups, _) = help.split_once("\nOptions").unwrap();
    for command in COMMANDS {
        let line = format!("\n  {:<9} {}\n", command.name, command.about);
        assert_eq!(groups.matches(&line).count(), 1, "{line}{help}");
    }
    // Clap wraps no text of a template. 80 columns are the width of a usual terminal.
    let mut lines = groups.lines().skip(1);
    assert!(lines.all(|line| line.chars().count() <= 80), "{help}");
    assert!(
        help.contains("\nFind files:\n  find      Search for files"),
        "{help}"
    );
}

#[test]
fn find_knows_the_options_that_stand_before_it() {
    let options = CommonArgs::augment_args(clap::Command::new("x"));
    let names = options.get_arguments().filter_map(Arg::get_long);
    let names: Vec<_> = names.map(|name| format!("--{name}")).collect();
    assert_eq!(names, ringwalk_find::parse::PROGRAM_OPTIONS);
}

#[test]
fn the_help_of_a_command_lists_the_common_options_that_it_takes() {
    let definition = definition();
    let listed = |name: &str| -> Vec<String> {
        let mut subcommand = definition.find_subcommand(name).unwrap().clone();
        let help = subcommand.render_long_help().to_string();
        let options = CommonArgs::augment_args(clap::Command::new("x"));
        let names = options.get_arguments().filter_map(Arg::get_long);
        let listed = names.filter(|name| help.contains(&format!("--{name}")));
        listed.map(str::to_owned).collect()
    };
    let all = [
        "source",
        "workers",
        "in-flight",
        "prefetch",
        "sync",
        "explain",
        "progress",
    ];
    for name in ["count", "diff", "du", "report", "snapshot"] {
        assert_eq!(listed(name), all, "{name}");
    }
    assert_eq!(listed("export"), ["progress"]);
    assert_eq!(listed("import"), ["progress"]);
    assert!(listed("sql").is_empty());
    assert!(parsed("ringwalk export s --format csv --progress never").is_ok());
    assert!(parsed("ringwalk export s --format csv --workers 2").is_err());
}
