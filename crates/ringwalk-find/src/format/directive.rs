//! The parts of a format.

use crate::time::Time;
use ringwalk::Fields;

/// A part of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    /// Written unchanged.
    Literal(Vec<u8>),
    /// Replaced for each file.
    Directive(Directive, Shape),
}

/// A directive. The letter is the one of `-printf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    /// Written without metadata.
    Entry(EntryDirective),
    /// Written from metadata.
    Metadata(MetadataDirective),
}

/// A directive that needs no metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryDirective {
    /// `%d`.
    Depth,
    /// `%f`: the last component.
    Base,
    /// `%h`: the path without its last component.
    Head,
    /// `%H`: the starting point.
    Root,
    /// `%l`: the target that a link holds.
    Target,
    /// `%p`.
    Path,
    /// `%P`: the path without the starting point.
    Below,
    /// `%y`.
    Type,
    /// `%Y`: for links, the type of the file that they lead to.
    TargetType,
    /// `%Z`.
    Context,
}

/// A directive that is written from metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetadataDirective {
    /// `%b`: blocks of 512 bytes.
    Blocks,
    /// `%k`: blocks of 1024 bytes, rounded up.
    Kilobytes,
    /// `%D`: the number of the device.
    Device,
    /// `%F`: the type of the file system.
    FileSystem,
    /// `%g`, or the number of a group without a name.
    Group,
    /// `%G`.
    GroupNumber,
    /// `%i`.
    Inode,
    /// `%m`, in octal.
    Permissions,
    /// `%M`: as `ls -l` writes it.
    Mode,
    /// `%n`.
    Links,
    /// `%s`, in bytes.
    Size,
    /// `%S`: allocated bytes for each byte of size.
    Sparseness,
    /// `%u`, or the number of a user without a name.
    User,
    /// `%U`.
    UserNumber,
    /// `%a`, `%c`, `%t`: as ctime(3) writes it.
    Ctime(Time),
    /// `%Ak`, `%Bk`, `%Ck`, `%Tk`: by a letter of strftime(3), or `@` or `+`.
    Strftime(Time, u8),
}

/// The shape of a directive's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of printf(3)")]
pub(super) struct Shape {
    /// `-`: left-aligned in its width.
    pub(super) left: bool,
    /// `0`: numbers are padded with zeros.
    pub(super) zero: bool,
    /// `+`: signed numbers always have a sign.
    pub(super) plus: bool,
    /// A space: signed numbers have a sign or a space.
    pub(super) space: bool,
    /// `#`: octal numbers begin with 0, fractions keep their zeros.
    pub(super) alternate: bool,
    /// The least number of bytes.
    pub(super) width: usize,
    /// The most bytes of text, the least digits of an integer, or the digits of a fraction.
    pub(super) precision: Option<usize>,
}

impl Segment {
    /// Returns the metadata that the segment needs.
    pub(super) fn fields(&self) -> Fields {
        match self {
            Self::Literal(_) | Self::Directive(Directive::Entry(_), _) => Fields::empty(),
            Self::Directive(Directive::Metadata(directive), _) => directive.fields(),
        }
    }

    /// Returns true if the segment is this directive.
    pub(super) fn is(&self, wanted: EntryDirective) -> bool {
        matches!(self, Self::Directive(Directive::Entry(directive), _) if *directive == wanted)
    }

    /// Returns true if the segment depends on the type of the file.
    pub(super) fn asks_type(&self) -> bool {
        match self {
            Self::Literal(_) | Self::Directive(Directive::Metadata(_), _) => false,
            Self::Directive(Directive::Entry(directive), _) => directive.asks_type(),
        }
    }
}

impl EntryDirective {
    fn asks_type(self) -> bool {
        match self {
            Self::Type | Self::TargetType | Self::Target => true,
            Self::Depth
            | Self::Base
            | Self::Head
            | Self::Root
            | Self::Path
            | Self::Below
            | Self::Context => false,
        }
    }
}

impl From<EntryDirective> for Directive {
    fn from(directive: EntryDirective) -> Self {
        Self::Entry(directive)
    }
}

impl From<MetadataDirective> for Directive {
    fn from(directive: MetadataDirective) -> Self {
        Self::Metadata(directive)
    }
}

