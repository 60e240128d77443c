//! What may come after which word, and where the scripts that clap writes give way to those for `find`.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use ringwalk_find::table::{Entry, Kind, SYNTAXES, Word, entries};

use super::{bash, fish, zsh};

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    /// A file.
    File,
    /// A program.
    Command,
    /// A user's name.
    User,
    /// A group's name.
    Group,
    /// One of these.
    One(&'static [&'static str]),
    /// What no script can know.
    Other,
}

const TYPES: &[&str] = &["b", "c", "d", "f", "l", "p", "s"];
const DEBUG: &[&str] = &[
    "exec", "opt", "rates", "search", "stat", "time", "tree", "all", "help",
];
const FILE_SYSTEMS: &[&str] = &[
    "btrfs", "ext4", "fuse", "nfs", "nfs4", "overlay", "proc", "sysfs", "tmpfs", "vfat", "xfs",
    "zfs",
];

/// What comes after a word; none if nothing does.
pub(super) fn argument(entry: &Entry) -> Option<Argument> {
    if entry.kind == Kind::Operator || entry.word == Word::Optimize {
        return None;
    }
    let first = entry.arguments.first()?;
    Some(match entry.word {
        Word::Type | Word::XType => Argument::One(TYPES),
        Word::RegexType => Argument::One(SYNTAXES),
        Word::Debug => Argument::One(DEBUG),
        Word::FileSystem => Argument::One(FILE_SYSTEMS),
        Word::User => Argument::User,
        Word::Group => Argument::Group,
        Word::NewerXY => Argument::File,
        _ if *first == "FILE" => Argument::File,
        _ if *first == "COMMAND" => Argument::Command,
        _ => Argument::Other,
    })
}

/// A word as it is completed: `-newerXY` is each of its twenty forms.
pub(super) fn words() -> impl Iterator<Item = (String, &'static Entry)> {
    entries()
        .flat_map(|entry| entry.names.iter().map(move |name| (*name, entry)))
        .filter(|(name, _)| name.starts_with('-'))
        .flat_map(|(name, entry)| match entry.word {
            Word::NewerXY => newer().map(|name| (name, entry)).collect(),
            Word::Optimize => (0..=3).map(|level| (format!("-O{level}"), entry)).collect(),
            _ => vec![(name.to_owned(), entry)],
        })
}

fn newer() -> impl Iterator<Item = String> {
    "aBcm"
        .chars()
        .flat_map(|x| "aBcmt".chars().map(move |y| format!("-newer{x}{y}")))
}

/// Adds `find` to the scripts below `directory`, which clap has written.
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

/// A script with `lines` put after the first line that is `after`.
pub(super) fn insert(script: &str, after: &str, lines: &str) -> Option<String> {
    let line = format!("{after}\n");
    let end = script.find(&line)? + line.len();
    Some(format!("{}{lines}{}", &script[..end], &script[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_their_arguments() {
        let named = |wanted: &str| {
            let (_, entry) = words().find(|(name, _)| name == wanted).expect(wanted);
            argument(entry)
        };
        assert_eq!(named("-print"), None);
        assert_eq!(named("-not"), None);
        assert_eq!(named("-O3"), None);
        assert_eq!(named("-newerBt"), Some(Argument::File));
        assert_eq!(named("-execdir"), Some(Argument::Command));
        assert_eq!(named("-fprintf"), Some(Argument::File));
        assert_eq!(named("-name"), Some(Argument::Other));
        assert_eq!(named("-xtype"), Some(Argument::One(TYPES)));
        assert!(words().all(|(name, _)| name != "-newerXY" && name != "("));
    }

    #[test]
    fn lines_are_put_in() {
        assert_eq!(insert("a\nb\n", "a", "x\n"), Some("a\nx\nb\n".to_owned()));
        assert_eq!(insert("ab\n", "c", "x\n"), None);
    }
}
