//! Unit tests of `man.rs`.

use super::*;
use ringwalk_cli::cli;

fn page() -> String {
    let pages = crate::man::pages(cli::definition()).unwrap();
    let find = pages
        .into_iter()
        .find(|(name, _)| name == "ringwalk-find.1");
    find.unwrap().1.replace("\\-", "-")
}

#[test]
fn every_word_has_its_place() {
    let page = page();
    for entry in entries() {
        for name in entry.names {
            let written = format!("\\fB{name}\\fR");
            assert!(page.contains(&written), "{written}");
        }
    }
}

#[test]
fn every_directive_is_explained() {
    let page = page().replace("\\\\", "\\");
    let terms = page
        .lines()
        .filter_map(|line| line.strip_prefix("\\fB")?.strip_suffix("\\fR"));
    let explained: Vec<_> = terms.flat_map(|names| names.split(", ")).collect();
    for directive in ringwalk_find::format::directives() {
        assert!(explained.contains(&directive.as_str()), "{directive}");
    }
}

#[test]
fn sections_are_in_order() {
    let page = page();
    let mut at = 0;
    for heading in [
        "NAME",
        "SYNOPSIS",
        "DESCRIPTION",
        "OPTIONS",
        "OPERATORS",
        "TESTS",
        "ACTIONS",
        "FORMATS",
        "EXIT STATUS",
        "ENVIRONMENT",
        "DIFFERENCES",
        "EXAMPLES",
        "SEE ALSO",
    ] {
        let wanted = [format!(".SH {heading}\n"), format!(".SH \"{heading}\"\n")];
        let found = wanted.iter().find_map(|wanted| page[at..].find(wanted));
        at += found.unwrap_or_else(|| panic!("{heading} is missing or out of order"));
    }
}
