//! What the output allows: the width of the terminal, bold text, and characters for bars.

use crate::console;
use ringwalk_gnu::locale::utf8;
use ringwalk_gnu::terminal_safe;
use ringwalk_text::SizeFormat;

/// Columns of a terminal that does not report their number.
const USUAL_COLUMNS: usize = 80;

/// What the output allows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// The output is a terminal.
    pub(super) terminal: bool,
    /// The number of columns; no limit if it is no terminal.
    pub(super) columns: usize,
    /// Heads and totals are bold.
    pub(super) bold: bool,
    /// How sizes are shown.
    pub(super) sizes: SizeFormat,
    /// Text may have characters other than those of ASCII.
    pub(super) utf8: bool,
}

impl Style {
    /// Returns the style of the output. A terminal is the one on standard output.
    pub(super) fn of_output(terminal: bool, sizes: SizeFormat) -> Self {
        let columns = match console::stdout_columns() {
            _ if !terminal => usize::MAX,
            0 => USUAL_COLUMNS,
            columns => columns,
        };
        Self {
            terminal,
            columns,
            bold: terminal && console::stdout_has_colors(),
            sizes,
            utf8: utf8(),
        }
    }

    /// Returns a line of a table, bold if the terminal can do that.
    pub(super) fn strong(&self, line: &str) -> String {
        if self.bold {
            format!("\x1b[1m{line}\x1b[0m")
        } else {
            line.to_owned()
        }
    }

    /// Returns the text of a label. It stays on its line, and does not command a terminal. A pipe
    /// gets characters that the locale does not have; JSON and CSV have every byte.
    pub(super) fn label(&self, label: &[u8]) -> String {
        if self.terminal {
            let mut safe = Vec::new();
            terminal_safe(label, &mut safe);
            return String::from_utf8_lossy(&safe).into_owned();
        }
        let text = String::from_utf8_lossy(label);
        let shown = |character: char| {
            if character.is_control() {
                '?'
            } else {
                character
            }
        };
        text.chars().map(shown).collect()
    }

    /// Returns a bar for `part` of `whole`, at most `width` columns wide.
    pub(super) fn bar(&self, part: u64, whole: u64, width: usize) -> String {
        const PIECES: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
        if whole == 0 {
            return String::new();
        }
        let eighths = u128::from(part) * (width as u128) * 8 / u128::from(whole);
        let eighths = usize::try_from(eighths)
            .unwrap_or(usize::MAX)
            .min(width * 8);
        if self.utf8 {
            "█".repeat(eighths / 8) + PIECES[eighths % 8]
        } else {
            "#".repeat(eighths / 8)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style {
        terminal: false,
        columns: 80,
        bold: false,
        sizes: SizeFormat::Human,
        utf8: true,
    };

    #[test]
    fn bars_grow_by_eighths_of_a_column() {
        assert_eq!(PLAIN.bar(16, 16, 2), "██");
        assert_eq!(PLAIN.bar(15, 16, 2), "█▉");
        assert_eq!(PLAIN.bar(1, 16, 2), "▏");
        assert_eq!(PLAIN.bar(0, 16, 2), "");
        assert_eq!(PLAIN.bar(0, 0, 2), "");
        assert_eq!(PLAIN.bar(u64::MAX, u64::MAX, 3), "███");
    }

    #[test]
    fn without_utf_8_bars_are_number_signs() {
        let style = Style {
            utf8: false,
            ..PLAIN
        };
        assert_eq!(style.bar(15, 16, 4), "###");
    }

    #[test]
    fn labels_keep_no_control_characters() {
        assert_eq!(PLAIN.label(b"a\n\x1b[2Jb"), "a??[2Jb");
        assert_eq!(PLAIN.label("é".as_bytes()), "é");
        let terminal = Style {
            terminal: true,
            ..PLAIN
        };
        assert_eq!(terminal.label(b"a\x1bb\n"), "a?b?");
    }

    #[test]
    fn bold_text_ends_where_the_line_ends() {
        let style = Style {
            bold: true,
            ..PLAIN
        };
        assert_eq!(style.strong("head"), "\x1b[1mhead\x1b[0m");
        assert_eq!(PLAIN.strong("head"), "head");
    }
}
