use super::*;
use clap::{CommandFactory, FromArgMatches};
use std::num::NonZeroUsize;

fn parsed(line: &str) -> Result<Cli, clap::Error> {
    let matches = Cli::definition().try_get_matches_from(line.split(' '))?;
    Cli::from_arg_matches(&matches)
}

#[test]
fn the_definition_holds_together() {
    Cli::definition().debug_assert();
    DuLink::command().debug_assert();
}

#[test]
fn common_options_stand_before_or_after_the_subcommand() {
    for line in [
        "ringwalk --workers 3 --explain count x",
        "ringwalk count --workers=3 x --explain",
    ] {
        let cli = parsed(line).unwrap();
        assert_eq!(cli.common.workers, NonZeroUsize::new(3), "{line}");
        assert!(cli.common.explain, "{line}");
    }
}

#[test]
fn du_takes_the_common_options_by_either_name() {
    let link = DuLink::try_parse_from(["du", "-sh", "--workers", "2", "x"]).unwrap();
    assert_eq!(link.common.workers, NonZeroUsize::new(2));
    let cli = parsed("ringwalk --workers=2 du -s -h x").unwrap();
    assert_eq!(cli.common.workers, NonZeroUsize::new(2));
    let Command::Du(du) = cli.command else {
        panic!("not du")
    };
    assert_eq!(du, link.du);
}

#[test]
fn an_empty_operand_is_an_operand() {
    let cli = parsed("ringwalk count  x").unwrap();
    let Command::Count(count) = cli.command else {
        panic!("not count")
    };
    assert_eq!(count.directories, ["", "x"]);
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
fn every_command_is_in_one_group_of_the_help() {
    let definition = Cli::command();
    let mut commands: Vec<_> = definition
        .get_subcommands()
        .map(clap::Command::get_name)
        .chain(["help"])
        .collect();
    let all = GROUPS.iter().flat_map(|(_, names)| *names).copied();
    let mut grouped: Vec<_> = all
        .filter(|name| cfg!(feature = "browse") || *name != "browse")
        .collect();
    commands.sort_unstable();
    grouped.sort_unstable();
    assert_eq!(grouped, commands);
    let help = Cli::definition().render_long_help().to_string();
    let (groups, _) = help.split_once("\nOptions").unwrap();
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
    let definition = Cli::definition();
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
