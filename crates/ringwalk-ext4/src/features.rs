//! The features of a file system, and which of them this reader knows.

use crate::Error;

/// Features that a reader must know (`s_feature_incompat`), with tune2fs(8)'s names.
pub(crate) mod incompat {
    pub(crate) const FILETYPE: u32 = 0x2;
    pub(crate) const RECOVER: u32 = 0x4;
    pub(crate) const JOURNAL_DEV: u32 = 0x8;
    pub(crate) const META_BG: u32 = 0x10;
    pub(crate) const BIT64: u32 = 0x80;
    pub(crate) const EA_INODE: u32 = 0x400;
    pub(crate) const CSUM_SEED: u32 = 0x2000;
    pub(crate) const LARGE_DIR: u32 = 0x4000;
}

/// Features that only a writer must know (`s_feature_ro_compat`).
pub(crate) mod ro_compat {
    pub(crate) const SPARSE_SUPER: u32 = 0x1;
    pub(crate) const HUGE_FILE: u32 = 0x8;
    pub(crate) const GDT_CSUM: u32 = 0x10;
    pub(crate) const BIGALLOC: u32 = 0x200;
    pub(crate) const METADATA_CSUM: u32 = 0x400;
    pub(crate) const PROJECT: u32 = 0x2000;
}

/// Features that nobody needs to know (`s_feature_compat`).
pub(crate) mod compat {
    pub(crate) const SPARSE_SUPER2: u32 = 0x200;
    pub(crate) const ORPHAN_FILE: u32 = 0x1000;
}

/// Every incompatible feature with a name, and whether this reader knows it. Every mounted file
/// system with a journal has `needs_recovery`.
const INCOMPAT: &[(u32, &str, bool)] = &[
    (0x1, "compression", false),
    (incompat::FILETYPE, "filetype", true),
    (incompat::RECOVER, "needs_recovery", true),
    (incompat::JOURNAL_DEV, "journal_dev", false),
    (incompat::META_BG, "meta_bg", true),
    (0x40, "extent", true),
    (incompat::BIT64, "64bit", true),
    (0x100, "mmp", true),
    (0x200, "flex_bg", true),
    (incompat::EA_INODE, "ea_inode", true),
    (0x1000, "dirdata", false),
    (incompat::CSUM_SEED, "metadata_csum_seed", true),
    (incompat::LARGE_DIR, "large_dir", true),
    (0x8000, "inline_data", true),
    (0x1_0000, "encrypt", true),
    (0x2_0000, "casefold", true),
];

/// The read-only compatible features of Linux 6.18: `sparse_super` (0x1), `large_file`,
/// `btree_dir`, `huge_file`, `gdt_csum`, `dir_nlink`, `extra_isize`, `has_snapshot`, `quota`,
/// `bigalloc`, `metadata_csum`, `replica`, `readonly`, `project`, `shared_blocks`, `verity` and
/// `orphan_present` (0x10000).
const RO_COMPAT: u32 = 0x1_FFFF;

/// The three sets of features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Features {
    pub(crate) compat: u32,
    pub(crate) incompat: u32,
    pub(crate) ro_compat: u32,
}

impl Features {
    /// Checks that this reader knows all incompatible features.
    ///
    /// # Errors
    ///
    /// With the name of the first unknown feature, or its bit.
    pub(crate) fn check(self) -> Result<(), Error> {
        let unknown = (0..u32::BITS).map(|bit| 1 << bit).find(|&bit| {
            let known = INCOMPAT.iter().any(|&(known, _, ok)| ok && known == bit);
            self.incompat & bit != 0 && !known
        });
        let Some(unknown) = unknown else {
            return Ok(());
        };
        let name = INCOMPAT.iter().find(|&&(bit, ..)| bit == unknown);
        Err(Error::Unsupported(match name {
            Some((_, name, _)) => (*name).to_owned(),
            None => format!("{unknown:#x} (incompatible)"),
        }))
    }

    /// Returns the read-only compatible features that this reader does not know.
    pub(crate) fn unknown_ro_compat(self) -> u32 {
        self.ro_compat & !RO_COMPAT
    }

    #[inline]
    pub(crate) fn has_compat(self, feature: u32) -> bool {
        self.compat & feature != 0
    }

    #[inline]
    pub(crate) fn has_incompat(self, feature: u32) -> bool {
        self.incompat & feature != 0
    }

    #[inline]
    pub(crate) fn has_ro_compat(self, feature: u32) -> bool {
        self.ro_compat & feature != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(incompat: u32) -> Option<String> {
        let features = Features {
            compat: !0,
            incompat,
            ro_compat: !0,
        };
        match features.check() {
            Ok(()) => None,
            Err(Error::Unsupported(name)) => Some(name),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn unknown_incompatible_features_are_named() {
        assert_eq!(refused(0), None);
        assert_eq!(refused(0x3_E7D6), None, "all that are known");
        assert_eq!(refused(0x1).as_deref(), Some("compression"));
        assert_eq!(refused(0x8).as_deref(), Some("journal_dev"));
        assert_eq!(refused(0x1000).as_deref(), Some("dirdata"));
        assert_eq!(refused(0x20).as_deref(), Some("0x20 (incompatible)"));
        assert_eq!(
            refused(1 << 31).as_deref(),
            Some("0x80000000 (incompatible)")
        );
        assert_eq!(
            refused(0x8_1000).as_deref(),
            Some("dirdata"),
            "the first of two"
        );
    }

    #[test]
    fn unknown_read_only_features_are_reported() {
        let features = Features {
            compat: 0,
            incompat: 0,
            ro_compat: 0x4_0400,
        };
        assert!(features.check().is_ok());
        assert_eq!(features.unknown_ro_compat(), 0x4_0000);
    }
}
