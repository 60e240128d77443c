//! Which entries of a batch need metadata, and which fields.

use crate::visit::metadata::Fields;
use crate::walk::settings::{Follow, Stay};
use ringwalk_sys::{RawFileType as FileType, Records};

/// Selects the entries that need a `statx`, and the fields to ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Fields asked for every entry.
    all: bool,
    /// Fields asked for directories, to see whether they are on the same device or mount.
    directories: bool,
    fields: Fields,
    follow: bool,
}

impl Wanted {
    /// Creates the selection for entries of a walk.
    pub(crate) fn entries(fields: Fields, stay: Stay, follow: Follow) -> Self {
        let base = match stay {
            Stay::Mount => Fields::TYPE | Fields::MNT_ID,
            Stay::Anywhere | Stay::Device => Fields::TYPE,
        };
        Self {
            all: !fields.is_empty(),
            directories: stay != Stay::Anywhere,
            fields: with_identity(fields) | base,
            follow: follow == Follow::Always,
        }
    }

    /// Creates the selection of these fields of every entry.
    pub(crate) fn of_all(fields: Fields, follow: Follow) -> Self {
        Self {
            all: true,
            directories: false,
            fields: with_identity(fields) | Fields::TYPE,
            follow: follow == Follow::Always,
        }
    }

    /// Creates the selection for roots of a walk, whose type no directory has listed.
    pub(crate) fn roots(fields: Fields, stay: Stay, follow: Follow) -> Self {
        Self {
            all: true,
            follow: follow != Follow::Never,
            ..Self::entries(fields, stay, follow)
        }
    }

    /// Adds fields.
    pub(crate) fn with(self, fields: Fields) -> Self {
        Self {
            fields: self.fields | fields,
            ..self
        }
    }

    /// Returns true if every entry needs a `statx`.
    pub(crate) fn asks_all(self) -> bool {
        self.all
    }

    /// Returns the fields asked for.
    pub(crate) fn fields(self) -> Fields {
        self.fields
    }

    /// Returns true if any entry of a batch may need a `statx`.
    pub(crate) fn needs_any(self, records: &Records, descending: bool) -> bool {
        let has = |file_type| records.has_type(file_type);
        self.all
            || descending
                && (has(FileType::Unknown)
                    || self.follow && has(FileType::Symlink)
                    || self.directories && has(FileType::Directory))
    }

    /// Returns the selection for a directory that is on the same device and mount as its root, and
    /// whose entries all are there too.
    pub(crate) fn on_one_mount(self) -> Self {
        Self {
            directories: false,
            ..self
        }
    }

    /// Returns true if symbolic links are followed.
    pub(crate) fn follows(self) -> bool {
        self.follow
    }

    /// Returns true if an entry needs a `statx`. `descending` is true if the walk would descend
    /// into a directory here.
    pub(crate) fn needs(self, file_type: FileType, descending: bool) -> bool {
        if self.all {
            return true;
        }
        match file_type {
            FileType::Unknown => descending,
            FileType::Symlink => self.follow && descending,
            FileType::Directory => self.directories && descending,
            FileType::Regular
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Fifo
            | FileType::Socket => false,
        }
    }
}

/// Returns the fields to ask for. For a project id these include the fields that identify the file,
/// since the id takes another call.
pub(super) fn with_identity(fields: Fields) -> Fields {
    if fields.contains(Fields::PROJECT_ID) {
        fields | Fields::TYPE | Fields::INO
    } else {
        fields
    }
}
