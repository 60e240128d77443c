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
mod tests;
