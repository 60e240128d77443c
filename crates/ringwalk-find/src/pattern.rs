//! Shell patterns, made ready for many names.

/// A shell pattern as `fnmatch(3)` has it without flags.
#[derive(Clone, Debug)]
pub struct Pattern;

impl Pattern {
    /// Makes `pattern` ready. `fold_case`: upper and lower case are the same. In UTF-8 (`utf8`), `?` and sets match
    /// whole characters.
    pub fn new(pattern: &[u8], fold_case: bool, utf8: bool) -> Self {
        let _ = (pattern, fold_case, utf8);
        Self
    }

    /// Whether the whole of `text` matches.
    pub fn matches(&self, text: &[u8]) -> bool {
        let _ = text;
        false
    }

    /// What every text that matches begins with, byte for byte; may be empty.
    pub fn literal_prefix(&self) -> &[u8] {
        b""
    }

    /// How it is matched, for `-D tree`: `literal`, `suffix`, `pattern`...
    pub fn method(&self) -> &'static str {
        "pattern"
    }
}
