//! The words that shells complete, and the places where the scripts that clap writes give way to
//! those for `find`.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use ringwalk_find::table::{Entry, entries};

use super::{bash, fish, zsh};

/// Returns the words that shells complete, in all their forms.
pub(super) fn words() -> impl Iterator<Item = (String, &'static Entry)> {
    entries()
        .flat_map(|entry| entry.forms().into_iter().map(move |form| (form, entry)))
        .filter(|(form, _)| form.starts_with('-'))
}

/// Adds `find` to the scripts that clap has written below `directory`.
pub(crate) fn extend(directory: &Path) -> Result<()> {
    for (name, extended) in [
        ("ringwalk.bash", bash::extend as fn(&str) -> Option<String>),
        ("_ringwalk", zsh::extend),
        ("ringwalk.fish", fish::extend),
    ] {
        let path = directory.join(name);
        let script = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let script = extended(&script);
        ensure!(script.is_some(), "{} is not as expected", path.display());
        std::fs::write(&path, script.unwrap_or_default())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Returns the script with `lines` inserted after the first line that equals `after`.
pub(super) fn insert(script: &str, after: &str, lines: &str) -> Option<String> {
    let line = format!("{after}\n");
    let end = script.find(&line)? + line.len();
    Some(format!("{}{lines}{}", &script[..end], &script[end..]))
}

#[cfg(test)]
mod tests;
