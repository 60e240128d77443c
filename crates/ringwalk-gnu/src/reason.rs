//! The system's text for an error.

use std::io;

/// Returns the system's text for an error, without Rust's `(os error N)`.
pub fn reason(failure: &io::Error) -> String {
    let text = failure.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// Adds to the error of starting a thread what could not be done.
#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
pub fn no_thread(error: io::Error) -> io::Error {
    let text = format!("cannot start a thread: {}", reason(&error));
    io::Error::new(error.kind(), text)
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
        let refused = no_thread(io::Error::from_raw_os_error(11));
        assert_eq!(
            reason(&refused),
            "cannot start a thread: Resource temporarily unavailable"
        );
    }
}
