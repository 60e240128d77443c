//! Options whose value is one of several words, in full or abbreviated.

use ringwalk_gnu::quote::value;

/// A word and its meaning. Several words may have the same meaning.
pub(crate) type Choice<T> = (&'static str, T);

/// Returns the meaning of `word` among `choices`. `what` names the option in the message.
///
/// # Errors
/// GNU's message, without the program's name and without the list of words.
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
    Err(format!(
        "{fault} argument {} for {}",
        value(word),
        value(what.as_bytes())
    ))
}

/// Returns the list of `choices` that follows such a message.
pub(crate) fn list<T: Copy + PartialEq>(choices: &[Choice<T>]) -> String {
    let mut text = "Valid arguments are:".to_owned();
    let mut before = None;
    for (name, meaning) in choices {
        // Words for the same thing share a line.
        let lead = if before == Some(*meaning) {
            ", "
        } else {
            "\n  - "
        };
        text.push_str(lead);
        text.push_str(&value(name.as_bytes()));
        before = Some(*meaning);
    }
    text
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
            "invalid argument 'three' for '--x'"
        );
        assert_eq!(
            plain(choose("--x", b"tw", WORDS).unwrap_err()),
            "ambiguous argument 'tw' for '--x'"
        );
        assert_eq!(
            plain(list(WORDS)),
            "Valid arguments are:\n  - 'one', 'once'\n  - 'two'\n  - 'twofold'"
        );
    }
}
