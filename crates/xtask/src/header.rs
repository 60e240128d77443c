//! Makes `ringwalk.h`, the header for C programs, from the declarations in `ringwalk-capi` and
//! their comments.
//!
//! The header is committed, so building and installing need no generator. A test fails when the
//! header is stale.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cbindgen::{Config, DocumentationStyle, Language, Style};

/// Names of structs and of the callback's type, in Rust and in C.
const NAMES: [(&str, &str); 10] = [
    ("RingwalkWalk", "ringwalk_walk"),
    ("RingwalkVisit", "ringwalk_visit"),
    ("RingwalkTimestamp", "ringwalk_timestamp"),
    ("RingwalkMetadata", "ringwalk_metadata"),
    ("RingwalkEntry", "ringwalk_entry"),
    ("RingwalkLeftover", "ringwalk_leftover"),
    ("RingwalkOptions", "ringwalk_options"),
    ("RingwalkError", "ringwalk_error"),
    ("RingwalkBatch", "ringwalk_batch"),
    ("RingwalkSummary", "ringwalk_summary"),
];

/// The files with the declarations for C, in the order of the header.
const FILES: [&str; 7] = [
    "abi/mod.rs",
    "abi/numbers.rs",
    "abi/entry.rs",
    "abi/leftover.rs",
    "abi/options.rs",
    "abi/results.rs",
    "calls.rs",
];

const INTRODUCTION: &str = include_str!("header_introduction.h");

/// Writes the header to its place in the repository.
pub(crate) fn write() -> Result<()> {
    let path = path();
    std::fs::write(&path, text()?).with_context(|| format!("cannot write {}", path.display()))
}

/// Returns the text of the header in the repository.
pub(crate) fn read() -> Result<String> {
    let path = path();
    std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ringwalk-capi")
}

fn path() -> PathBuf {
    library().join("include/ringwalk.h")
}

fn text() -> Result<String> {
    let mut builder = cbindgen::Builder::new().with_config(config());
    for file in FILES {
        builder = builder.with_src(library().join("src").join(file));
    }
    let mut generated = Vec::new();
    builder
        .generate()
        .context("cbindgen cannot read the crate")?
        .write(&mut generated);
    polish(&String::from_utf8(generated)?)
}

fn config() -> Config {
    let mut config = Config {
        header: Some(INTRODUCTION.trim_end().to_owned()),
        include_guard: Some("RINGWALK_H".to_owned()),
        sys_includes: vec!["stddef.h".to_owned(), "stdint.h".to_owned()],
        no_includes: true,
        cpp_compat: true,
        language: Language::C,
        style: Style::Tag,
        usize_is_size_t: true,
        documentation_style: DocumentationStyle::C99,
        line_length: 120,
        tab_width: 4,
        ..Config::default()
    };
    let names = NAMES
        .iter()
        .chain([&("RingwalkVisitor", "ringwalk_visitor")]);
    config.export.rename = names
        .map(|(rust, c)| ((*rust).to_owned(), (*c).to_owned()))
        .collect();
    config
}

/// Returns the header with C's headings in comments and C's numbers.
fn polish(generated: &str) -> Result<String> {
    let mut text = String::with_capacity(generated.len());
    for line in generated.lines() {
        let line = match line.strip_prefix("// # ") {
            Some("Safety") => "// The caller must ensure:".to_owned(),
            Some(heading) => format!("// {heading}:"),
            None => line.to_owned(),
        };
        let line = definition(&line)?.unwrap_or(line);
        writeln!(text, "{}", line.trim_end())?;
    }
    Ok(text)
}

/// Returns the line as C has it if it defines a number: a bit in hexadecimal and unsigned, a
/// negative number in brackets.
fn definition(line: &str) -> Result<Option<String>> {
    let Some(definition) = line.strip_prefix("#define RINGWALK_") else {
        return Ok(None);
    };
    let Some((name, value)) = definition.split_once(' ') else {
        return Ok(None);
    };
    let value = if name.starts_with("FIELD_") || name.starts_with("FLAG_") {
        let shift = value
            .strip_prefix("(1 << ")
            .and_then(|rest| rest.strip_suffix(')'));
        let shift = shift.with_context(|| format!("RINGWALK_{name} is no bit: {value}"))?;
        let bit = 1_u32.checked_shl(shift.parse()?);
        let bit = bit.with_context(|| format!("RINGWALK_{name} has more than 32 bits"))?;
        format!("{bit:#x}U")
    } else if value.starts_with('-') {
        format!("({value})")
    } else {
        value.to_owned()
    };
    Ok(Some(format!("#define RINGWALK_{name} {value}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_what_the_crate_says() {
        let kept = std::fs::read_to_string(path()).unwrap_or_default();
        assert!(
            kept == text().unwrap(),
            "ringwalk.h is stale: cargo run -p xtask -- header"
        );
    }

    #[test]
    fn no_name_of_rust_is_left_and_no_file_left_out() {
        let text = text().unwrap();
        let of_rust = |word: &&str| {
            let name = word.strip_prefix("Ringwalk");
            name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_uppercase()))
        };
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        assert_eq!(words.filter(of_rust).collect::<Vec<_>>(), [""; 0]);
        let mut declaring: Vec<_> = std::fs::read_dir(library().join("src/abi"))
            .unwrap()
            .map(|file| format!("abi/{}", file.unwrap().file_name().display()))
            .collect();
        declaring.push("calls.rs".to_owned());
        declaring.sort();
        let mut files = FILES.map(str::to_owned);
        files.sort();
        assert_eq!(declaring, files);
    }

    #[test]
    fn bits_are_hexadecimal_and_negative_numbers_in_brackets() {
        let polished = |line| definition(line).unwrap();
        assert_eq!(
            polished("#define RINGWALK_FIELD_A (1 << 30)").unwrap(),
            "#define RINGWALK_FIELD_A 0x40000000U"
        );
        assert_eq!(
            polished("#define RINGWALK_ROOTS -1").unwrap(),
            "#define RINGWALK_ROOTS (-1)"
        );
        assert_eq!(polished("#define RINGWALK_H"), None);
        assert_eq!(polished("int ringwalk_a(void);"), None);
        assert!(definition("#define RINGWALK_FLAG_A 3").is_err());
        assert!(definition("#define RINGWALK_FIELD_A (1 << 32)").is_err());
    }
}
