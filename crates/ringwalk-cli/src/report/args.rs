//! The options of `ringwalk report`.

use crate::output::{OutputArgs, formats};
use crate::sizes::SizeArgs;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Args, ValueHint};
use ringwalk_answers::report::{Key, KeyError};
use std::ffi::{OsStr, OsString};

/// The largest number of `--nodes`. The page then has up to 80 MB.
const MOST_NODES: i64 = 1_000_000;

formats! {
    /// The formats of `report`.
    pub ReportFormat: Table, Json, Csv, Parquet, Html
}

/// The keys of `--by`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys(pub Vec<Key>);

fn parse_keys(text: &str) -> Result<Keys, KeyError> {
    Key::parse_list(text).map(Keys)
}

/// Parses `--by` for clap, and gives it the keys for help and completions.
#[derive(Clone, Copy, Debug)]
struct KeysParser;

impl TypedValueParser for KeysParser {
    type Value = Keys;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Keys, clap::Error> {
        TypedValueParser::parse_ref(&parse_keys, command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = Key::ALL.iter().map(|key| PossibleValue::new(key.name()));
        Some(Box::new(names))
    }
}

/// Arguments of `ringwalk report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// A snapshot, or a directory to read now
    #[arg(value_name = "SNAP|DIR", value_hint = ValueHint::AnyPath)]
    pub input: OsString,

    /// The keys of the groups, separated by commas [default: dir]
    #[arg(long, value_name = "KEY,...", value_parser = KeysParser)]
    pub by: Option<Keys>,

    /// Report on this file or directory only, with everything below it. The path is the one in the
    /// file system; it need not exist any more
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub under: Option<OsString>,

    /// Show the N largest groups, and the sums of the others [default: 20 in a table on a
    /// terminal, else all]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,

    /// How sizes are shown.
    #[command(flatten)]
    pub sizes: SizeArgs,

    /// Where the answer goes, and its form.
    #[command(flatten)]
    pub output: OutputArgs<ReportFormat>,

    /// With --format html, show the growth since the snapshot OLD
    #[arg(long, value_name = "OLD", value_hint = ValueHint::FilePath)]
    pub compare: Option<OsString>,

    /// With --format html, show at most N files and directories in the diagrams, the largest, and
    /// add up the others [default: 20000]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=MOST_NODES)
    )]
    pub nodes: Option<u32>,
}

impl ReportArgs {
    /// Refuses options that have no effect on the format.
    ///
    /// # Errors
    ///
    /// The message for the user.
    pub fn refuse(&self) -> Result<(), String> {
        self.sizes.refuse(self.output.format)?;
        let is_page = self.output.format == ReportFormat::Html;
        let refused = [
            ("by", is_page && self.by.is_some()),
            ("top", is_page && self.top.is_some()),
            ("compare", !is_page && self.compare.is_some()),
            ("nodes", !is_page && self.nodes.is_some()),
        ];
        match refused.iter().find(|(_, is_refused)| *is_refused) {
            Some((name, _)) if is_page => Err(format!("--{name} has no effect with --format html")),
            Some((name, _)) => Err(format!("--{name} needs --format html")),
            None => Ok(()),
        }
    }
}
