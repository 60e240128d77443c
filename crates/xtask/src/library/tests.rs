//! Unit tests of `library/`.

use super::*;
use std::collections::BTreeMap;

fn text(page: &str) -> String {
    page.replace("\\-", "-").replace("\\*(Aq", "'")
}

/// Pages that are no links, by file name.
fn real_pages() -> BTreeMap<String, String> {
    let pages = pages().unwrap();
    let real = pages.iter().filter(|(_, page)| !page.starts_with(".so "));
    real.map(|(name, page)| (name.clone(), text(page)))
        .collect()
}

/// The names in the NAME section.
fn names(page: &str) -> Vec<&str> {
    let (_, rest) = page.split_once(".SH NAME\n").unwrap();
    let line = rest.lines().next().unwrap();
    line.split_once(" - ").unwrap().0.split(", ").collect()
}

#[test]
fn each_function_is_in_the_name_section_of_one_page_and_has_a_file() {
    let files: Vec<_> = pages().unwrap().into_iter().map(|(name, _)| name).collect();
    let pages = real_pages();
    let all = declarations(&header::read().unwrap());
    let functions: Vec<_> = all
        .iter()
        .filter(|found| found.is_function())
        .map(|found| found.name().unwrap())
        .collect();
    assert_eq!(functions.len(), 13, "{functions:?}");
    for function in functions {
        let having = pages
            .values()
            .filter(|page| names(page).contains(&function));
        assert_eq!(having.count(), 1, "{function}");
        assert_eq!(
            files
                .iter()
                .filter(|file| **file == format!("{function}.3"))
                .count(),
            1
        );
    }
}

#[test]
fn each_type_and_number_is_on_one_page() {
    for declared in declarations(&header::read().unwrap()) {
        let name = declared.name().unwrap();
        let groups = GROUPS.iter().filter(|group| {
            group.types.contains(&name) && !declared.is_number()
                || declared.is_number() && group.has_number(name)
        });
        let expected = usize::from(!declared.is_function() || name == "ringwalk_summary");
        assert_eq!(groups.count(), expected, "{name}");
    }
}

#[test]
fn a_page_has_all_parts_of_the_comments() {
    let pages = real_pages();
    let open = &pages["ringwalk_open.3"];
    for part in [
        ".SH DESCRIPTION\n.SS ringwalk_open\nOpens a walk.\n",
        ".SH \"RETURN VALUE\"",
        ".TP\n\\fBE2BIG\\fR\n",
        ".SS \"struct ringwalk_options\"",
        ".TP\n\\fBuint32_t fields\\fR\n",
        ".TP\n\\fBRINGWALK_FIELD_PROJECT_ID\\fR\n",
    ] {
        assert!(open.contains(part), "{part} is missing in\n{open}");
    }
    assert!(pages["ringwalk_next_batch.3"].contains(".SH EXAMPLES\n.nf\nstruct ringwalk_options"));
    // Nothing of the header is left out.
    let all: String = pages.into_values().collect();
    let flat = |text: &str| {
        let text = text
            .replace("\\fB", "")
            .replace("\\fR", "")
            .replace("\\&", "");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let all = flat(&all);
    for declared in declarations(&header::read().unwrap()) {
        let members = declared.members();
        for commented in members.iter().chain([&declared]) {
            let lines = commented.comment.join("\n");
            for paragraph in lines.split("\n\n").filter(|text| !text.starts_with("- ")) {
                if paragraph.ends_with(':') {
                    continue;
                }
                let paragraph = flat(paragraph);
                assert!(all.contains(&paragraph), "{paragraph}");
            }
        }
    }
}

#[test]
fn comments_become_paragraphs_and_items() {
    let mut roff = Roff::new();
    let lines = ["One", "two.", "", "- -EINVAL: no", "  value.", "- b: c"];
    paragraphs(&mut roff, &lines.map(str::to_owned));
    let text = text(&roff.to_roff());
    assert!(
        text.ends_with("One two.\n.TP\n\\fBEINVAL\\fR\nno value.\n.TP\n\\fBb\\fR\nc\n"),
        "{text}"
    );
}
