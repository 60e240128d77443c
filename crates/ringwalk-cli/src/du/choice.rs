//! Words of which an option takes one, whole or abbreviated.

use ringwalk_gnu::quote::value;

/// A word and what it stands for; several words may stand for the same.
pub(crate) type Choice<T> = (&'static str, T);

/// What `word` stands for among `choices`, for the option (or thing) called `what`.
///
/// # Errors
/// GNU's message with the list of words, without the program's name.
pub(crate) fn choose<T: Copy + PartialEq>(
    what: &str,
    word: &[u8],
    choices: &[Choice<T>],
) -> Result<T, String> {
    if let Some((_, exact)) = choices.iter().find(|(name, _)| name.as_bytes() == word) {
        return Ok(*exact);
    }
    let mut abbreviated = choices
        .iter()
        .filter(|(name, _)| name.as_bytes().starts_with(word))
        .map(|(_, meaning)| *meaning);
    let fault = match abbreviated.next() {
        None => "invalid",
        Some(first) if abbreviated.all(|other| other == first) => return Ok(first),
        Some(_) => "ambiguous",
    };
    let mut message = format!(
        "{fault} argument {} for {}\nValid arguments are:",
        value(word),
        value(what.as_bytes())
    );
    let mut before = None;
    for (name, meaning) in choices {
        // Words for the same thing share a line.
        let lead = if before == Some(*meaning) {
            ", "
        } else {
            "\n  - "
        };
        message.push_str(lead);
        message.push_str(&value(name.as_bytes()));
        before = Some(*meaning);
    }
    Err(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &[Choice<u8>] = &[("one", 1), ("once", 1), ("two", 2), ("twofold", 3)];

    #[test]
    fn words() {
        assert_eq!(choose("x", b"one", WORDS), Ok(1));
        assert_eq!(choose("x", b"on", WORDS), Ok(1));
        assert_eq!(choose("x", b"two", WORDS), Ok(2));
        assert_eq!(choose("x", b"twof", WORDS), Ok(3));
    }

    #[test]
    fn messages() {
        let plain = |text: String| text.replace(['‘', '’'], "'");
        assert_eq!(
            plain(choose("--x", b"three", WORDS).unwrap_err()),
            "invalid argument 'three' for '--x'\nValid arguments are:\n  - 'one', 'once'\n  - 'two'\n  - 'twofold'"
        );
        let ambiguous = plain(choose("--x", b"tw", WORDS).unwrap_err());
        assert!(ambiguous.starts_with("ambiguous argument 'tw' for '--x'"));
    }
}
