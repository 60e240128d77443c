//! Colours and attributes. Attributes and characters say the same as colours, so a screen without
//! colours lacks nothing.

use ratatui::style::{Color, Modifier, Style};

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

    fn coloured(self, colour: Color) -> Style {
        if self.colour {
            Style::new().fg(colour)
        } else {
            Style::new()
        }
    }

    /// Ordinary text.
    pub(crate) fn plain(self) -> Style {
        Style::new()
    }

    /// The first line, and the frame of a dialog.
    pub(crate) fn title(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// The line under the cursor.
    pub(crate) fn cursor(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Headings.
    pub(crate) fn heading(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// A directory.
    pub(crate) fn directory(self) -> Style {
        self.coloured(Color::Blue).add_modifier(Modifier::BOLD)
    }

    /// A marked entry.
    pub(crate) fn marked(self) -> Style {
        self.coloured(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    /// What failed, and what deletes.
    pub(crate) fn error(self) -> Style {
        self.coloured(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// What matters less.
    pub(crate) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// What has grown or shrunk.
    pub(crate) fn growth(self, growth: i64) -> Style {
        match growth {
            0 => self.dim(),
            1.. => self.coloured(Color::Red),
            _ => self.coloured(Color::Green),
        }
    }

    /// A tile of the treemap. Neighbours differ.
    pub(crate) fn tile(self, index: usize, is_directory: bool) -> Style {
        const COLOURS: [Color; 6] = [
            Color::Blue,
            Color::Green,
            Color::Magenta,
            Color::Cyan,
            Color::Yellow,
            Color::Red,
        ];
        let style = self.coloured(COLOURS[index % COLOURS.len()]);
        if is_directory {
            style.add_modifier(Modifier::BOLD)
        } else {
            style
        }
    }
}
