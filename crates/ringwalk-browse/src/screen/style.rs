//! Colours and attributes. Attributes and characters say the same as colours, so a screen without
//! colours lacks nothing.

use std::io::{self, Write};

/// A colour of the terminal's palette.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Red = 1,
    Green = 2,
    Yellow = 3,
    Blue = 4,
    Magenta = 5,
    Cyan = 6,
}

/// Colour and attributes of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) colour: Option<Colour>,
    bold: bool,
    dim: bool,
    reversed: bool,
}

impl Style {
    const PLAIN: Self = Self {
        colour: None,
        bold: false,
        dim: false,
        reversed: false,
    };
    pub(crate) const BOLD: Self = Self {
        bold: true,
        ..Self::PLAIN
    };
    pub(crate) const DIM: Self = Self {
        dim: true,
        ..Self::PLAIN
    };
    pub(crate) const REVERSED: Self = Self {
        reversed: true,
        ..Self::PLAIN
    };

    /// Returns this style with the attributes of another one, and with its colour if it has one.
    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            colour: other.colour.or(self.colour),
            bold: self.bold || other.bold,
            dim: self.dim || other.dim,
            reversed: self.reversed || other.reversed,
        }
    }

    /// Writes the control sequence that makes the terminal use this style and no other.
    ///
    /// # Errors
    ///
    /// The errors of writing.
    pub(super) fn write(self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(b"\x1b[0")?;
        for (is_set, code) in [(self.bold, ";1"), (self.dim, ";2"), (self.reversed, ";7")] {
            if is_set {
                out.write_all(code.as_bytes())?;
            }
        }
        if let Some(colour) = self.colour {
            // Bold text keeps a colour that is chosen in this way; 30 to 37 would make it brighter.
            write!(out, ";38;5;{}", colour as u8)?;
        }
        out.write_all(b"m")
    }
}

/// The styles of a screen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Palette {
    colour: bool,
}

#[expect(
    clippy::unused_self,
    reason = "all styles are asked for in the same way"
)]
impl Palette {
    /// Returns styles with or without colours.
    pub(crate) fn new(colour: bool) -> Self {
        Self { colour }
    }

    fn coloured(self, colour: Colour) -> Style {
        Style {
            colour: self.colour.then_some(colour),
            ..Style::PLAIN
        }
    }

    /// Ordinary text.
    pub(crate) fn plain(self) -> Style {
        Style::PLAIN
    }

    /// The first line, and the frame of a dialog.
    pub(crate) fn title(self) -> Style {
        Style::REVERSED
    }

    /// The line under the cursor.
    pub(crate) fn cursor(self) -> Style {
        Style::REVERSED
    }

    /// Headings.
    pub(crate) fn heading(self) -> Style {
        Style::BOLD
    }

    /// A directory.
    pub(crate) fn directory(self) -> Style {
        self.coloured(Colour::Blue).with(Style::BOLD)
    }

    /// A marked entry.
    pub(crate) fn marked(self) -> Style {
        self.coloured(Colour::Yellow).with(Style::BOLD)
    }

    /// What failed, and what deletes.
    pub(crate) fn error(self) -> Style {
        self.coloured(Colour::Red).with(Style::BOLD)
    }

    /// What matters less.
    pub(crate) fn dim(self) -> Style {
        Style::DIM
    }

    /// What has grown or shrunk.
    pub(crate) fn growth(self, growth: i64) -> Style {
        match growth {
            0 => self.dim(),
            1.. => self.coloured(Colour::Red),
            _ => self.coloured(Colour::Green),
        }
    }

    /// A tile of the treemap. Neighbours differ.
    pub(crate) fn tile(self, index: usize, is_directory: bool) -> Style {
        const COLOURS: [Colour; 6] = [
            Colour::Blue,
            Colour::Green,
            Colour::Magenta,
            Colour::Cyan,
            Colour::Yellow,
            Colour::Red,
        ];
        let style = self.coloured(COLOURS[index % COLOURS.len()]);
        if is_directory {
            style.with(Style::BOLD)
        } else {
            style
        }
    }
}
