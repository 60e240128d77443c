//! Man pages of the program: one for it, one for each subcommand.
//!
//! Synopsis and options come from the definition of the command line. The other sections are in a
//! file `man.md` beside the code of each command, in the Markdown that [`paragraphs`] reads. These
//! words are replaced there:
//!
//! - `{variables}`: the variables of the environment that give options of the command.
//! - `{commands}`: the pages of the commands, from their registry.
//! - `{sources}`: the sources, from the registry of the engine.
//! - `{keys}`: the keys of the browser, from its own table.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::builder::PossibleValue;
use clap::{Arg, Command};
use ringwalk::{SourceChoice, SourceNeeds};
use ringwalk_browse::keys::{Place, Section, TABLE};
use ringwalk_cli::registry::COMMANDS;
use roff::{Inline, Roff, bold, italic, roman};

use crate::find;
use crate::prose::{begin, paragraphs, words};

/// Returns the pages by file name.
pub(crate) fn pages(mut command: Command) -> Result<Vec<(String, String)>> {
    // `build` gives the subcommands the common options; `help` has no page.
    command = command.disable_help_subcommand(true);
    command.build();
    let subcommands = command.get_subcommands();
    let subpages = subcommands.map(|subcommand| {
        let name = subcommand.get_name();
        page(&format!("ringwalk-{name}"), subcommand, name)
    });
    std::iter::once(page("ringwalk", &command, "cli"))
        .chain(subpages)
        .collect()
}

/// Returns the file with the sections of a page that are written by hand. `folder` is the folder of
/// the command's code.
fn text_file(folder: &str) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ringwalk-cli/src");
    sources.join(folder).join("man.md")
}

fn page(title: &str, command: &Command, folder: &str) -> Result<(String, String)> {
    let file = text_file(folder);
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("cannot read {}", file.display()))?
        .replace("{variables}", &variables(command))
        .replace("{commands}", &commands())
        .replace("{sources}", &sources())
        .replace("{keys}", &keys());
    let is_find = command.get_name() == "find";
    let mut roff = begin(&title.to_uppercase(), "1")?;
    let about = command.get_about().map(ToString::to_string);
    let name = format!("{title} - {}", about.unwrap_or_default());
    roff.control("SH", ["NAME"]).text([roman(name)]);
    roff.control("SH", ["SYNOPSIS"]).text(if is_find {
        find::synopsis()
    } else {
        synopsis(command)
    });
    for section in format!("\n{text}").split("\n## ").skip(1) {
        let (heading, text) = section.split_once('\n').unwrap_or((section, ""));
        roff.control("SH", [heading]);
        paragraphs(&mut roff, text);
        if is_find {
            find::words(heading, &mut roff);
        } else if heading == "DESCRIPTION" {
            options(command, &mut roff);
        }
    }
    Ok((format!("{title}.1"), roff.render()))
}

/// Returns true for an option that several commands have.
fn is_common(arg: &Arg) -> bool {
    arg.get_help_heading().is_some()
}

fn synopsis(command: &Command) -> Vec<Inline> {
    let mut line = vec![bold(command.get_bin_name().unwrap_or("ringwalk"))];
    let (positionals, options): (Vec<_>, Vec<_>) =
        command.get_arguments().partition(|arg| arg.is_positional());
    for option in options {
        if is_common(option) || matches!(option.get_id().as_str(), "help" | "version") {
            continue;
        }
        if option.is_required_set() {
            line.push(roman(" "));
            line.extend(written(option));
        } else {
            line.push(roman(" ["));
            line.extend(written(option));
            line.push(roman("]"));
        }
    }
    if command.get_arguments().any(is_common) {
        line.extend([roman(" ["), italic("COMMON OPTION"), roman("]...")]);
    }
    if command.has_subcommands() {
        line.extend([roman(" "), italic("COMMAND"), roman(" ...")]);
    }
    for positional in positionals {
        line.push(roman(" "));
        line.extend(written(positional));
    }
    line
}

