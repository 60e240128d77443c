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
