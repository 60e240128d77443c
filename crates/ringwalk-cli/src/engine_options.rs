//! The common options, resolved: flags first, then the environment, then the
//! defaults.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::sync::Arc;

use clap::ValueEnum;
use ringwalk::{InodeSweep, Monitor, SourceChoice, Summary, Walk, warm_workers};

use crate::common_args::{CommonArgs, PrefetchWhen, ProgressWhen, parse_workers};
use crate::environment::{EnvironmentError, parse_switch, read};
use crate::explain::explain;
use crate::progress::Progress;
use crate::quote::quoted;
use crate::source_name::parse_source;
use crate::status::{Ended, trouble};

/// The options that every program needs to start a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineOptions {
    /// The source of directories.
    pub source: SourceChoice,
    /// Number of workers. `None` if the engine chooses it.
    pub workers: Option<NonZeroUsize>,
    /// The most requests for metadata at a time. `None` if the engine chooses it.
    pub in_flight: Option<NonZeroUsize>,
    /// When to read blocks ahead, in the order of the disk.
    pub prefetch: PrefetchWhen,
    /// File systems write changed data back first.
    pub sync: bool,
    /// A report about the walk follows the work.
    pub explain: bool,
    /// When to show progress.
    pub progress: ProgressWhen,
    /// The options as they stand on the command line, without the environment.
    given: CommonArgs,
}

/// What a command does not do, so that options about it have no effect. From `Directories` on, each
/// one lacks what those before it lack, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lacks {
    /// It can walk directories, and report on the walk.
    Nothing,
    /// It fills the screen with its answer: there is no line of progress, and no report behind the
    /// work.
    Lines,
    /// It walks a snapshot in place of directories.
    Directories,
    /// It adds up or compares rows, with several threads.
    Walk,
    /// It has one thread of its own.
    Workers,
    /// It shows no progress either.
    Progress,
}

impl Lacks {
    /// Returns true if the common option with this long name has an effect on such a command.
    pub fn leaves(self, option: &str) -> bool {
        if self == Self::Lines {
            return !matches!(option, "explain" | "progress");
        }
        let needed = match option {
            "explain" => Self::Walk,
            "workers" => Self::Workers,
            "progress" => Self::Progress,
            // The other options say how directories are read.
            _ => Self::Directories,
        };
        self < needed
    }
}

impl EngineOptions {
    /// Resolves the flags with the environment of this process.
    ///
    /// An empty variable counts as not set. A variable that a flag overrides is not read.
    ///
    /// # Errors
    ///
    /// When a variable that is read has a value that cannot be used.
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
            None => read("RINGWALK_SOURCE", from_environment, parse_source)?.unwrap_or_default(),
        };
        let workers = match common.workers {
            Some(workers) => Some(workers),
            None => read("RINGWALK_WORKERS", from_environment, parse_workers)?,
        };
        let in_flight = match common.in_flight {
            Some(in_flight) => Some(in_flight),
            None => read("RINGWALK_IN_FLIGHT", from_environment, parse_workers)?,
        };
        let switch = |given: bool, name| -> Result<bool, EnvironmentError> {
            Ok(given || read(name, from_environment, parse_switch)?.unwrap_or(false))
        };
        Ok(Self {
            source,
            workers,
            in_flight,
            prefetch: when(common.prefetch, "RINGWALK_PREFETCH", from_environment)?,
            sync: switch(common.sync, "RINGWALK_SYNC")?,
            explain: switch(common.explain, "RINGWALK_EXPLAIN")?,
            progress: when(common.progress, "RINGWALK_PROGRESS", from_environment)?,
            given: *common,
        })
    }
}

impl EngineOptions {
    /// Refuses options of the command line that have no effect. Variables of the environment are
    /// for all commands, so they are not refused. `place` says where the options have no effect.
    ///
    /// # Errors
    ///
    /// A message with the name of the option.
    pub fn refuse(&self, lacks: Lacks, place: &str) -> Result<(), String> {
        let given = &self.given;
        let options = [
            ("source", given.source.is_some()),
            ("prefetch", given.prefetch.is_some()),
            ("in-flight", given.in_flight.is_some()),
            ("sync", given.sync),
            ("explain", given.explain),
            ("workers", given.workers.is_some()),
            ("progress", given.progress.is_some()),
        ];
        let refused = options
            .iter()
            .find(|(name, is_given)| *is_given && !lacks.leaves(name));
        match refused {
            Some((name, _)) => Err(format!("option --{name} has no effect {place}")),
            None => Ok(()),
        }
    }