/// Returns an argument as it is written on the command line, with the name of its value.
fn written(arg: &Arg) -> Vec<Inline> {
    let text = arg.to_string().replace(['<', '>'], "");
    if !arg.get_action().takes_values() {
        return vec![bold(text)];
    }
    let value = arg.get_value_names().unwrap_or_default().join(" ");
    let (before, after) = text.split_once(&value).unwrap_or((&text, ""));
    let name = before.trim_end_matches([' ', '=', '[']);
    let mut parts = vec![roman(&before[name.len()..]), italic(value), roman(after)];
    if !name.is_empty() {
        parts.insert(0, bold(name));
    }
    parts
}

fn options(command: &Command, roff: &mut Roff) {
    let (common, own): (Vec<_>, Vec<_>) = command.get_arguments().partition(|arg| is_common(arg));
    for (heading, args) in [("OPTIONS", own), ("COMMON OPTIONS", common)] {
        if args.is_empty() {
            continue;
        }
        roff.control("SH", [heading]);
        for arg in args.into_iter().filter(|arg| !arg.is_hide_set()) {
            option(arg, roff);
        }
    }
    if command.has_subcommands() {
        roff.control("SH", ["COMMANDS"]);
        for subcommand in command.get_subcommands() {
            let name = format!("ringwalk-{}", subcommand.get_name());
            let about = subcommand.get_about().map(ToString::to_string);
            roff.control("TP", []).text([bold(name), roman("(1)")]);
            roff.text([roman(about.unwrap_or_default())]);
        }
    }
}

fn option(arg: &Arg, roff: &mut Roff) {
    let mut term = Vec::new();
    if let (Some(letter), Some(_)) = (arg.get_short(), arg.get_long()) {
        term.extend([bold(format!("-{letter}")), roman(", ")]);
    }
    term.extend(written(arg));
    let help = arg.get_long_help().or_else(|| arg.get_help());
    let mut text = help.map(ToString::to_string).unwrap_or_default();
    let values = arg.get_possible_values();
    if arg.get_action().takes_values()
        && let [default, ..] = arg.get_default_values()
    {
        let _ = write!(text, " [default: {}]", default.to_string_lossy());
    }
    if arg.get_id() == "source" {
        let names: Vec<_> = values.iter().map(PossibleValue::get_name).collect();
        let names = names.join(", ");
        let _ = write!(
            text,
            ". NAME is one of {names}: see SOURCES in `ringwalk`(1)"
        );
    }
    roff.control("TP", []).text(term).text(words(&text));
    if values.is_empty() || arg.get_id() == "source" {
        return;
    }
    roff.control("RS", []);
    for value in values {
        let help = value.get_help().map(ToString::to_string);
        roff.control("TP", []).text([bold(value.get_name())]);
        roff.text(words(&help.unwrap_or_default()));
    }
    roff.control("RE", []);
}

/// Returns the names of the variables that the help of options names.
fn variables(command: &Command) -> String {
    let helps = command.get_arguments().filter_map(|arg| arg.get_help());
    let names = helps.filter_map(|help| {
        let help = help.to_string();
        let (_, after) = help.split_once("[environment: ")?;
        after.split([']', '=']).next().map(str::to_owned)
    });
    names.collect::<Vec<_>>().join(", ")
}

fn commands() -> String {
    let mut names: Vec<_> = COMMANDS.iter().map(|command| command.name).collect();
    names.sort_unstable();
    let pages = names.iter().map(|name| format!("`ringwalk-{name}`(1)"));
    pages.collect::<Vec<_>>().join(", ")
}

fn sources() -> String {
    let mut text = String::new();
    for source in SourceChoice::ALL {
        let _ = write!(text, "- {source}: {}", source.help());
        let needs = source.needs();
        if needs != SourceNeeds::Nothing {
            let _ = write!(text, "; needs {needs}");
        }
        text.push_str(".\n");
    }
    text.trim_end().to_owned()
}

