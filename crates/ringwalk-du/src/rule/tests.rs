use super::*;
use ringwalk::{Fields, Identity};

fn file(mode: u32, nlink: u32) -> Metadata {
    let mut file = Metadata::default();
    file.set_file_type(FileType::from_mode(mode));
    file.set_nlink(nlink);
    file.set_dev(1);
    file.set_ino(7);
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

/// Nothing in a saved tree without numbers of links is known to have a second name.
#[test]
fn a_file_whose_number_of_links_is_not_known_counts_each_time() {
    let mut file = file(REGULAR, 2);
    file.retain(Fields::TYPE | Fields::INO);
    assert_eq!(Rule::new(Follow::Never).charge(&file), Charge::EachTime);
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
