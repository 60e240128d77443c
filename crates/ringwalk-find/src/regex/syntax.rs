//! The syntaxes of `-regextype`.

/// A syntax, under its name for `-regextype`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    /// `findutils-default`: Emacs's, but `.` matches a newline.
    FindutilsDefault,
    /// `ed`.
    Ed,
    /// `emacs`. This is GNU find's default, despite the name of `findutils-default`.
    #[default]
    Emacs,
    /// `gnu-awk`.
    GnuAwk,
    /// `grep`.
    Grep,
    /// `posix-awk`.
    PosixAwk,
    /// `awk`.
    Awk,
    /// `posix-basic`.
    PosixBasic,
    /// `posix-egrep`.
    PosixEgrep,
    /// `egrep`.
    Egrep,
    /// `posix-extended`.
    PosixExtended,
    /// `posix-minimal-basic`.
    PosixMinimalBasic,
    /// `sed`.
    Sed,
}

const ALL: [(&str, Syntax); 13] = [
    ("findutils-default", Syntax::FindutilsDefault),
    ("awk", Syntax::Awk),
    ("ed", Syntax::Ed),
    ("egrep", Syntax::Egrep),
    ("emacs", Syntax::Emacs),
    ("gnu-awk", Syntax::GnuAwk),
    ("grep", Syntax::Grep),
    ("posix-awk", Syntax::PosixAwk),
    ("posix-basic", Syntax::PosixBasic),
    ("posix-egrep", Syntax::PosixEgrep),
    ("posix-extended", Syntax::PosixExtended),
    ("posix-minimal-basic", Syntax::PosixMinimalBasic),
    ("sed", Syntax::Sed),
];

impl Syntax {
    /// Returns the syntax with this name.
    pub fn named(name: &[u8]) -> Option<Self> {
        ALL.iter()
            .find(|(known, _)| known.as_bytes() == name)
            .map(|(_, syntax)| *syntax)
    }

    /// Returns all names, in the order in which GNU find lists them.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ALL.iter().map(|(name, _)| *name)
    }

    /// Returns true if `\(?:a\|b\)` is a group without a number, as in Emacs.
    pub fn has_shy_groups(self) -> bool {
        match self {
            Self::Emacs | Self::FindutilsDefault => true,
            Self::Ed
            | Self::GnuAwk
            | Self::Grep
            | Self::PosixAwk
            | Self::Awk
            | Self::PosixBasic
            | Self::PosixEgrep
            | Self::Egrep
            | Self::PosixExtended
            | Self::PosixMinimalBasic
            | Self::Sed => false,
        }
    }

    /// Returns the syntax as the bits that glibc's
    /// [`<regex.h>`](https://sourceware.org/git/?p=glibc.git;a=blob;f=posix/regex.h) names, as GNU
    /// find 4.11 sets them; with `fold_case`, `RE_ICASE` among them.
    pub fn bits(self, fold_case: bool) -> u32 {
        let bits = match self {
            Self::FindutilsDefault => Bits::EMACS | Bits::DOT_NEWLINE,
            Self::Emacs => Bits::EMACS,
            Self::Ed | Self::PosixBasic | Self::Sed => {
                Bits::POSIX | Bits::BK_PLUS_QM | Bits::CONTEXT_INVALID_DUP
            }
            Self::PosixMinimalBasic => Bits::POSIX | Bits::LIMITED_OPS,
            Self::Grep => (Bits::POSIX | Bits::BK_PLUS_QM | Bits::NEWLINE_ALT) - Bits::DOT_NOT_NULL,
            Self::PosixExtended => Bits::EXTENDED,
            Self::Egrep | Self::PosixEgrep => {
                (Bits::EXTENDED | Bits::INVALID_INTERVAL_ORD | Bits::NEWLINE_ALT)
                    - Bits::CONTEXT_INVALID_OPS
                    - Bits::DOT_NOT_NULL
            }
            Self::GnuAwk => {
                (Bits::EXTENDED | Bits::BACKSLASH_ESCAPE_IN_LISTS | Bits::INVALID_INTERVAL_ORD)
                    - Bits::DOT_NOT_NULL
                    - Bits::CONTEXT_INDEP_OPS
                    - Bits::CONTEXT_INVALID_OPS
            }
            Self::PosixAwk => {
                Bits::EXTENDED
                    | Bits::BACKSLASH_ESCAPE_IN_LISTS
                    | Bits::NO_GNU_OPS
                    | Bits::INVALID_INTERVAL_ORD
            }
            Self::Awk => {
                Bits::BACKSLASH_ESCAPE_IN_LISTS
                    | Bits::CHAR_CLASSES
                    | Bits::CONTEXT_INDEP_ANCHORS
                    | Bits::DOT_NEWLINE
                    | Bits::DOT_NOT_NULL
                    | Bits::NO_BK_PARENS
                    | Bits::NO_BK_REFS
                    | Bits::NO_BK_VBAR
                    | Bits::NO_EMPTY_RANGES
                    | Bits::UNMATCHED_RIGHT_PAREN_ORD
                    | Bits::NO_GNU_OPS
            }
        };
        let fold = if fold_case {
            Bits::ICASE
        } else {
            Bits::empty()
        };
        (bits | fold).bits()
    }
}

