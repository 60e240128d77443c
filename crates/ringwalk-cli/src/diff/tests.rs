use super::*;
use crate::cli::alone;
use crate::registry::command;
use clap::FromArgMatches as _;

fn parse(words: &[&str]) -> Result<DiffArgs, clap::Error> {
    let words = ["diff", "a", "b"].iter().chain(words);
    let matches = alone(command("diff").unwrap()).try_get_matches_from(words)?;
    DiffArgs::from_arg_matches(&matches)
}

#[test]
fn groups_follow_from_the_options() {
    assert_eq!(by(&parse(&[]).unwrap()), None);
    let depth = |words| by(&parse(words).unwrap());
    assert_eq!(depth(&["--by", "dir"]), Some(By::Directory { depth: 1 }));
    assert_eq!(
        depth(&["--by=dir", "--depth=0"]),
        Some(By::Directory { depth: 0 })
    );
    assert_eq!(depth(&["--by", "owner"]), Some(By::Owner));
    assert_eq!(depth(&["--by", "ext"]), Some(By::Extension));
}

#[test]
fn wrong_words_are_refused() {
    let wrong: [&[&str]; 4] = [
        &["--by", "size"],
        &["--renames", "name"],
        &["--top", "0"],
        &["--format", "csv"],
    ];
    for words in wrong {
        assert!(parse(words).is_err(), "{words:?}");
    }
}
