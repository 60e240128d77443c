//! The formats that can be imported.

use std::fmt;

/// A format that can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportFormat {
    /// ncdu's JSON, from `ncdu -o`.
    NcduJson,
    /// ncdu's binary format, from `ncdu -O`.
    NcduBinary,
}

impl ImportFormat {
    const ALL: [Self; 2] = [Self::NcduJson, Self::NcduBinary];

    fn name(self) -> &'static str {
        match self {
            Self::NcduJson => "ncdu-json",
            Self::NcduBinary => "ncdu-binary",
        }
    }

    /// Returns true if the source that a snapshot says of itself is an import.
    pub fn is_source(source: &str) -> bool {
        let mut names = Self::ALL.into_iter().map(Self::name);
        names.any(|name| source.starts_with(name))
    }
}

impl fmt::Display for ImportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
