//! The options common to all programs, resolved: flags first, then the environment, then the defaults.

use std::ffi::OsString;
use std::num::NonZeroUsize;

use clap::ValueEnum;
use ringwalk::{Prefetch, Scan, Walk};

use crate::cli::CommonArgs;
use crate::console;
use crate::environment::{EnvironmentError, parse_switch, read};
use crate::quote::quoted;
use crate::source_name::{SourceName, SourceNameError};

/// More threads than this on one tree were never of use; the bound keeps a slip of the finger from starting 100 000.
pub const MOST_WORKERS: usize = 1024;

/// When the line of progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ProgressWhen {
    /// When standard error is a terminal and the work takes more than half a second.
    #[default]
    Auto,
    /// Also when standard error is not a terminal: then as plain lines.
    Always,
    /// Not at all.
    Never,
}

/// Whether blocks are read ahead of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum PrefetchWhen {
    /// When they are found not to be in memory.
    #[default]
    Auto,
    /// Without looking whether they are in memory.
    Always,
    /// Not at all.
    Never,
}

impl From<PrefetchWhen> for Prefetch {
    fn from(when: PrefetchWhen) -> Self {
        match when {
            PrefetchWhen::Auto => Self::Auto,
            PrefetchWhen::Always => Self::Always,
            PrefetchWhen::Never => Self::Never,
        }
    }
}

/// What every program needs to know to start a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineOptions {
    /// Where directory data comes from.
    pub source: SourceName,
    /// Number of workers; none when the engine shall find it.
    pub workers: Option<NonZeroUsize>,
    /// Whether to read blocks ahead, in the order of the disk.
    pub prefetch: PrefetchWhen,
    /// Have file systems write back what is dirty first.
    pub sync: bool,
    /// Say afterwards what was used, and why.
    pub explain: bool,
    /// When to show progress.
    pub progress: ProgressWhen,
}

impl EngineOptions {
    /// Resolves the flags with the environment of this process.
    ///
    /// A variable that is empty counts as not set, and one that a flag overrides is not looked at.
    ///
    /// # Errors
    ///
    /// When a variable that is needed holds a value that cannot be used.
    pub fn resolve(common: &CommonArgs) -> Result<Self, EnvironmentError> {
        Self::resolve_with(common, |name| std::env::var_os(name))
    }

    fn resolve_with(
        common: &CommonArgs,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, EnvironmentError> {
        let from_environment = |name: &str| variable(name).filter(|value| !value.is_empty());
        let source = match common.source {
            Some(source) => source,
            None => read("RINGWALK_SOURCE", from_environment, |value| {
                value
                    .parse()
                    .map_err(|error: SourceNameError| error.to_string())
            })?
            .unwrap_or_default(),
        };
        let workers = match common.workers {
            Some(workers) => Some(workers),
            None => read("RINGWALK_WORKERS", from_environment, parse_workers)?,
        };
        let switch = |given: bool, name| -> Result<bool, EnvironmentError> {
            Ok(given || read(name, from_environment, parse_switch)?.unwrap_or(false))
        };
        Ok(Self {
            source,
            workers,
            prefetch: when(common.prefetch, "RINGWALK_PREFETCH", from_environment)?,
            sync: switch(common.sync, "RINGWALK_SYNC")?,
            explain: switch(common.explain, "RINGWALK_EXPLAIN")?,
            progress: when(common.progress, "RINGWALK_PROGRESS", from_environment)?,
        })
    }
}

impl EngineOptions {
    /// Sets up `walk` as asked for. The program may raise its own limit on open files.
    fn apply(&self, walk: Walk) -> Walk {
        walk.source(self.source.into())
            .prefetch(self.prefetch.into())
            .sync(self.sync)
            .workers(self.workers)
            .raise_limits(true)
    }

    /// Sets up `walk` as asked for, unless the source that was asked for cannot read its roots: that is told, and nothing is read by
    /// another one.
    pub fn ready(&self, walk: Walk) -> Option<Walk> {
        let walk = self.apply(walk);
        match walk.check_source() {
            Ok(()) => Some(walk),
            Err(error) => {
                let (path, source, reason) = (quoted(error.path()), self.source, error.reason());
                console::error(format_args!(
                    "cannot read {path} by source {source}: {reason}"
                ));
                None
            }
        }
    }

