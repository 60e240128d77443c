//! What a format is made of.

use crate::expression::Time;
use ringwalk::Fields;

/// A piece of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    /// Written as it is.
    Literal(Vec<u8>),
    /// Filled in for each file.
    Directive(Directive, Shape),
}

/// What is filled in. The letter is the one of `-printf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    /// `%b`: blocks of 512 bytes.
    Blocks,
    /// `%k`: blocks of 1024 bytes, rounded up.
    Kilobytes,
    /// `%d`.
    Depth,
    /// `%D`: the number of the device.
    Device,
    /// `%f`: the last component.
    Base,
    /// `%F`: the type of the file system.
    FileSystem,
    /// `%g`, or the number where it has no name.
    Group,
    /// `%G`.
    GroupNumber,
    /// `%h`: what stands before the last component.
    Head,
    /// `%H`: the starting point.
    Root,
    /// `%i`.
    Inode,
    /// `%l`: what a link holds.
    Target,
    /// `%m`, in octal.
    Permissions,
    /// `%M`: as `ls -l` has it.
    Mode,
    /// `%n`.
    Links,
    /// `%p`.
    Path,
    /// `%P`: the path without the starting point.
    Below,
    /// `%s`, in bytes.
    Size,
    /// `%S`: allocated bytes to a byte of size.
    Sparseness,
    /// `%u`, or the number where it has no name.
    User,
    /// `%U`.
    UserNumber,
    /// `%y`.
    Type,
    /// `%Y`: for links, of what they lead to.
    TargetType,
    /// `%Z`.
    Context,
    /// `%a`, `%c`, `%t`: as ctime(3) has it.
    Ctime(Time),
    /// `%Ak`, `%Bk`, `%Ck`, `%Tk`: by a letter of strftime(3), or `@` or `+`.
    Strftime(Time, u8),
}

impl Segment {
    /// Whether it depends on the type of the file.
    pub(super) fn asks_type(&self) -> bool {
        use Directive::{Target, TargetType, Type};
        matches!(self, Self::Directive(Type | TargetType | Target, _))
    }
}

/// How it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of printf(3)")]
pub(super) struct Shape {
    /// `-`: to the left in its width.
    pub(super) left: bool,
    /// `0`: numbers are filled with zeros.
    pub(super) zero: bool,
    /// `+`: numbers that may be negative have a sign.
    pub(super) plus: bool,
    /// A space: those have a sign or a space.
    pub(super) space: bool,
    /// `#`: octal numbers begin with 0, fractions keep their zeros.
    pub(super) alternate: bool,
    /// Least number of bytes.
    pub(super) width: usize,
    /// Most bytes of text; least digits of an integer; digits of a fraction.
    pub(super) precision: Option<usize>,
}

impl Segment {
    /// The metadata that it needs.
    pub(super) fn fields(&self) -> Fields {
        match self {
            Self::Literal(_) => Fields::empty(),
            Self::Directive(directive, _) => directive.fields(),
        }
    }
}

impl Directive {
    /// The directive of a letter, but for times, which take two.
    pub(super) fn from_letter(letter: u8) -> Option<Self> {
        Some(match letter {
            b'a' => Self::Ctime(Time::Access),
            b'b' => Self::Blocks,
            b'c' => Self::Ctime(Time::Change),
            b'd' => Self::Depth,
            b'D' => Self::Device,
            b'f' => Self::Base,
            b'F' => Self::FileSystem,
            b'g' => Self::Group,
            b'G' => Self::GroupNumber,
            b'h' => Self::Head,
            b'H' => Self::Root,
            b'i' => Self::Inode,
            b'k' => Self::Kilobytes,
            b'l' => Self::Target,
            b'm' => Self::Permissions,
            b'M' => Self::Mode,
            b'n' => Self::Links,
            b'p' => Self::Path,
            b'P' => Self::Below,
            b's' => Self::Size,
            b'S' => Self::Sparseness,
            b't' => Self::Ctime(Time::Modification),
            b'u' => Self::User,
            b'U' => Self::UserNumber,
            b'y' => Self::Type,
            b'Y' => Self::TargetType,
            b'Z' => Self::Context,
            _ => return None,
        })
    }

    /// Which time the first letter of a two-letter directive means.
    pub(super) fn time(letter: u8) -> Option<Time> {
        Some(match letter {
            b'A' => Time::Access,
            b'B' => Time::Birth,
            b'C' => Time::Change,
            b'T' => Time::Modification,
            _ => return None,
        })
    }

    fn fields(self) -> Fields {
        match self {
            Self::Base
            | Self::Below
            | Self::Context
            | Self::Depth
            | Self::Head
            | Self::Path
            | Self::Root
            | Self::Target
            | Self::TargetType
            | Self::Type => Fields::empty(),
            // Every answer of statx has the device in it, whatever was asked for.
            Self::Device | Self::FileSystem => Fields::TYPE,
            Self::Blocks | Self::Kilobytes => Fields::BLOCKS,
            Self::Group | Self::GroupNumber => Fields::GID,
            Self::User | Self::UserNumber => Fields::UID,
            Self::Inode => Fields::INO,
            Self::Permissions => Fields::MODE,
            Self::Mode => Fields::TYPE.union(Fields::MODE),
            Self::Links => Fields::NLINK,
            Self::Size => Fields::SIZE,
            Self::Sparseness => Fields::SIZE.union(Fields::BLOCKS),
            Self::Ctime(time) | Self::Strftime(time, _) => match time {
                Time::Access => Fields::ATIME,
                Time::Birth => Fields::BTIME,
                Time::Change => Fields::CTIME,
                Time::Modification => Fields::MTIME,
            },
        }
    }
}
