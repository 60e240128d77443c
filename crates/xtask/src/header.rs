//! `ringwalk.h`: what C programs include, made from the declarations in `ringwalk-capi` and their comments.
//!
//! It is committed, so that building and installing need no generator; a test here fails when it is not what the crate says.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cbindgen::{Config, DocumentationStyle, Language, Style};

/// Names of structs and of the callback's type: of Rust, of C.
const NAMES: [(&str, &str); 9] = [
    ("RingwalkWalk", "ringwalk_walk"),
    ("RingwalkVisit", "ringwalk_visit"),
    ("RingwalkTimestamp", "ringwalk_timestamp"),
    ("RingwalkMetadata", "ringwalk_metadata"),
    ("RingwalkEntry", "ringwalk_entry"),
    ("RingwalkOptions", "ringwalk_options"),
    ("RingwalkError", "ringwalk_error"),
    ("RingwalkBatch", "ringwalk_batch"),
    ("RingwalkSummary", "ringwalk_summary"),
];

const INTRODUCTION: &str = include_str!("header_introduction.h");

/// Writes it where it is kept.
pub(crate) fn write() -> Result<()> {
    let path = path();
    std::fs::write(&path, text()?).with_context(|| format!("cannot write {}", path.display()))
}

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ringwalk-capi")
}

fn path() -> PathBuf {
    library().join("include/ringwalk.h")
}

fn text() -> Result<String> {
    let mut builder = cbindgen::Builder::new().with_config(config());
    for file in [
        "abi/mod.rs",
        "abi/numbers.rs",
        "abi/entry.rs",
        "abi/options.rs",
        "abi/results.rs",
        "calls.rs",
    ] {
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
        sys_includes: vec![
            "stddef.h".to_owned(),
            "stdint.h".to_owned(),
            "sys/types.h".to_owned(),
        ],
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

/// Rust's headings in comments are not C's.
fn polish(generated: &str) -> Result<String> {
    let mut text = String::with_capacity(generated.len());
    for line in generated.lines() {
        let line = line.replace("// # Safety", "// What the caller promises:");
        writeln!(text, "{}", line.trim_end())?;
    }
    Ok(text)
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
}
