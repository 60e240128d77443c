//! Regular expressions in the syntaxes of `-regextype`, each matched against a whole path.

/// A syntax, by the names of `-regextype`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    /// `findutils-default`: Emacs's, but `.` matches a newline.
    #[default]
    FindutilsDefault,
}

impl Syntax {
    /// The syntax of this name.
    pub fn named(name: &[u8]) -> Option<Self> {
        (name == b"findutils-default").then_some(Self::FindutilsDefault)
    }
}

/// A regular expression.
#[derive(Clone, Debug)]
pub struct Regex;

impl Regex {
    /// Makes `pattern` ready.
    ///
    /// # Errors
    ///
    /// GNU's words for what is wrong with it (`Unmatched ( or \\(`).
    pub fn new(
        pattern: &[u8],
        syntax: Syntax,
        fold_case: bool,
        utf8: bool,
    ) -> Result<Self, String> {
        let _ = (pattern, syntax, fold_case, utf8);
        Ok(Self)
    }

    /// Whether the whole of `path` matches.
    pub fn matches(&self, path: &[u8]) -> bool {
        let _ = path;
        false
    }

    /// What every path that matches begins with, byte for byte; may be empty.
    pub fn literal_prefix(&self) -> &[u8] {
        b""
    }

    /// How it is matched, for `-D tree`.
    pub fn method(&self) -> &'static str {
        "automaton"
    }
}
