//! Unit tests of `man.rs`.

use super::*;
use ringwalk_cli::cli::Cli;

fn page_named(name: &str) -> String {
    let pages = pages(Cli::definition()).unwrap();
    let (_, page) = pages
        .into_iter()
        .find(|(file, _)| file == name)
        .expect(name);
    String::from_utf8(page).unwrap()
}

#[test]
fn each_page_has_its_options_and_sections() {
    let count = page_named("ringwalk-count.1");
    for part in [
        "no\\-stat",
        "\\-\\-workers",
        ".SH \"EXIT STATUS\"",
        "elapsed_seconds",
        "RINGWALK_SOURCE",
    ] {
        assert!(count.contains(part), "{part} is missing in\n{count}");
    }
    assert!(page_named("ringwalk-doctor.1").contains("why_not_auto"));
    assert!(page_named("ringwalk.1").contains("ringwalk\\-doctor"));
}

#[test]
fn items_and_paragraphs() {
    let mut out = Vec::new();
    section("X", "First.\n\nSecond.\n* a: b: c", &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(
        text.contains("First.\n.PP\nSecond.\n.TP\n\\fBa\\fR\nb: c"),
        "{text}"
    );
}

#[test]
fn the_page_of_the_program_lists_every_source() {
    let all = crate::sections::of("ringwalk").unwrap();
    let (_, text) = all
        .iter()
        .find(|(heading, _)| *heading == "SOURCES")
        .unwrap();
    for source in ringwalk::SourceChoice::ALL {
        let item = format!("* {source}: {}", source.help());
        assert!(text.contains(&item), "{item} is missing in\n{text}");
    }
}