bitflags::bitflags! {
    /// The rules of a syntax. The names come from `<regex.h>`, without `RE_`; that file describes
    /// each rule.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Bits: u32 {
        const BACKSLASH_ESCAPE_IN_LISTS = 1;
        const BK_PLUS_QM = 1 << 1;
        const CHAR_CLASSES = 1 << 2;
        const CONTEXT_INDEP_ANCHORS = 1 << 3;
        const CONTEXT_INDEP_OPS = 1 << 4;
        const CONTEXT_INVALID_OPS = 1 << 5;
        const DOT_NEWLINE = 1 << 6;
        const DOT_NOT_NULL = 1 << 7;
        const HAT_LISTS_NOT_NEWLINE = 1 << 8;
        const INTERVALS = 1 << 9;
        const LIMITED_OPS = 1 << 10;
        const NEWLINE_ALT = 1 << 11;
        const NO_BK_BRACES = 1 << 12;
        const NO_BK_PARENS = 1 << 13;
        const NO_BK_REFS = 1 << 14;
        const NO_BK_VBAR = 1 << 15;
        const NO_EMPTY_RANGES = 1 << 16;
        const UNMATCHED_RIGHT_PAREN_ORD = 1 << 17;
        const NO_GNU_OPS = 1 << 19;
        const INVALID_INTERVAL_ORD = 1 << 21;
        const ICASE = 1 << 22;
        const CONTEXT_INVALID_DUP = 1 << 24;

        /// Emacs's syntax.
        const EMACS = Self::CHAR_CLASSES.bits() | Self::INTERVALS.bits();
        /// The rules that POSIX's syntaxes share.
        const POSIX = Self::CHAR_CLASSES.bits()
            | Self::DOT_NEWLINE.bits()
            | Self::DOT_NOT_NULL.bits()
            | Self::INTERVALS.bits()
            | Self::NO_EMPTY_RANGES.bits();
        /// POSIX's extended syntax.
        const EXTENDED = Self::POSIX.bits()
            | Self::CONTEXT_INDEP_ANCHORS.bits()
            | Self::CONTEXT_INDEP_OPS.bits()
            | Self::NO_BK_BRACES.bits()
            | Self::NO_BK_PARENS.bits()
            | Self::NO_BK_VBAR.bits()
            | Self::CONTEXT_INVALID_OPS.bits()
            | Self::UNMATCHED_RIGHT_PAREN_ORD.bits();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What GNU find 4.9 gives to `re_set_syntax`, as seen from a library put before the C library.
    /// Since findutils 4.11 Emacs's syntax has `RE_CHAR_CLASSES` and `RE_INTERVALS` too.
    #[test]
    fn bits_are_those_of_gnu_find() {
        let seen = [
            0x0244,
            0x000b_e0cd,
            0x0101_02c6,
            0x0023_ba5c,
            0x0204,
            0x0023_b24d,
            0x0001_0a46,
            0x002b_b2fd,
            0x0101_02c6,
            0x0023_ba5c,
            0x0003_b2fc,
            0x0001_06c4,
            0x0101_02c6,
        ];
        for (name, bits) in Syntax::names().zip(seen) {
            let syntax = Syntax::named(name.as_bytes()).expect("it is listed");
            assert_eq!(syntax.bits(false), bits, "{name}");
            assert_eq!(syntax.bits(true), bits | 0x40_0000, "{name}");
        }
        assert_eq!(Syntax::named(b"perl"), None);
        assert_eq!(Syntax::default(), Syntax::Emacs);
    }
}
