//! Options whose value is one of several words, in full or abbreviated.

use ringwalk_gnu::quote::value;

/// A word and its meaning. Several words may have the same meaning.
pub(crate) type Choice<T> = (&'static str, T);

/// Returns the meaning of `word` among `choices`. `what` names the option in the message.
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
mod tests;
