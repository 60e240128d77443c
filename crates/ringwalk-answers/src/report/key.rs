//! The keys by which a report groups rows.

use std::fmt;

/// What the rows of one group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Key {
    /// The owner.
    Owner,
    /// The group of users.
    Group,
    /// The project to which quotas charge the file.
    Project,
    /// The [age class](super::AgeClass).
    Age,
    /// The [size class](super::SizeClass).
    Size,
    /// The type of the file.
    Type,
    /// The directory directly below the root, or below the directory of
    /// [`ReportOptions::under`](super::ReportOptions::under).
    Directory,
    /// The extension of the name.
    Extension,
}

impl Key {
    /// All keys, in the order of the documentation.
    pub const ALL: [Self; 8] = [
        Self::Owner,
        Self::Group,
        Self::Project,
        Self::Age,
        Self::Size,
        Self::Type,
        Self::Directory,
        Self::Extension,
    ];

    /// Returns the name of the key on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Group => "group",
            Self::Project => "project",
            Self::Age => "age",
            Self::Size => "size",
            Self::Type => "type",
            Self::Directory => "dir",
            Self::Extension => "ext",
        }
    }

    /// Returns the key with this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    /// Parses names of keys, separated by commas.
    ///
    /// # Errors
    ///
    /// When a name is no key, or stands twice. The error names it and what was expected.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, KeyError> {
        let mut keys = Vec::new();
        for name in text.split(',') {
            let key = Self::of_name(name).ok_or_else(|| KeyError::Unknown(name.to_owned()))?;
            if keys.contains(&key) {
                return Err(KeyError::Twice(key));
            }
            keys.push(key);
        }
        Ok(keys)
    }

    /// Returns true if the key has few values in an order of their own.
    pub fn has_classes(self) -> bool {
        matches!(self, Self::Age | Self::Size)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A list of keys that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// A name that is no key.
    Unknown(String),
    /// A key that stands twice.
    Twice(Key),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => {
                write!(f, "unknown key '{name}': expected a list of ")?;
                for (at, key) in Key::ALL.iter().enumerate() {
                    let separator = if at == 0 { "" } else { ", " };
                    write!(f, "{separator}{key}")?;
                }
                f.write_str(", separated by commas")
            }
            Self::Twice(key) => write!(f, "the key '{key}' stands twice: expected it once"),
        }
    }
}

impl std::error::Error for KeyError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_name_that_leads_back_to_it() {
        for key in Key::ALL {
            assert_eq!(Key::of_name(key.name()), Some(key));
        }
    }

    #[test]
    fn a_list_keeps_its_order() {
        assert_eq!(Key::parse_list("owner,age"), Ok(vec![Key::Owner, Key::Age]));
        assert_eq!(Key::parse_list("age,owner"), Ok(vec![Key::Age, Key::Owner]));
        assert_eq!(Key::parse_list("ext"), Ok(vec![Key::Extension]));
    }

    #[test]
    fn an_error_names_the_word_and_what_was_expected() {
        let message = Key::parse_list("owner,ages").unwrap_err().to_string();
        assert!(message.contains("'ages'"), "{message}");
        for key in Key::ALL {
            assert!(message.contains(key.name()), "{message}");
        }
        let message = Key::parse_list("owner,owner").unwrap_err().to_string();
        assert!(
            message.contains("'owner'") && message.contains("twice"),
            "{message}"
        );
        for text in ["", ",", "owner,", " owner"] {
            assert!(Key::parse_list(text).is_err(), "{text:?}");
        }
    }
}
