use super::*;
use ringwalk::{Fields, Identity};

fn file(mode: u32, nlink: u32) -> Metadata {
    let mut file = Metadata::of_path(None, ".", false, Fields::empty()).unwrap();
    (file.mode, file.nlink, file.dev, file.ino) = (mode, nlink, 1, 7);
    file
}

const REGULAR: u32 = 0o100_644;
const DIRECTORY: u32 = 0o040_755;

#[test]
fn a_file_with_several_names_counts_once() {
    let rule = Rule::new(Follow::Never);
    assert_eq!(rule.charge(&file(REGULAR, 1)), Charge::EachTime);
    assert_eq!(rule.charge(&file(REGULAR, 2)), Charge::Once);
    assert_eq!(rule.times(&file(REGULAR, 3)), 1);
    assert_eq!(rule.charge(&file(DIRECTORY, 9)), Charge::EachTime);
    assert_eq!(rule.times(&file(DIRECTORY, 9)), 1);
}

#[test]
fn with_count_links_each_name_counts() {
    let rule = Rule::new(Follow::Always)
        .several_operands(true)
        .count_links(true);
    for mode in [REGULAR, DIRECTORY] {
        assert_eq!(rule.charge(&file(mode, 3)), Charge::EachTime);
    }
    assert_eq!(rule.times(&file(REGULAR, 3)), 3);
    assert_eq!(rule.times(&file(DIRECTORY, 3)), 1);
    assert!(!rule.directories_count_once() && !rule.compares_at_entry());
}

#[test]
fn followed_links_reach_everything_again() {
    let rule = Rule::new(Follow::Always);
    for mode in [REGULAR, DIRECTORY] {
        assert_eq!(rule.charge(&file(mode, 1)), Charge::Once);
    }
    assert!(rule.directories_count_once() && rule.compares_at_entry());
    let rule = Rule::new(Follow::CommandLine);
    assert_eq!(rule.charge(&file(REGULAR, 1)), Charge::EachTime);
}

#[test]
fn operands_reach_directories_and_operands_again() {
    let mut rule = Rule::new(Follow::Never).several_operands(true);
    assert_eq!(rule.charge(&file(DIRECTORY, 2)), Charge::Once);
    assert_eq!(rule.charge(&file(REGULAR, 1)), Charge::EachTime);
    rule.operand_files.insert(Identity { dev: 1, ino: 7 });
    assert_eq!(rule.charge(&file(REGULAR, 1)), Charge::Once);
    assert!(rule.directories_count_once() && !rule.compares_at_entry());
}
