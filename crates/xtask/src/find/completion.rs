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
mod tests {
    use super::*;
    use ringwalk_find::table::Argument;

    #[test]
    fn words_with_their_arguments() {
        let named = |wanted: &str| {
            let (_, entry) = words().find(|(name, _)| name == wanted).expect(wanted);
            entry.argument()
        };
        assert_eq!(named("-print"), None);
        assert_eq!(named("-not"), None);
        assert_eq!(named("-O3"), None);
        assert_eq!(named("-newerBt"), Some(Argument::File));
        assert_eq!(named("-execdir"), Some(Argument::Command));
        assert_eq!(named("-fprintf"), Some(Argument::File));
        assert_eq!(named("-name"), Some(Argument::Other));
        let types = ["b", "c", "d", "f", "l", "p", "s"].map(str::to_owned);
        assert_eq!(named("-xtype"), Some(Argument::OneOf(types.into())));
        assert!(words().all(|(name, _)| name != "-newerXY" && name != "("));
    }

    #[test]
    fn lines_are_put_in() {
        assert_eq!(insert("a\nb\n", "a", "x\n"), Some("a\nx\nb\n".to_owned()));
        assert_eq!(insert("ab\n", "c", "x\n"), None);
    }

    /// A word that `find` does not take must not be offered. `-D` and `-fstype` take any word.
    #[test]
    fn what_is_offered_for_an_argument_is_taken_and_complete() {
        let takes = |words: [&str; 2]| {
            let arguments = words.into_iter().map(Into::into).collect();
            ringwalk_find::parse::parse(arguments).is_ok()
        };
        let offered = |wanted: &str| {
            let (_, entry) = words().find(|(name, _)| name == wanted).expect(wanted);
            match entry.argument() {
                Some(Argument::OneOf(offered)) => offered,
                other => panic!("{wanted} takes {other:?}"),
            }
        };
        let types = offered("-type");
        for letter in 'A'..='z' {
            let letter = letter.to_string();
            let listed = types.contains(&letter);
            assert_eq!(takes(["-type", &letter]), listed, "-type {letter}");
        }
        for syntax in offered("-regextype") {
            assert!(takes(["-regextype", &syntax]), "-regextype {syntax}");
        }
    }
}
