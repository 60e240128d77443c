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
fn messages_keep_lines_but_no_controls() {
    assert_eq!(
        usage_message("error: bad '\x1b[2J'\nUsage: x\n"),
        "bad '?[2J'\nUsage: x"
    );
}
