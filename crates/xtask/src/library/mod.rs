//! Man pages of section 3 for the C library, made from the comments in `ringwalk.h`.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | which page describes what, and the sections of a page |
//! | `declarations.rs` | the declarations of the header with their comments |

mod declarations;

use crate::header;
use crate::prose::{self, code, words};
use anyhow::{Context, Result};
use declarations::{Declaration, declarations};
use roff::{Roff, bold, roman};

const INTRODUCTION: &str = include_str!("../header_introduction.h");

/// A page for a group of functions.
struct Group {
    /// What the functions do, for the NAME section.
    purpose: &'static str,
    /// The functions; the page has the name of the first.
    functions: &'static [&'static str],
    /// Structs and types.
    types: &'static [&'static str],
    /// Numbers, by the beginnings of their names behind `RINGWALK_`.
    numbers: &'static [&'static str],
}

const GROUPS: [Group; 6] = [
    Group {
        purpose: "open, cancel and close a walk of directory trees",
        functions: &["ringwalk_open", "ringwalk_cancel", "ringwalk_close"],
        types: &["ringwalk_options"],
        numbers: &[
            "FIELD_",
            "FLAG_",
            "FOLLOW_",
            "STAY_",
            "ORDER_",
            "PREFETCH_",
            "ROOTS_ONLY",
        ],
    },
    Group {
        purpose: "read a walk of directory trees in batches of entries",
        functions: &["ringwalk_next_batch", "ringwalk_release", "ringwalk_path"],
        types: &[
            "ringwalk_batch",
            "ringwalk_entry",
            "ringwalk_metadata",
            "ringwalk_timestamp",
            "ringwalk_error",
        ],
        numbers: &[
            "ENTRIES", "ERROR", "TYPE_", "FOLLOWED", "STAT", "OPEN", "READ", "LOOP", "VANISHED",
        ],
    },
    Group {
        purpose: "run a walk of directory trees with a callback",
        functions: &[
            "ringwalk_run",
            "ringwalk_visit_descriptor",
            "ringwalk_visit_prune",
            "ringwalk_visit_worker",
        ],
        types: &["ringwalk_visitor"],
        numbers: &["LEAVE", "CONTINUE", "PRUNE", "STOP"],
    },
    Group {
        purpose: "get the summary of a walk of directory trees",
        functions: &["ringwalk_summary"],
        types: &["ringwalk_summary"],
        numbers: &[],
    },
    Group {
        purpose: "get what a walk of directory trees has left over when its budget was spent",
        functions: &["ringwalk_leftovers"],
        types: &["ringwalk_leftover"],
        numbers: &["UNOPENED"],
    },
    Group {
        purpose: "get the version of the Ringwalk library",
        functions: &["ringwalk_version"],
        types: &[],
        numbers: &[],
    },
];

impl Group {
    fn title(&self) -> &'static str {
        self.functions[0]
    }

    /// Returns true if the page describes this number. A name that ends with an underscore is the
    /// beginning of several.
    fn has_number(&self, name: &str) -> bool {
        let name = name.strip_prefix("RINGWALK_").unwrap_or(name);
        self.numbers.iter().any(|known| {
            let is_beginning = known.ends_with('_') && name.starts_with(known);
            is_beginning || name == *known
        })
    }
}

/// Returns the pages by file name: one for the library, one for each group of functions, and one
/// that leads from each other function to the page of its group.
pub(crate) fn pages() -> Result<Vec<(String, String)>> {
    let all = declarations(&header::read()?);
    let mut pages = vec![("ringwalk.3".to_owned(), overview()?)];
    for group in &GROUPS {
        let title = group.title();
        pages.push((format!("{title}.3"), page(group, &all)?));
        for name in &group.functions[1..] {
            let link = format!(".so man3/{title}.3\n");
            pages.push((format!("{name}.3"), link));
        }
    }
    Ok(pages)
}

fn begin(title: &str, names: &[&str], purpose: &str) -> Result<Roff> {
    let mut roff = prose::begin(title, "3")?;
    // Names of C must not be hyphenated.
    roff.control("nh", []);
    roff.control("SH", ["NAME"]);
    roff.text([roman(format!("{} - {purpose}", names.join(", ")))]);
    roff.control("SH", ["LIBRARY"]);
    roff.text([
        roman("Ringwalk library ("),
        bold("libringwalk"),
        roman(", "),
        bold("-lringwalk"),
        roman(")"),
    ]);
    roff.control("SH", ["SYNOPSIS"]);
    Ok(roff)
}

/// Adds the lines of a comment. An error code has its sign in the header only.
fn paragraphs(roff: &mut Roff, lines: &[String]) {
    prose::paragraphs(roff, &lines.join("\n").replace("- -E", "- E"));
}

