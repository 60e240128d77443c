//! Texts that are made from the table.

use super::{Entry, Kind, entries};
use std::fmt::Write;

/// Columns of a line.
const WIDTH: usize = 79;

/// The text of `-help`; `program` is what the user called.
pub fn help(program: &str) -> String {
    let mut text = format!(
        "Usage: {program} [-H] [-L] [-P] [-D WHAT] [-OLEVEL] [STARTING-POINT...] [EXPRESSION]\n\n\
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
            .filter(|entry| entry.kind == kind)
            .flat_map(usages);
        fill(words, &mut text);
    }
    text
}

/// How an entry is used, by each of its names.
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

/// Writes words into lines, two spaces between them.
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

/// The text of `-D help`.
pub fn debug_help() -> String {
    let text = super::leading::ENTRIES
        .iter()
        .find(|entry| entry.word == super::Word::Debug)
        .map_or("", |entry| entry.text);
    let mut help = String::from("Valid arguments for -D:\n");
    for item in text.lines().filter_map(|line| line.strip_prefix("* ")) {
        if let Some((name, meaning)) = item.split_once(": ") {
            let _ = writeln!(help, "{name:<10} {meaning}");
        }
    }
    help
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn every_word_is_in_the_help() {
        let text = help("find");
        for entry in entries().filter(|entry| entry.kind != Kind::Leading) {
            for name in entry.names {
                assert!(
                    text.contains(&format!("  {name}")),
                    "{name} is missing in\n{text}"
                );
            }
        }
        assert!(
            text.lines().skip(5).all(|line| line.len() <= WIDTH),
            "{text}"
        );
    }

    #[test]
    fn every_debug_word_is_explained() {
        let text = debug_help();
        for word in [
            "exec", "opt", "rates", "search", "stat", "time", "tree", "all", "help",
        ] {
            assert!(
                text.contains(&format!("\n{word:<10} ")),
                "{word} is missing in\n{text}"
            );
        }
    }
}
