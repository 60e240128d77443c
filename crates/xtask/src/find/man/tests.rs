//! Unit tests of `man.rs`.

use super::*;

fn rendered() -> String {
    String::from_utf8(page(&["count".to_owned(), "find".to_owned()]).unwrap()).unwrap()
}

#[test]
fn every_word_has_its_place() {
    let page = rendered();
    for entry in entries() {
        for name in entry.names {
            let written = format!("\\fB{}\\fR", name.replace('-', "\\-"));
            assert!(page.contains(&written), "{written}");
        }
    }
}

#[test]
fn sections_are_in_order() {
    let page = rendered();
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
        "EXAMPLES",
        "DIFFERENCES",
        "SEE ALSO",
    ] {
        let wanted = [format!(".SH {heading}\n"), format!(".SH \"{heading}\"\n")];
        let found = wanted.iter().find_map(|wanted| page[at..].find(wanted));
        at += found.unwrap_or_else(|| panic!("{heading} is missing or out of order"));
    }
}

#[test]
fn paragraphs_items_and_examples() {
    let mut roff = Roff::new();
    paragraphs(
        "First.\n\nSecond.\n* a: b: c\n\nThird.\n\n    find -x",
        &mut roff,
    );
    let text = roff.to_roff();
    for part in [
        "First.\n.PP\nSecond.\n.TP\n\\fBa\\fR\nb: c\n.PP\nThird.",
        ".nf\n\\fBfind \\-x\\fR\n.fi",
    ] {
        assert!(text.contains(part), "{text}");
    }
}
