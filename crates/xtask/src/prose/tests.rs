//! Unit tests of `prose.rs`.

use super::*;

fn written(text: &str) -> String {
    let mut roff = Roff::new();
    paragraphs(&mut roff, text);
    roff.to_roff()
}

#[test]
fn lines_become_paragraphs_and_items() {
    assert_eq!(
        written("One\ntwo.\n\nThree.\n- a: b:\n  c\n* d\n\nFour.\n"),
        "One two.\n.PP\nThree.\n.TP\n\\fBa\\fR\nb: c\n.TP\n\\fBd\\fR\n\n.PP\nFour.\n"
    );
}

#[test]
fn examples_keep_their_lines() {
    assert_eq!(
        written("Run:\n\n    find -x\n      y\n\nThen.\n"),
        "Run:\n.IP\n.nf\nfind \\-x\n  y\n.fi\n.PP\nThen.\n"
    );
}

#[test]
fn code_and_names_are_bold() {
    assert_eq!(
        written("See `a b`, RINGWALK_SYNC and ringwalk_open(3)."),
        "See \\fBa b\\fR, \\fBRINGWALK_SYNC\\fR and \\fBringwalk_open\\fR(3).\n"
    );
}

#[test]
fn a_title_has_the_date_before_the_version() {
    let title = begin("X", "1").unwrap().to_roff();
    let [_, _, _, date, source, ..] = title.split(' ').collect::<Vec<_>>()[..] else {
        panic!("{title}")
    };
    let lengths: Vec<_> = date.split('-').map(str::len).collect();
    assert_eq!((&lengths[..], source), (&[4, 2, 2][..], "\"ringwalk"));
}
