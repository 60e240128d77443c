//! The formats of answers. A command names those that it can write by [`formats!`]. Clap refuses
//! the others.

use clap::ValueEnum;
use clap::builder::PossibleValue;

/// All formats that commands write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text for people.
    Table,
    /// One object of JSON.
    Json,
    /// Objects of JSON, one a line.
    Ndjson,
    /// Comma-separated values.
    Csv,
    /// A Parquet file.
    Parquet,
    /// A page for a browser.
    Html,
    /// The lists of fdupes.
    Fdupes,
    /// The JSON of ncdu.
    Ncdu,
}

impl Format {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// Returns the name on the command line, and its help.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Table => ("table", "Text for people"),
            Self::Json => ("json", "One object of JSON"),
            Self::Ndjson => ("ndjson", "Objects of JSON, one a line"),
            Self::Csv => (
                "csv",
                "Comma-separated values (RFC 4180), a line of names first",
            ),
            Self::Parquet => ("parquet", "A table in a Parquet file"),
            Self::Html => ("html", "A page for a browser, which needs no network"),
            Self::Fdupes => (
                "fdupes",
                "A path a line, with an empty line between groups, as fdupes and jdupes print them",
            ),
            Self::Ncdu => ("ncdu", "JSON for ncdu -f"),
        }
    }

    /// Returns the value as clap shows it.
    pub fn possible_value(self) -> PossibleValue {
        let (name, help) = self.words();
        PossibleValue::new(name).help(help)
    }

    /// Returns true if nobody wants to see the bytes on a terminal.
    pub fn is_for_programs_only(self) -> bool {
        matches!(self, Self::Parquet | Self::Html)
    }
}

/// The formats of one command.
pub trait OneOf: ValueEnum + Copy + Default + Send + Sync + 'static {
    /// Returns the format.
    fn format(self) -> Format;
}

/// Defines the formats of one command. The first one is the default.
macro_rules! formats {
    ($(#[$doc:meta])* $visibility:vis $name:ident: $first:ident $(, $other:ident)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $visibility enum $name {
            #[default]
            #[doc = concat!("[`Format::", stringify!($first), "`](crate::output::Format)")]
            $first,
            $(#[doc = concat!("[`Format::", stringify!($other), "`](crate::output::Format)")] $other),*
        }

        impl clap::ValueEnum for $name {
            fn value_variants<'a>() -> &'a [Self] {
                &[Self::$first $(, Self::$other)*]
            }

            fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
                Some($crate::output::OneOf::format(*self).possible_value())
            }
        }

        impl $crate::output::OneOf for $name {
            fn format(self) -> $crate::output::Format {
                match self {
                    Self::$first => $crate::output::Format::$first,
                    $(Self::$other => $crate::output::Format::$other),*
                }
            }
        }
    };
}
pub(crate) use formats;

formats! {
    /// The formats of `count` and `doctor`.
    pub TextFormat: Table, Json
}