    /// Sets up `scan` as asked for.
    pub fn apply_to_scan(&self, scan: Scan) -> Scan {
        scan.source(self.source.into())
            .sync(self.sync)
            .workers(self.workers)
    }
}

/// What was given, or else the variable says: `auto`, `always` or `never`.
fn when<T: ValueEnum + Default>(
    given: Option<T>,
    name: &'static str,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<T, EnvironmentError> {
    if let Some(given) = given {
        return Ok(given);
    }
    let parse = |text: &str| {
        T::from_str(text, false).map_err(|_| "expected auto, always or never".to_owned())
    };
    Ok(read(name, variable, parse)?.unwrap_or_default())
}

/// Reads a number of workers.
///
/// # Errors
///
/// What was expected, when `text` is not a whole number from 1 to [`MOST_WORKERS`].
pub fn parse_workers(text: &str) -> Result<NonZeroUsize, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if digits { text.parse().ok() } else { None };
    number
        .and_then(NonZeroUsize::new)
        .filter(|workers| workers.get() <= MOST_WORKERS)
        .ok_or_else(|| format!("expected a whole number from 1 to {MOST_WORKERS}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(
        common: &CommonArgs,
        source: &str,
        workers: &str,
    ) -> Result<EngineOptions, EnvironmentError> {
        EngineOptions::resolve_with(common, |name| match name {
            "RINGWALK_SOURCE" => Some(source.into()),
            "RINGWALK_WORKERS" => Some(workers.into()),
            "RINGWALK_EXPLAIN" | "RINGWALK_PROGRESS" | "RINGWALK_PREFETCH" | "RINGWALK_SYNC" => {
                None
            }
            other => panic!("{other} was asked for"),
        })
    }

    #[test]
    fn defaults_without_flags_and_environment() {
        let options = EngineOptions::resolve_with(&CommonArgs::default(), |_| None);
        assert_eq!(options, Ok(EngineOptions::default()));
    }

    #[test]
    fn the_environment_is_used_and_empty_means_unset() {
        let options = resolve(&CommonArgs::default(), "syscall", "3").unwrap();
        assert_eq!(options.source, SourceName::Syscall);
        assert_eq!(options.workers, NonZeroUsize::new(3));
        assert_eq!(
            resolve(&CommonArgs::default(), "", ""),
            Ok(EngineOptions::default())
        );
    }

    #[test]
    fn a_flag_wins_even_over_a_bad_variable() {
        let flags = CommonArgs {
            source: Some(SourceName::Auto),
            workers: NonZeroUsize::new(2),
            ..CommonArgs::default()
        };
        let options = resolve(&flags, "nonsense", "nonsense").unwrap();
        assert_eq!(
            (options.source, options.workers),
            (SourceName::Auto, NonZeroUsize::new(2))
        );
    }

    #[test]
    fn a_bad_variable_is_named_with_its_value() {
        let message = resolve(&CommonArgs::default(), "rings", "1")
            .unwrap_err()
            .to_string();
        assert!(
            message.starts_with("environment variable RINGWALK_SOURCE: invalid value 'rings': "),
            "{message}"
        );
        assert!(message.contains("no such source"), "{message}");
        let message = resolve(&CommonArgs::default(), "auto", "no\nne")
            .unwrap_err()
            .to_string();
        assert!(
            message.starts_with(
                r"environment variable RINGWALK_WORKERS: invalid value 'no'$'\n''ne': "
            ),
            "{message}"
        );
    }

    #[test]
    fn all_of_them_come_from_the_environment() {
        let flags = CommonArgs::default();
        let resolve = |name: &'static str, value: &'static str| {
            EngineOptions::resolve_with(&flags, move |asked| (asked == name).then(|| value.into()))
        };
        let options = |name, value| resolve(name, value).unwrap();
        assert!(options("RINGWALK_EXPLAIN", "1").explain);
        assert!(!options("RINGWALK_EXPLAIN", "0").explain);
        assert!(options("RINGWALK_SYNC", "1").sync);
        let always = options("RINGWALK_PROGRESS", "always");
        assert_eq!(always.progress, ProgressWhen::Always);
        let never = options("RINGWALK_PREFETCH", "never");
        assert_eq!(never.prefetch, PrefetchWhen::Never);
        for (name, value) in [
            ("RINGWALK_EXPLAIN", "yes"),
            ("RINGWALK_SYNC", "2"),
            ("RINGWALK_PROGRESS", "sometimes"),
            ("RINGWALK_PREFETCH", "Always"),
        ] {
            let message = resolve(name, value).unwrap_err().to_string();
            assert!(
                message.contains(name) && message.contains(value),
                "{message}"
            );
        }
    }

    #[test]
    fn flags_go_before_the_environment() {
        let flags = CommonArgs {
            prefetch: Some(PrefetchWhen::Always),
            sync: true,
            ..CommonArgs::default()
        };
        let options = EngineOptions::resolve_with(&flags, |name| match name {
            "RINGWALK_PREFETCH" | "RINGWALK_SYNC" => Some("nonsense".into()),
            _ => None,
        });
        let options = options.unwrap();
        assert_eq!(
            (options.prefetch, options.sync),
            (PrefetchWhen::Always, true)
        );
    }

    #[test]
    fn workers_are_whole_numbers_in_bounds() {
        assert_eq!(parse_workers("16"), Ok(NonZeroUsize::new(16).unwrap()));
        assert_eq!(parse_workers("1024"), Ok(NonZeroUsize::new(1024).unwrap()));
        for bad in [
            "",
            "0",
            "-1",
            "+1",
            "1.5",
            "1025",
            " 2",
            "99999999999999999999999",
        ] {
            assert!(parse_workers(bad).is_err(), "{bad:?}");
        }
    }
}
