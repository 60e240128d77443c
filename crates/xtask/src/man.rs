//! Man pages of the program: one for it, one for each subcommand.

use std::io::Write;

use anyhow::Result;
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::sections;

/// Returns the pages by file name.
pub(crate) fn pages(mut command: Command) -> Result<Vec<(String, Vec<u8>)>> {
    // `build` gives the subcommands the common options; `help` has no page.
    command = command.disable_help_subcommand(true);
    command.build();
    let subcommands = command.get_subcommands();
    let names: Vec<String> = subcommands
        .map(|subcommand| subcommand.get_name().to_owned())
        .collect();
    let mut pages = vec![(
        "ringwalk.1".to_owned(),
        page(command.clone(), "ringwalk", &names)?,
    )];
    for name in &names {
        let Some(subcommand) = command.find_subcommand(name) else {
            continue;
        };
        let title = format!("ringwalk-{name}");
        if name == "find" {
            pages.push((format!("{title}.1"), crate::find::page(&names)?));
            continue;
        }
        let subcommand = subcommand.clone().version(env!("CARGO_PKG_VERSION"));
        pages.push((format!("{title}.1"), page(subcommand, &title, &names)?));
    }
    Ok(pages)
}

fn page(command: Command, title: &str, subcommands: &[String]) -> Result<Vec<u8>> {
    let has_subcommands = command.has_subcommands();
    let man = Man::new(command)
        .title(title.to_uppercase())
        .manual("Ringwalk")
        .source(concat!("ringwalk ", env!("CARGO_PKG_VERSION")));
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    if has_subcommands {
        man.render_subcommands_section(&mut out)?;
    }
    for (heading, text) in sections::of(title)? {
        section(heading, &text, &mut out)?;
    }
    see_also(title, subcommands, &mut out)?;
    Ok(out)
}

/// Writes a section of paragraphs. A line that begins with `* ` is an item: a term up to the first
/// `: `, then its meaning.
fn section(heading: &str, text: &str, out: &mut impl Write) -> Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", [heading]);
    for paragraph in text.trim().lines() {
        match paragraph
            .strip_prefix("* ")
            .and_then(|item| item.split_once(": "))
        {
            Some((term, meaning)) => {
                roff.control("TP", [])
                    .text([bold(term)])
                    .text([roman(meaning)]);
            }
            None if paragraph.is_empty() => {
                roff.control("PP", []);
            }
            None => {
                roff.text([roman(paragraph)]);
            }
        }
    }
    roff.to_writer(out)?;
    Ok(())
}

fn see_also(title: &str, subcommands: &[String], out: &mut impl Write) -> Result<()> {
    let pages = std::iter::once("ringwalk".to_owned())
        .chain(subcommands.iter().map(|name| format!("ringwalk-{name}")));
    let mut line = Vec::new();
    for other in pages.filter(|page| page != title) {
        if !line.is_empty() {
            line.push(roman(", "));
        }
        line.extend([bold(other), roman("(1)")]);
    }
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"]).text(line);
    roff.to_writer(out)?;
    Ok(())
}

#[cfg(test)]
mod tests;
