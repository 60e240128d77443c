//! Comments of the header as text of a man page.

use clap_mangen::roff::{Inline, Roff, bold, roman};

/// Adds paragraphs. A line that begins with `- ` begins an item: a term up to the first `: `, and
/// its meaning.
pub(super) fn paragraphs(roff: &mut Roff, lines: &[String]) {
    let mut text = String::new();
    let mut is_first = true;
    let mut flush = |text: &mut String| {
        if text.is_empty() {
            return;
        }
        if let Some((term, meaning)) = item(text) {
            roff.control("TP", []);
            roff.text([bold(term)]);
            roff.text(words(meaning));
        } else {
            if !is_first {
                roff.control("PP", []);
            }
            roff.text(words(text));
        }
        is_first = false;
        text.clear();
    };
    for line in lines {
        if line.is_empty() || line.starts_with("- ") {
            flush(&mut text);
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(line.trim());
    }
    flush(&mut text);
}

/// Returns the term and the meaning of an item. Terms are terms of C; an error code has its sign in
/// the header only.
fn item(text: &str) -> Option<(&str, &str)> {
    let (term, meaning) = text.strip_prefix("- ")?.split_once(": ")?;
    Some((term.strip_prefix('-').unwrap_or(term), meaning))
}

/// Returns the text with the names of C in bold.
pub(super) fn words(text: &str) -> Vec<Inline> {
    let mut line = Vec::new();
    let mut plain = String::new();
    for word in text.split_inclusive(' ') {
        let end = word
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(word.len());
        let (name, rest) = word.split_at(end);
        if name.starts_with("ringwalk_") || name.starts_with("RINGWALK_") {
            line.push(roman(std::mem::take(&mut plain)));
            line.push(bold(name));
            plain.push_str(rest);
        } else {
            plain.push_str(word);
        }
    }
    line.push(roman(plain));
    line
}

/// Adds lines of C as they are.
pub(super) fn code<'l>(roff: &mut Roff, lines: impl IntoIterator<Item = &'l str>) {
    roff.control("nf", []);
    for line in lines {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
}