fn page(group: &Group, all: &[Declaration]) -> Result<String> {
    let function = |name: &&str| {
        let found = all
            .iter()
            .find(|found| found.is_function() && found.name() == Some(*name));
        found.with_context(|| format!("ringwalk.h does not declare {name}"))
    };
    let functions: Vec<_> = group
        .functions
        .iter()
        .map(function)
        .collect::<Result<_>>()?;
    let mut roff = begin(group.title(), group.functions, group.purpose)?;
    let prototypes = functions.iter().flat_map(|function| &function.code);
    code(
        &mut roff,
        std::iter::once("#include <ringwalk.h>").chain(prototypes.map(String::as_str)),
    );
    for (heading, part) in [
        ("DESCRIPTION", None),
        ("RETURN VALUE", Some("Return value")),
        ("ERRORS", Some("Errors")),
        ("CAVEATS", Some("The caller must ensure")),
    ] {
        section(&mut roff, heading, part, &functions);
    }
    types(&mut roff, group, all)?;
    numbers(&mut roff, group, all);
    if group.title() == "ringwalk_next_batch" {
        example(&mut roff);
    }
    see_also(&mut roff, group.title());
    Ok(roff.render())
}

/// The same part of the comments of all functions.
fn section(roff: &mut Roff, heading: &str, part: Option<&str>, functions: &[&Declaration]) {
    let parts = functions.iter().map(|function| function.part(part));
    if parts.clone().all(<[String]>::is_empty) {
        return;
    }
    roff.control("SH", [heading]);
    if part == Some("The caller must ensure") {
        roff.text([roman(
            "The library cannot check what follows. The caller must ensure it.",
        )]);
    }
    for (function, lines) in functions.iter().zip(parts) {
        if lines.is_empty() {
            continue;
        }
        if functions.len() > 1 {
            roff.control("SS", [function.name().unwrap_or_default()]);
        }
        paragraphs(roff, lines);
    }
}

fn types(roff: &mut Roff, group: &Group, all: &[Declaration]) -> Result<()> {
    if group.types.is_empty() {
        return Ok(());
    }
    roff.control("SH", ["TYPES"]);
    for name in group.types {
        let found = all
            .iter()
            .find(|found| !found.is_function() && found.name() == Some(*name));
        let found = found.with_context(|| format!("ringwalk.h has no type {name}"))?;
        let is_struct = found.code[0].starts_with("struct ");
        roff.control(
            "SS",
            [if is_struct {
                format!("struct {name}")
            } else {
                (*name).to_owned()
            }
            .as_str()],
        );
        paragraphs(roff, &found.comment);
        if !is_struct {
            code(roff, found.code.iter().map(String::as_str));
        }
        for member in found.members() {
            let declared = member.code.join(" ");
            roff.control("TP", []);
            roff.text([bold(declared.trim_end_matches(';'))]);
            roff.text(words(&member.comment.join(" ")));
        }
    }
    Ok(())
}

fn numbers(roff: &mut Roff, group: &Group, all: &[Declaration]) {
    let numbers: Vec<_> = all
        .iter()
        .filter(|found| {
            found.is_number() && found.name().is_some_and(|name| group.has_number(name))
        })
        .collect();
    if numbers.is_empty() {
        return;
    }
    roff.control("SH", ["CONSTANTS"]);
    for number in numbers {
        roff.control("TP", []);
        roff.text([bold(number.name().unwrap_or_default())]);
        roff.text(words(&number.comment.join(" ")));
    }
}

/// The introduction of the header: what the library does, and what holds for all functions.
fn introduction() -> Vec<String> {
    let lines = INTRODUCTION.lines().map(|line| {
        let text = line.trim_start_matches('/');
        text.strip_prefix(' ').unwrap_or(text).to_owned()
    });
    // The first paragraph says how the file is made.
    lines.skip_while(|line| !line.is_empty()).skip(1).collect()
}

fn is_code(line: &str) -> bool {
    line.starts_with("    ")
}

fn overview() -> Result<String> {
    let mut roff = begin(
        "ringwalk",
        &["ringwalk"],
        "library that reads directory trees",
    )?;
    code(&mut roff, std::iter::once("#include <ringwalk.h>"));
    roff.control("SH", ["DESCRIPTION"]);
    let mut text: Vec<_> = introduction();
    text.retain(|line| !is_code(line));
    paragraphs(&mut roff, &text);
    example(&mut roff);
    see_also(&mut roff, "ringwalk");
    Ok(roff.render())
}

/// The example in the introduction of the header.
fn example(roff: &mut Roff) {
    let lines = introduction();
    let begin = lines
        .iter()
        .position(|line| is_code(line))
        .unwrap_or(lines.len());
    let end = lines
        .iter()
        .rposition(|line| is_code(line))
        .map_or(begin, |last| last + 1);
    roff.control("SH", ["EXAMPLES"]);
    let example = lines[begin..end].iter();
    code(
        roff,
        example.map(|line| line.strip_prefix("    ").unwrap_or(line)),
    );
}

fn see_also(roff: &mut Roff, title: &str) {
    let titles = std::iter::once("ringwalk").chain(GROUPS.iter().map(Group::title));
    let mut line = Vec::new();
    for other in titles.filter(|other| *other != title) {
        line.extend([bold(other), roman("(3), ")]);
    }
    line.extend([
        bold("ringwalk"),
        roman("(1), "),
        bold("statx"),
        roman("(2)"),
    ]);
    roff.control("SH", ["SEE ALSO"]).text(line);
}

#[cfg(test)]
mod tests;
