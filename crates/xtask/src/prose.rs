//! Parts of a man page: its title, text, and examples.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use roff::{Inline, Roff, bold, roman};

/// The beginning of a line of an example.
const EXAMPLE: &str = "    ";

/// Begins a page of this section of the manual.
pub(crate) fn begin(title: &str, section: &str) -> Result<Roff> {
    let mut roff = Roff::new();
    let source = concat!("ringwalk ", env!("CARGO_PKG_VERSION"));
    roff.control("TH", [title, section, &date()?, source, "Ringwalk"]);
    Ok(roff)
}

/// Returns the date of the build: `SOURCE_DATE_EPOCH`, so that a build can be repeated, or today.
fn date() -> Result<String> {
    let seconds = match std::env::var_os("SOURCE_DATE_EPOCH") {
        Some(text) => text
            .to_str()
            .and_then(|text| text.parse().ok())
            .context("SOURCE_DATE_EPOCH is not a number of seconds since 1970")?,
        None => SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs(),
    };
    let days = i64::try_from(seconds / (24 * 60 * 60))?;
    let (year, month, day) = ringwalk_gnu::civil::date(days);
    Ok(format!("{year}-{month:02}-{day:02}"))
}

/// Adds text in this form of Markdown:
///
/// - An empty line ends a paragraph.
/// - A line that begins with `- ` or `* ` begins an item: a term up to the first `: `, and its
///   meaning.
/// - Lines that begin with four blanks are an example.
/// - Text between backticks is bold.
pub(crate) fn paragraphs(roff: &mut Roff, text: &str) {
    let is_item = |line: &str| line.starts_with("- ") || line.starts_with("* ");
    let mut is_first = true;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.is_empty() {
            continue;
        }
        if let Some(example) = line.strip_prefix(EXAMPLE) {
            let mut block = vec![example];
            while let Some(line) = lines.next_if(|line| line.starts_with(EXAMPLE)) {
                block.push(&line[EXAMPLE.len()..]);
            }
            roff.control("IP", []);
            code(roff, block);
            continue;
        }
        let mut text = line.to_owned();
        let goes_on =
            |line: &&str| !(line.is_empty() || is_item(line) || line.starts_with(EXAMPLE));
        while let Some(line) = lines.next_if(goes_on) {
            text = text + " " + line.trim_start();
        }
        if is_item(line) {
            let (term, meaning) = text[2..].split_once(": ").unwrap_or((&text[2..], ""));
            roff.control("TP", []).text([bold(term)]);
            roff.text(words(meaning));
        } else {
            if !is_first {
                roff.control("PP", []);
            }
            roff.text(words(&text));
        }
        is_first = false;
    }
}

/// Returns the text with what stands between backticks, and the names of C and of variables, in
/// bold.
pub(crate) fn words(text: &str) -> Vec<Inline> {
    let mut line = Vec::new();
    let mut plain = String::new();
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            line.extend([roman(std::mem::take(&mut plain)), bold(part)]);
            continue;
        }
        for word in part.split_inclusive(' ') {
            let end = word.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let end = end.unwrap_or(word.len());
            let (name, rest) = word.split_at(end);
            if name.starts_with("ringwalk_") || name.starts_with("RINGWALK_") {
                line.extend([roman(std::mem::take(&mut plain)), bold(name)]);
                plain.push_str(rest);
            } else {
                plain.push_str(word);
            }
        }
    }
    line.push(roman(plain));
    line
}

/// Adds lines of code as they are.
pub(crate) fn code<'l>(roff: &mut Roff, lines: impl IntoIterator<Item = &'l str>) {
    roff.control("nf", []);
    for line in lines {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
}

#[cfg(test)]
mod tests {
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
}
