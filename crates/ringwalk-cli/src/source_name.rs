//! Parses `--source` and `RINGWALK_SOURCE`. The names and their help are the engine's.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use ringwalk::{SourceChoice, UnknownSource};

/// Parses the name of a source. The message of the error goes behind one that has the name.
///
/// # Errors
///
/// If no source has this name.
pub fn parse_source(name: &str) -> Result<SourceChoice, String> {
    name.parse().map_err(|_: UnknownSource| {
        let names: Vec<_> = SourceChoice::names().collect();
        let names = names.join(", ");
        format!("there is no such source; this version of ringwalk has {names}")
    })
}

/// Parses `--source` for clap, and gives it the names for completions.
#[derive(Clone, Copy, Debug)]
pub struct SourceNameParser;

impl TypedValueParser for SourceNameParser {
    type Value = SourceChoice;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<SourceChoice, clap::Error> {
        TypedValueParser::parse_ref(&parse_source, command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = SourceChoice::ALL
            .iter()
            .map(|source| PossibleValue::new(source.as_str()).help(source.help()));
        Some(Box::new(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_offer_every_source() {
        let offered: Vec<_> = SourceNameParser.possible_values().unwrap().collect();
        let names: Vec<_> = offered.iter().map(PossibleValue::get_name).collect();
        assert!(SourceChoice::names().eq(names));
        assert!(offered.iter().all(|value| value.get_help().is_some()));
    }

    #[test]
    fn the_error_lists_what_there_is() {
        assert_eq!(parse_source("ring"), Ok(SourceChoice::Ring));
        let message = parse_source("rings").unwrap_err();
        assert!(message.contains("has auto, syscall, module, "), "{message}");
        for name in SourceChoice::names() {
            assert!(message.contains(name), "{message}");
        }
    }
}
