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

#[cfg(test)]
mod tests;
