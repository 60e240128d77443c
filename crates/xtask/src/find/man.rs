//! The man page of `ringwalk find`.

use anyhow::Result;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};
use ringwalk_find::table::{Entry, Kind, Origin, entries};

use super::text;

/// Returns the page. `subcommands` are the subcommands of the program.
pub(crate) fn page(subcommands: &[String]) -> Result<Vec<u8>> {
    let mut roff = Roff::new();
    let version = concat!("ringwalk ", env!("CARGO_PKG_VERSION"));
    roff.control("TH", ["RINGWALK-FIND", "1", "", version, "Ringwalk"]);
    roff.control("SH", ["NAME"]);
    roff.text([roman(
        "ringwalk-find - search for files in directory trees, as GNU find does",
    )]);
    synopsis(&mut roff);
    for (heading, text) in text::BEFORE {
        section(heading, text, &mut roff);
    }
    for (heading, kind, text) in text::KINDS {
        section(heading, text, &mut roff);
        for entry in entries().filter(|entry| entry.kind() == *kind) {
            word(entry, &mut roff);
        }
    }
    for (heading, text) in text::AFTER {
        section(heading, text, &mut roff);
    }
    see_also(subcommands, &mut roff);
    let mut out = Vec::new();
    roff.to_writer(&mut out)?;
    Ok(out)
}

fn synopsis(roff: &mut Roff) {
    roff.control("SH", ["SYNOPSIS"]);
    let mut line = vec![
        bold("ringwalk"),
        roman(" ["),
        italic("OPTION"),
        roman("...] "),
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
    for part in ["STARTING-POINT", "EXPRESSION"] {
        line.extend([
            roman(" ["),
            italic(part),
            roman(if part == "EXPRESSION" { "]" } else { "...]" }),
        ]);
    }
    roff.text(line);
}

fn section(heading: &str, text: &str, roff: &mut Roff) {
    roff.control("SH", [heading]);
    paragraphs(text, roff);
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
    paragraphs(entry.text, roff);
    roff.control("RE", []);
}

/// Writes paragraphs, which empty lines separate. A line `* TERM: MEANING` is an item; a line that
/// begins with four blanks is an example.
fn paragraphs(text: &str, roff: &mut Roff) {
    let mut after_gap = false;
    for line in text.trim_end().lines() {
        if let Some(item) = line.strip_prefix("* ") {
            let (term, meaning) = item.split_once(": ").unwrap_or((item, ""));
            roff.control("TP", [])
                .text([bold(term)])
                .text([roman(meaning)]);
        } else if let Some(example) = line.strip_prefix("    ") {
            roff.control("RS", ["4"]).control("nf", []);
            roff.text([bold(example)]);
            roff.control("fi", []).control("RE", []);
        } else if !line.is_empty() {
            if after_gap {
                roff.control("PP", []);
            }
            roff.text([roman(line)]);
        }
        after_gap = line.is_empty();
    }
}

fn see_also(subcommands: &[String], roff: &mut Roff) {
    roff.control("SH", ["SEE ALSO"]);
    let mut line = vec![bold("ringwalk"), roman("(1)")];
    for name in subcommands.iter().filter(|name| *name != "find") {
        line.extend([roman(", "), bold(format!("ringwalk-{name}")), roman("(1)")]);
    }
    for (name, section) in [
        ("find", 1),
        ("xargs", 1),
        ("fnmatch", 3),
        ("strftime", 3),
        ("regex", 7),
    ] {
        line.extend([roman(", "), bold(name), roman(format!("({section})"))]);
    }
    roff.text(line);
}

#[cfg(test)]
mod tests;
