//! A line as the words of an expression.

/// Returns the words of a line: separated by spaces, with quotes and backslashes as in a shell.
/// Nothing is expanded.
///
/// # Errors
///
/// A message, if a quote has no end.
pub(super) fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => quoted(letter, &mut letters, word.get_or_insert_default())?,
            '\\' => {
                let next = letters.next().ok_or("the line ends with a backslash")?;
                word.get_or_insert_default().push(next);
            }
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Appends what is in quotes to a word.
fn quoted(quote: char, letters: &mut std::str::Chars, word: &mut String) -> Result<(), String> {
    while let Some(letter) = letters.next() {
        if letter == quote {
            return Ok(());
        }
        if letter != '\\' || quote == '\'' {
            word.push(letter);
            continue;
        }
        match letters.next() {
            Some(next @ ('"' | '\\')) => word.push(next),
            Some(next) => word.extend([letter, next]),
            None => break,
        }
    }
    Err(format!("the quote {quote} has no end"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell() {
        assert_eq!(words(" -name  '*.o' ").unwrap(), ["-name", "*.o"]);
        assert_eq!(
            words(r"\( -name a\ b \)").unwrap(),
            ["(", "-name", "a b", ")"]
        );
        assert_eq!(words(r#"x"a \" \n b"y ''"#).unwrap(), [r#"xa " \n by"#, ""]);
        assert!(words("").unwrap().is_empty());
    }

    #[test]
    fn unfinished_lines() {
        assert!(words("-name 'x").unwrap_err().contains('\''));
        assert!(words("x\\").unwrap_err().contains("backslash"));
        assert!(words("\"\\").is_err());
    }
}
