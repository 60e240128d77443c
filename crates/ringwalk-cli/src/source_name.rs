//! The names that `--source` and `RINGWALK_SOURCE` take, and what is said of others. `doctor` reports on the same list.

use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;

use clap::builder::{PossibleValue, TypedValueParser};
use ringwalk::SourceChoice;

/// A source that can be asked for in this version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceName {
    /// The cheapest source that is allowed and right for the file system at hand.
    #[default]
    Auto,
    /// Plain system calls: `getdents64` and `statx`.
    Syscall,
    /// Names and metadata together by the kernel module.
    Module,
    /// The same by operations of `io_uring`.
    Ring,
    /// ext2, ext3 and ext4 from their block device.
    Ext4,
    /// XFS by BULKSTAT.
    Xfs,
    /// btrfs by tree search.
    Btrfs,
}

impl SourceName {
    /// Every name this version takes, in the order in which help shows them.
    pub const ALL: [Self; 7] = [
        Self::Auto,
        Self::Syscall,
        Self::Module,
        Self::Ring,
        Self::Ext4,
        Self::Xfs,
        Self::Btrfs,
    ];

    /// The name as it is typed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Syscall => "syscall",
            Self::Module => "module",
            Self::Ring => "ring",
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
        }
    }

    const fn help(self) -> &'static str {
        match self {
            Self::Auto => "the cheapest source that this kernel, user and file system allow",
            Self::Syscall => "plain system calls, which always work",
            Self::Module => "names and metadata together by the kernel module",
            Self::Ring => "the same by operations of io_uring, in a kernel that has them",
            Self::Ext4 => {
                "inode tables and directories of ext2, ext3 or ext4 from the block device"
            }
            Self::Xfs => "metadata of XFS by BULKSTAT",
            Self::Btrfs => "names and metadata of btrfs by tree search",
        }
    }
}

impl From<SourceName> for SourceChoice {
    fn from(name: SourceName) -> Self {
        match name {
            SourceName::Auto => Self::Auto,
            SourceName::Syscall => Self::Syscall,
            SourceName::Module => Self::Module,
            SourceName::Ring => Self::Ring,
            SourceName::Ext4 => Self::Ext4,
            SourceName::Xfs => Self::Xfs,
            SourceName::Btrfs => Self::Btrfs,
        }
    }
}

impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name is not that of any source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceNameError;

impl fmt::Display for SourceNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no such source; this version of ringwalk has")?;
        for (index, name) in SourceName::ALL.iter().enumerate() {
            let separator = if index == 0 { " " } else { ", " };
            write!(f, "{separator}{name}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SourceNameError {}

impl FromStr for SourceName {
    type Err = SourceNameError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|known| known.as_str() == name);
        found.ok_or(SourceNameError)
    }
}

/// Parses `--source` for clap: our messages, and the names for completions.
#[derive(Clone, Copy, Debug)]
pub struct SourceNameParser;

impl TypedValueParser for SourceNameParser {
    type Value = SourceName;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<SourceName, clap::Error> {
        let parse = |name: &str| name.parse::<SourceName>();
        TypedValueParser::parse_ref(&parse, command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = SourceName::ALL
            .into_iter()
            .map(|name| PossibleValue::new(name.as_str()).help(name.help()));
        Some(Box::new(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_as_itself() {
        for name in SourceName::ALL {
            assert_eq!(name.as_str().parse(), Ok(name));
        }
    }

    #[test]
    fn the_engine_has_the_same_names() {
        assert_eq!(SourceName::ALL.map(SourceName::as_str), SourceChoice::NAMES);
        for name in SourceName::ALL {
            assert_eq!(name.as_str().parse(), Ok(SourceChoice::from(name)));
        }
    }

    #[test]
    fn names_are_exact() {
        for name in ["SYSCALL", "", "rings"] {
            assert_eq!(name.parse::<SourceName>(), Err(SourceNameError));
        }
    }

    #[test]
    fn the_error_lists_what_there_is() {
        let message = SourceNameError.to_string();
        assert!(
            message.ends_with("has auto, syscall, module, ring, ext4, xfs, btrfs"),
            "{message}"
        );
    }
}
