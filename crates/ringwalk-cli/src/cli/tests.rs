use super::*;
use clap::CommandFactory;

#[test]
fn the_definition_holds_together() {
    Cli::command().debug_assert();
    DuLink::command().debug_assert();
}

#[test]
fn common_options_stand_before_or_after_the_subcommand() {
    for line in [
        "ringwalk --workers 3 --explain count x",
        "ringwalk count --workers=3 x --explain",
    ] {
        let cli = Cli::try_parse_from(line.split(' ')).unwrap();
        assert_eq!(cli.common.workers, NonZeroUsize::new(3), "{line}");
        assert!(cli.common.explain, "{line}");
    }
}

#[test]
fn du_takes_the_common_options_by_either_name() {
    let link = DuLink::try_parse_from(["du", "-sh", "--workers", "2", "x"]).unwrap();
    assert_eq!(link.common.workers, NonZeroUsize::new(2));
    let cli = Cli::try_parse_from(["ringwalk", "--workers=2", "du", "-s", "-h", "x"]).unwrap();
    assert_eq!(cli.common.workers, NonZeroUsize::new(2));
    let Command::Du(du) = cli.command else {
        panic!("not du")
    };
    assert_eq!(du, link.du);
}

#[test]
fn an_empty_operand_is_an_operand() {
    let cli = Cli::try_parse_from(["ringwalk", "count", "", "x"]).unwrap();
    let Command::Count(count) = cli.command else {
        panic!("not count")
    };
    assert_eq!(count.directories, ["", "x"]);
}

#[test]
fn a_bad_value_is_named_with_what_was_expected() {
    let error = Cli::try_parse_from(["ringwalk", "count", "--source", "rings"])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("'rings'") && error.contains("no such source"),
        "{error}"
    );
    let error = Cli::try_parse_from(["ringwalk", "--workers", "0", "count"])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("'0'") && error.contains("from 1 to 1024"),
        "{error}"
    );
}
