use super::*;
use crate::cli::TextFormat;
use std::collections::BTreeSet;

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
    let command = Cli::definition();
    let valued: Vec<_> = command
        .get_arguments()
        .filter(|argument| argument.get_action().takes_values())
        .filter_map(clap::Arg::get_long)
        .map(|name| format!("--{name}"))
        .collect();
    assert_eq!(valued, VALUED);
}

#[test]
fn a_subcommand_has_the_same_options_alone() {
    let whole = Cli::definition();
    for alone in [CountAlone::command(), DuLink::command()] {
        let among_all = whole.find_subcommand(alone.get_name()).unwrap();
        let names = |command: &clap::Command| -> BTreeSet<String> {
            let options = command.get_arguments();
            options.map(|option| option.get_id().to_string()).collect()
        };
        assert_eq!(names(&alone), names(among_all));
        assert!(Lacks::always(alone.get_name()).is_none());
    }
}

#[test]
fn the_whole_definition_makes_messages() {
    let count = |line| alone::<CountAlone>(&args(line), 1);
    let parsed = count("ringwalk count --workers 3 --format json a b").unwrap();
    assert_eq!(parsed.common.workers.unwrap().get(), 3);
    assert!(parsed.count.output.format == TextFormat::Json);
    assert_eq!(parsed.count.directories, ["a", "b"]);
    assert!(count("ringwalk count --help").is_none());
    assert!(count("ringwalk count --workers none").is_none());
    assert!(alone::<CountAlone>(&args("ringwalk --sync count"), 2).is_none());
}

#[test]
fn messages_keep_lines_but_no_controls() {
    assert_eq!(
        usage_message("error: bad '\x1b[2J'\nUsage: x\n"),
        "bad '?[2J'\nUsage: x"
    );
}