/// The directives of one letter.
const LETTERS: [(u8, Directive); 27] = {
    use Directive::{Entry, Metadata};
    use EntryDirective as E;
    use MetadataDirective as M;
    [
        (b'a', Metadata(M::Ctime(Time::Access))),
        (b'b', Metadata(M::Blocks)),
        (b'c', Metadata(M::Ctime(Time::Change))),
        (b'd', Entry(E::Depth)),
        (b'D', Metadata(M::Device)),
        (b'f', Entry(E::Base)),
        (b'F', Metadata(M::FileSystem)),
        (b'g', Metadata(M::Group)),
        (b'G', Metadata(M::GroupNumber)),
        (b'h', Entry(E::Head)),
        (b'H', Entry(E::Root)),
        (b'i', Metadata(M::Inode)),
        (b'k', Metadata(M::Kilobytes)),
        (b'l', Entry(E::Target)),
        (b'm', Metadata(M::Permissions)),
        (b'M', Metadata(M::Mode)),
        (b'n', Metadata(M::Links)),
        (b'p', Entry(E::Path)),
        (b'P', Entry(E::Below)),
        (b's', Metadata(M::Size)),
        (b'S', Metadata(M::Sparseness)),
        (b't', Metadata(M::Ctime(Time::Modification))),
        (b'u', Metadata(M::User)),
        (b'U', Metadata(M::UserNumber)),
        (b'y', Entry(E::Type)),
        (b'Y', Entry(E::TargetType)),
        (b'Z', Entry(E::Context)),
    ]
};

/// The times by the first letter of a directive of two.
const TIMES: [(u8, Time); 4] = [
    (b'A', Time::Access),
    (b'B', Time::Birth),
    (b'C', Time::Change),
    (b'T', Time::Modification),
];

/// Returns all directives as the manual writes them: `%p`, and `%Ak` for a time by any letter.
pub fn directives() -> impl Iterator<Item = String> {
    let letters = LETTERS
        .iter()
        .map(|(letter, _)| format!("%{}", char::from(*letter)));
    letters.chain(
        TIMES
            .iter()
            .map(|(letter, _)| format!("%{}k", char::from(*letter))),
    )
}

impl Directive {
    /// Returns the directive of a letter, except for times by a second letter.
    pub(super) fn from_letter(letter: u8) -> Option<Self> {
        by_letter(&LETTERS, letter)
    }

    /// Returns the time that the first letter of a two-letter directive means.
    pub(super) fn time(letter: u8) -> Option<Time> {
        by_letter(&TIMES, letter)
    }
}

fn by_letter<T: Copy>(table: &[(u8, T)], letter: u8) -> Option<T> {
    let mut rows = table.iter();
    rows.find(|(known, _)| *known == letter)
        .map(|(_, meaning)| *meaning)
}

impl MetadataDirective {
    /// Returns the metadata that the directive is written from. This is never empty.
    fn fields(self) -> Fields {
        match self {
            // Every answer of statx has the device in it, whatever was asked for. Of a file in a
            // saved tree both are known together.
            Self::Device | Self::FileSystem => Fields::TYPE.union(Fields::MNT_ID),
            Self::Blocks | Self::Kilobytes => Fields::BLOCKS,
            Self::Group | Self::GroupNumber => Fields::GID,
            Self::User | Self::UserNumber => Fields::UID,
            Self::Inode => Fields::INO,
            Self::Permissions => Fields::MODE,
            Self::Mode => Fields::TYPE.union(Fields::MODE),
            Self::Links => Fields::NLINK,
            Self::Size => Fields::SIZE,
            Self::Sparseness => Fields::SIZE.union(Fields::BLOCKS),
            Self::Ctime(time) | Self::Strftime(time, _) => time.field(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_from_metadata_ask_for_metadata() {
        let times = TIMES.map(|(_, time)| MetadataDirective::Strftime(time, b'Y').into());
        for directive in LETTERS.iter().map(|(_, directive)| *directive).chain(times) {
            let segment = Segment::Directive(directive, Shape::default());
            match directive {
                Directive::Entry(_) => assert!(segment.fields().is_empty(), "{directive:?}"),
                Directive::Metadata(_) => assert!(!segment.fields().is_empty(), "{directive:?}"),
            }
        }
    }

    #[test]
    fn letters_are_there_once() {
        let mut letters: Vec<u8> = LETTERS.iter().map(|(letter, _)| *letter).collect();
        letters.extend(TIMES.map(|(letter, _)| letter));
        let all = letters.len();
        letters.sort_unstable();
        letters.dedup();
        assert_eq!(letters.len(), all);
    }
}
