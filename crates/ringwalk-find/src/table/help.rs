//! Help texts that are made from the table.

use super::{Entry, Kind, LeadingWord, Meaning, entries};
use std::fmt::Write;

/// The columns of a line.
const WIDTH: usize = 79;

/// Returns the text of `-help`. `program` is the name by which the user called it.
pub fn help(program: &str) -> String {
    let mut text = format!(
        "Usage: {program} [-H] [-L] [-P] [-D WHAT] [-OLEVEL] [--from SNAP] [STARTING-POINT...] [EXPRESSION]\n\n\
Searches the directory trees that begin at the starting points (. if there is none) for files for which\n\
the expression is true (-print if there is none).\n"
    );
    for (heading, kind) in [
        (
            "Operators, tightest first (-a may be left out)",
            Kind::Operator,
        ),
        ("Options for what comes after them", Kind::Positional),
        ("Options for the whole search", Kind::Global),
        ("Tests (N: also +N, more, and -N, less)", Kind::Test),
        ("Actions", Kind::Action),
    ] {
        let _ = writeln!(text, "\n{heading}:");
        let words = entries()
            // The parenthesis that closes is an argument of the one that opens.
            .filter(|entry| entry.kind() == kind && entry.names != [")"])
            .flat_map(usages);
        fill(words, &mut text);
    }
    text
}

/// Returns the usage of an entry, for each of its names.
fn usages(entry: &'static Entry) -> impl Iterator<Item = String> {
    entry.names.iter().map(|name| {
        let mut usage = (*name).to_owned();
        for argument in entry.arguments {
            usage.push(' ');
            usage.push_str(argument);
        }
        usage
    })
}

/// Writes words into lines, with two spaces between words.
fn fill(words: impl Iterator<Item = String>, out: &mut String) {
    let mut column = 0;
    for word in words {
        if column > 0 && column + 2 + word.len() > WIDTH {
            out.push('\n');
            column = 0;
        }
        out.push_str("  ");
        out.push_str(&word);
        column += 2 + word.len();
    }
    out.push('\n');
}

/// Returns the text of `-D help`.
pub fn debug_help() -> String {
    let mut help = String::from("Valid arguments for -D:\n");
    for (name, meaning) in debug_words() {
        let _ = writeln!(help, "{name:<10} {meaning}");
    }
    help
}

/// Returns the words of `-D` with their meanings, as the manual lists them.
pub(super) fn debug_words() -> impl Iterator<Item = (&'static str, &'static str)> {
    super::leading::ENTRIES
        .iter()
        .filter(|entry| entry.meaning == Meaning::Leading(LeadingWord::Debug))
        .flat_map(|entry| entry.text.lines())
        .filter_map(|line| line.strip_prefix("* ")?.split_once(": "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::Debug;

    #[test]
    fn every_word_is_in_the_help() {
        let text = help("find");
        for entry in entries().filter(|entry| entry.kind() != Kind::Leading) {
            for name in entry.names {
                assert!(
                    text.contains(&format!("  {name}")) || *name == ")",
                    "{name} is missing in\n{text}"
                );
            }
        }
        assert!(text.contains("  ( EXPRESSION )  !") && !text.contains(")  )"));
        assert!(
            text.lines().skip(5).all(|line| line.len() <= WIDTH),
            "{text}"
        );
    }

    #[test]
    fn every_debug_word_is_explained() {
        let text = debug_help();
        let mut expected: Vec<String> = Debug::all().iter().map(Debug::word).collect();
        expected.extend(["all".to_owned(), "help".to_owned()]);
        let words: Vec<_> = debug_words().map(|(word, _)| word).collect();
        assert_eq!(words, expected);
        for word in words {
            assert!(
                text.contains(&format!("\n{word:<10} ")),
                "{word} is missing in\n{text}"
            );
        }
    }
}
