//! The system's words for an error.

use std::io;

/// The system's words for an error, without Rust's `(os error N)`.
pub fn reason(failure: &io::Error) -> String {
    let text = failure.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_the_systems_words() {
        assert_eq!(
            reason(&io::Error::from_raw_os_error(13)),
            "Permission denied"
        );
        assert_eq!(reason(&io::Error::other("no such thing")), "no such thing");
    }
}
