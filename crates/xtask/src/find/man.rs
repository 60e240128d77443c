//! What the man page of `ringwalk find` has from the table of words.

use ringwalk_find::table::{Entry, Kind, Origin, entries};
use roff::{Inline, Roff, bold, italic, roman};

use crate::prose::paragraphs;

/// The sections of words.
const KINDS: [(&str, Kind); 6] = [
    ("OPTIONS", Kind::Leading),
    ("OPERATORS", Kind::Operator),
    ("POSITIONAL OPTIONS", Kind::Positional),
    ("GLOBAL OPTIONS", Kind::Global),
    ("TESTS", Kind::Test),
    ("ACTIONS", Kind::Action),
];

/// Returns the synopsis.
pub(crate) fn synopsis() -> Vec<Inline> {
    let mut line = vec![
        bold("ringwalk"),
        roman(" ["),
        italic("COMMON OPTION"),
        roman("]... "),
        bold("find"),
    ];
    for entry in entries().filter(|entry| entry.kind() == Kind::Leading) {
        line.extend([roman(" ["), bold(entry.names[0])]);
        let space = if entry.joins_argument() { "" } else { " " };
        for argument in entry.arguments {
            line.extend([roman(space), italic(*argument)]);
        }
        line.push(roman("]"));
    }
    line.extend([roman(" ["), italic("STARTING-POINT"), roman("]...")]);
    line.extend([roman(" ["), italic("EXPRESSION"), roman("]")]);
    line
}

/// Adds the words of the section with this heading, if it has any.
pub(crate) fn words(heading: &str, roff: &mut Roff) {
    let kinds = KINDS.iter().filter(|(of, _)| *of == heading);
    for (_, kind) in kinds {
        for entry in entries().filter(|entry| entry.kind() == *kind) {
            word(entry, roff);
        }
    }
}

/// Writes an entry: its names with their arguments, then its description.
fn word(entry: &Entry, roff: &mut Roff) {
    let mut term: Vec<Inline> = Vec::new();
    for name in entry.names {
        if !term.is_empty() {
            term.push(roman(", "));
        }
        term.push(bold(*name));
        let space = if entry.joins_argument() { "" } else { " " };
        for argument in entry.arguments {
            let is_name = argument.starts_with(char::is_uppercase);
            term.push(roman(space));
            term.push(if is_name {
                italic(*argument)
            } else {
                bold(*argument)
            });
        }
    }
    if let Some(note) = match entry.origin {
        Origin::Posix => None,
        Origin::Gnu => Some(" (GNU)"),
        Origin::Bfs => Some(" (bfs)"),
        Origin::Ringwalk => Some(" (ringwalk)"),
    } {
        term.push(roman(note));
    }
    roff.control("TP", []).text(term);
    roff.control("RS", []);
    paragraphs(roff, entry.text);
    roff.control("RE", []);
}

#[cfg(test)]
mod tests {
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
}