fn keys() -> String {
    let mut text = String::new();
    for section in Section::ALL {
        let _ = writeln!(text, "{}:\n", section.heading());
        for binding in TABLE.iter().filter(|binding| binding.section == section) {
            let place = match binding.place {
                Place::Anywhere => String::new(),
                place @ Place::List => format!(" ({})", place.words()),
            };
            let _ = writeln!(text, "- {}: {}{place}.", binding.names(), binding.help);
        }
        text.push('\n');
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringwalk_cli::cli;

    fn page_named(name: &str) -> String {
        let pages = pages(cli::definition()).unwrap();
        let (_, page) = pages
            .into_iter()
            .find(|(file, _)| file == name)
            .expect(name);
        page.replace("\\-", "-")
    }

    #[test]
    fn each_page_has_its_options_and_sections() {
        let count = page_named("ringwalk-count.1");
        for part in [
            "\\fBringwalk count\\fR [\\fB--from\\fR \\fISNAP\\fR] [\\fB--no-stat\\fR]",
            "[\\fICOMMON OPTION\\fR]... [\\fIDIR\\fR]...\n",
            ".TP\n\\fB--from\\fR \\fISNAP\\fR\n",
            ".RS\n.TP\n\\fBauto\\fR\n",
            ".SH \"EXIT STATUS\"",
            "elapsed_seconds",
            "\\fBRINGWALK_SOURCE, RINGWALK_WORKERS,",
        ] {
            assert!(count.contains(part), "{part} is missing in\n{count}");
        }
        assert!(page_named("ringwalk.1").contains("\\fBringwalk\\fR [\\fICOMMON OPTION\\fR]..."));
        assert!(page_named("ringwalk-dupes.1").contains("\\fB--dirs\\fR[=\\fISHARE\\fR]"));
        assert!(page_named("ringwalk-hash.1").contains("\\fB--save\\fR \\fISNAP\\fR\n"));
        assert!(page_named("ringwalk-snapshot.1").contains(" \\fB--output\\fR \\fIFILE\\fR ["));
        assert!(page_named("ringwalk-browse.1").contains("Backspace"));
    }

    #[test]
    fn each_page_has_examples_and_names_pages_and_files_that_exist() {
        let pages = pages(cli::definition()).unwrap();
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        for (name, page) in &pages {
            let page = page.replace("\\-", "-");
            let (text, see) = page.split_once(".SH \"SEE ALSO\"\n").expect(name);
            let (_, examples) = text.split_once(".SH EXAMPLES\n").expect(name);
            assert!(examples.contains(".nf\n"), "{name}");
            for other in see
                .split("\\fB")
                .filter(|name| name.starts_with("ringwalk-"))
            {
                let file = other.split_once("\\fR(").expect(other).0.to_owned() + ".1";
                assert!(pages.iter().any(|(name, _)| *name == file), "{file}");
            }
            for path in page
                .split_whitespace()
                .map(|word| word.trim_end_matches([',', '.', ';']))
                .filter_map(|word| word.strip_suffix(".md"))
            {
                // `make install` replaces the prefix.
                let stem = path.strip_prefix("/usr/share/doc/ringwalk/").expect(path);
                assert!(docs.join(format!("{stem}.md")).exists(), "{name}: {path}");
            }
        }
    }

    #[test]
    fn no_description_is_printed_twice() {
        for (name, page) in pages(cli::definition()).unwrap() {
            let mut lines: Vec<_> = page.lines().filter(|line| line.len() > 40).collect();
            lines.sort_unstable();
            let twice = lines.windows(2).find(|pair| pair[0] == pair[1]);
            assert_eq!(twice, None, "{name}");
            let about = page.lines().skip_while(|line| *line != ".SH NAME").nth(1);
            let (_, about) = about
                .and_then(|line| line.split_once(" \\- "))
                .expect(&name);
            assert_eq!(page.matches(about).count(), 1, "{name}: {about}");
        }
    }

    #[test]
    fn the_page_of_the_program_lists_every_source() {
        let page = page_named("ringwalk.1");
        for source in SourceChoice::ALL {
            let item = format!(".TP\n\\fB{source}\\fR\n{}", source.help());
            assert!(page.contains(&item), "{item} is missing in\n{page}");
        }
    }
}