    /// Returns `walk` with these options. The walk may raise the program's limit on open files.
    pub(crate) fn apply(&self, walk: Walk) -> Walk {
        walk.source(self.source)
            .prefetch(self.prefetch.into())
            .sync(self.sync)
            .workers(self.workers)
            .in_flight(self.in_flight)
            .raise_limits(true)
    }

    /// Returns `walk` with these options.
    ///
    /// # Errors
    ///
    /// If the requested source cannot read the roots: no other source reads them then.
    pub fn ready(&self, walk: Walk) -> Result<Walk, Ended> {
        let walk = self.apply(walk);
        match walk.check_source() {
            Ok(()) => Ok(walk),
            Err(error) => {
                let (path, source, reason) = (quoted(error.path()), self.source, error.reason());
                Err(trouble(format_args!(
                    "cannot read {path} by source {source}: {reason}"
                )))
            }
        }
    }

    /// Returns `sweep` with these options. Each of its threads has one request in flight.
    pub fn apply_to_sweep(&self, sweep: InodeSweep) -> InodeSweep {
        sweep
            .source(self.source)
            .sync(self.sync)
            .workers(self.sweep_threads())
    }

    fn sweep_threads(&self) -> Option<NonZeroUsize> {
        match (self.workers, self.in_flight) {
            (Some(workers), Some(most)) => Some(workers.min(most)),
            (None, Some(most)) => NonZeroUsize::new(warm_workers()).map(|warm| warm.min(most)),
            (workers, None) => workers,
        }
    }

    /// Calls `run` and shows the progress that `monitor` has meanwhile. Then explains the walk or
    /// sweep whose summary `run` returns, if the user wants that.
    pub fn watch(&self, monitor: Arc<Monitor>, run: &mut dyn FnMut() -> Option<Summary>) {
        let progress = Progress::of_walk(self.progress, monitor);
        let summary = run();
        drop(progress);
        if let Some(summary) = summary
            && self.explain
        {
            explain(&summary);
        }
    }
}

/// Returns the given value, or else the value of the variable: `auto`, `always` or `never`.
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
            "RINGWALK_EXPLAIN" | "RINGWALK_PROGRESS" | "RINGWALK_PREFETCH" | "RINGWALK_SYNC"
            | "RINGWALK_IN_FLIGHT" => None,
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
        assert_eq!(options.source, SourceChoice::Syscall);
        assert_eq!(options.workers, NonZeroUsize::new(3));
        assert_eq!(
            resolve(&CommonArgs::default(), "", ""),
            Ok(EngineOptions::default())
        );
    }

    #[test]
    fn a_flag_wins_even_over_a_bad_variable() {
        let flags = CommonArgs {
            source: Some(SourceChoice::Auto),
            workers: NonZeroUsize::new(2),
            ..CommonArgs::default()
        };
        let options = resolve(&flags, "nonsense", "nonsense").unwrap();
        assert_eq!(
            (options.source, options.workers),
            (SourceChoice::Auto, NonZeroUsize::new(2))
        );
    }

    #[test]
    fn options_without_effect_are_refused_by_name() {
        let flags = CommonArgs {
            source: Some(SourceChoice::Auto),
            ..CommonArgs::default()
        };
        let options = resolve(&flags, "", "").unwrap();
        let refused = options
            .refuse(Lacks::Directories, "with --from")
            .unwrap_err();
        assert_eq!(refused, "option --source has no effect with --from");
        let flags = CommonArgs {
            workers: NonZeroUsize::new(2),
            progress: Some(ProgressWhen::Always),
            ..CommonArgs::default()
        };
        let options = resolve(&flags, "", "").unwrap();
        assert_eq!(options.refuse(Lacks::Walk, "here"), Ok(()));
        let refused = options.refuse(Lacks::Workers, "here").unwrap_err();
        assert_eq!(refused, "option --workers has no effect here");
        let options = resolve(&CommonArgs::default(), "syscall", "3").unwrap();
        assert_eq!(options.refuse(Lacks::Progress, "here"), Ok(()));
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
