//! One key, and how it is written.

use std::fmt;

/// A key, or a combination of Ctrl and a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A character.
    Char(char),
    /// Ctrl and a small letter.
    Ctrl(char),
    /// Enter.
    Enter,
    /// Esc.
    Escape,
    /// Backspace.
    Backspace,
    /// Del.
    Delete,
    /// The arrow up.
    Up,
    /// The arrow down.
    Down,
    /// The arrow to the left.
    Left,
    /// The arrow to the right.
    Right,
    /// Page Up.
    PageUp,
    /// Page Down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
}

/// The keys that have a name, and the names.
const NAMES: [(&str, Key); 15] = [
    ("enter", Key::Enter),
    ("esc", Key::Escape),
    ("backspace", Key::Backspace),
    ("del", Key::Delete),
    ("up", Key::Up),
    ("down", Key::Down),
    ("left", Key::Left),
    ("right", Key::Right),
    ("pageup", Key::PageUp),
    ("pagedown", Key::PageDown),
    ("home", Key::Home),
    ("end", Key::End),
    ("space", Key::Char(' ')),
    ("lt", Key::Char('<')),
    ("gt", Key::Char('>')),
];

impl fmt::Display for Key {
    /// Writes the name as the help shows it: `j`, `Enter`, `Ctrl-F`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Char(' ') => "Space",
            Self::Char(letter) => return write!(f, "{letter}"),
            Self::Ctrl(letter) => return write!(f, "Ctrl-{}", letter.to_ascii_uppercase()),
            Self::Enter => "Enter",
            Self::Escape => "Esc",
            Self::Backspace => "Backspace",
            Self::Delete => "Del",
            Self::Up => "Up",
            Self::Down => "Down",
            Self::Left => "Left",
            Self::Right => "Right",
            Self::PageUp => "PageUp",
            Self::PageDown => "PageDown",
            Self::Home => "Home",
            Self::End => "End",
        };
        f.write_str(name)
    }
}

/// Returns the keys that a text stands for. A character stands for its key, except `<`. That begins
/// a name, which `>` ends: `<enter>`, `<esc>`, `<pagedown>`, `<space>`, `<lt>` for `<` itself,
/// `<c-f>` for Ctrl-F.
///
/// # Errors
///
/// A message, if a name is not known or has no end.
pub fn parse(text: &str) -> Result<Vec<Key>, String> {
    let mut keys = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if letter != '<' {
            keys.push(Key::Char(letter));
            rest = &rest[letter.len_utf8()..];
            continue;
        }
        let Some((name, behind)) = rest[1..].split_once('>') else {
            return Err("a name of a key begins with < and has no >: write <lt> for <".to_owned());
        };
        keys.push(named(name).ok_or_else(|| unknown(name))?);
        rest = behind;
    }
    Ok(keys)
}

fn named(name: &str) -> Option<Key> {
    let name = name.to_ascii_lowercase();
    if let Some(letter) = name.strip_prefix("c-").or(name.strip_prefix("ctrl-")) {
        let mut letters = letter.chars();
        return match (letters.next(), letters.next()) {
            (Some(letter), None) => Some(Key::Ctrl(letter)),
            _ => None,
        };
    }
    NAMES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|&(_, key)| key)
}

fn unknown(name: &str) -> String {
    let names: Vec<&str> = NAMES.iter().map(|&(name, _)| name).collect();
    let name = ringwalk::shown::one_line(name);
    format!(
        "no key is called <{name}>: the names are {} and c-LETTER",
        names.join(", ")
    )
}
