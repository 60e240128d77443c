//! What shells complete: the arguments of words, and the forms of words that have several.

use super::help::debug_words;
use super::{Entry, LeadingWord, Meaning, PositionalWord, TestWord};
use crate::expression::TypeSet;
use crate::regex::Syntax;
use crate::time::Time;

/// The argument of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The name of a file.
    File,
    /// The name of a program.
    Command,
    /// The name of a user.
    User,
    /// The name of a group.
    Group,
    /// One of these words.
    OneOf(Vec<String>),
    /// Text that no shell can complete.
    Other,
}

/// Types of file systems that shells suggest for `-fstype`, which takes any.
const FILE_SYSTEMS: [&str; 12] = [
    "btrfs", "ext4", "fuse", "nfs", "nfs4", "overlay", "proc", "sysfs", "tmpfs", "vfat", "xfs",
    "zfs",
];

/// Levels of `-O` that shells suggest. Higher levels mean the same as the last one.
const LEVELS: std::ops::RangeInclusive<u8> = 0..=3;

impl Entry {
    /// Returns what a shell completes after the word. None if no argument follows as a word of its
    /// own.
    pub fn argument(&self) -> Option<Argument> {
        let first = *self.arguments.first()?;
        if self.joins_argument() {
            return None;
        }
        Some(match self.meaning {
            Meaning::Operator(_) => return None,
            Meaning::Leading(LeadingWord::Debug) => one_of(debug_words().map(|(word, _)| word)),
            Meaning::Positional(PositionalWord::RegexType) => one_of(Syntax::names()),
            Meaning::Test(TestWord::Type | TestWord::XType) => {
                let letters = TypeSet::LETTERS.iter();
                Argument::OneOf(
                    letters
                        .map(|(letter, _)| char::from(*letter).into())
                        .collect(),
                )
            }
            Meaning::Test(TestWord::FileSystem) => one_of(FILE_SYSTEMS.into_iter()),
            Meaning::Test(TestWord::User) => Argument::User,
            Meaning::Test(TestWord::Group) => Argument::Group,
            Meaning::Test(TestWord::NewerXY) => Argument::File,
            Meaning::Leading(_)
            | Meaning::Positional(_)
            | Meaning::Global(_)
            | Meaning::Test(_)
            | Meaning::Action(_) => match first {
                "FILE" | "SNAP" => Argument::File,
                "COMMAND" => Argument::Command,
                _ => Argument::Other,
            },
        })
    }

    /// Returns true if the argument follows without a space, as the level of `-O` does.
    pub fn joins_argument(&self) -> bool {
        self.meaning == Meaning::Leading(LeadingWord::Optimize)
    }

    /// Returns the word in all its forms: its names, each of the forms of `-newerXY`, and `-O` with
    /// its levels.
    pub fn forms(&self) -> Vec<String> {
        match self.meaning {
            Meaning::Test(TestWord::NewerXY) => newer_forms(),
            Meaning::Leading(LeadingWord::Optimize) => LEVELS
                .map(|level| format!("{}{level}", self.names[0]))
                .collect(),
            Meaning::Leading(_)
            | Meaning::Operator(_)
            | Meaning::Global(_)
            | Meaning::Positional(_)
            | Meaning::Test(_)
            | Meaning::Action(_) => self.names.iter().map(|name| (*name).to_owned()).collect(),
        }
    }
}

fn one_of<'w>(words: impl Iterator<Item = &'w str>) -> Argument {
    Argument::OneOf(words.map(str::to_owned).collect())
}

fn newer_forms() -> Vec<String> {
    let letters = Time::LETTERS.map(|(letter, _)| char::from(letter));
    let references = || letters.into_iter().chain(['t']);
    letters
        .into_iter()
        .flat_map(|x| references().map(move |y| format!("-newer{x}{y}")))
        .collect()
}
