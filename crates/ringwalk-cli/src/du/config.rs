//! The settings of du, resolved from the command line and the environment.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt};
use std::sync::Arc;

use super::args::{DuArgs, Flag, Setting, TIME_ALONE, Valued};
use super::block_size::BlockSize;
use super::exclude::Exclude;
use super::number::{Fault, parse_number};
use super::time_style::{TimeStyle, time_kind};
use super::{files0, messages};
use crate::{console, from};
use ringwalk::{Fields, Follow, SavedTree as _};
use ringwalk_du::{Measurement, Rule, Size, TimeKind};
use ringwalk_gnu::quote;
use ringwalk_snapshot::SnapshotTree;

/// The settings, resolved.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// The files that count, their sizes, and the levels that have lines.
    pub(crate) measurement: Measurement,
    /// The files and directories to measure.
    pub(crate) operands: Vec<OsString>,
    /// The snapshot that is measured in place of the live file system.
    pub(crate) from: Option<Arc<SnapshotTree>>,
    /// Patterns of the files that are left out.
    pub(crate) exclude: Exclude,
    pub(crate) lines: LineFormat,
    /// The last line is the total of all operands.
    pub(crate) total: bool,
    /// An operand has been refused with a message.
    pub(crate) failed: bool,
}

/// Which lines are written, and how.
#[derive(Clone, Debug)]
pub(crate) struct LineFormat {
    pub(crate) block_size: BlockSize,
    pub(crate) threshold: Threshold,
    /// How times are written, if they are shown.
    pub(crate) time_style: Option<TimeStyle>,
    /// The byte that ends a line.
    pub(crate) terminator: u8,
    /// Lines go to a terminal: control characters of paths must not reach it.
    pub(crate) terminal: bool,
}

/// Which lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threshold {
    /// Lines of at least this amount.
    Least(u64),
    /// Lines of at most this amount.
    Most(u64),
}

impl Threshold {
    /// Returns true if a line of this amount is written.
    pub(crate) fn admits(self, amount: u64) -> bool {
        match self {
            Self::Least(least) => amount >= least,
            Self::Most(most) => amount <= most,
        }
    }
}

/// The reason why the settings cannot be used. The messages have been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The command line is wrong: a hint at the help follows.
    Usage,
    /// A value is wrong or a file cannot be read.
    Plain,
}

/// The settings read so far.
#[derive(Default)]
struct Reader {
    flags: Vec<Flag>,
    apparent: bool,
    block_size: Option<BlockSize>,
    follow: Follow,
    max_depth: Option<i64>,
    threshold: Option<Threshold>,
    time: Option<TimeKind>,
    time_style: Option<OsString>,
    files0: Option<OsString>,
    from: Option<Arc<SnapshotTree>>,
    exclude: Exclude,
    /// A setting was wrong. The settings after it are still read, for their messages.
    wrong: bool,
}

impl Config {
    /// Resolves the arguments. `say` gets all messages.
    pub(crate) fn new(args: &DuArgs, say: &mut dyn FnMut(&str)) -> Result<Self, Refusal> {
        let mut reader = Reader::default();
        for setting in &args.settings {
            match setting {
                Setting::Flag(flag) => reader.flag(*flag),
                Setting::Value(option, value) => reader.value(*option, value, say)?,
            }
        }
        if reader.wrong {
            return Err(Refusal::Usage);
        }
        reader.finish(args, say)
    }
}

impl Reader {
    fn has(&self, flag: Flag) -> bool {
        self.flags.contains(&flag)
    }

    fn flag(&mut self, flag: Flag) {
        match flag {
            Flag::ApparentSize => self.apparent = true,
            Flag::Bytes => {
                self.apparent = true;
                self.block_size = Some(BlockSize::bytes(1));
            }
            Flag::Human => self.block_size = Some(BlockSize::HUMAN),
            Flag::Si => self.block_size = Some(BlockSize::SI),
            Flag::Kibibytes => self.block_size = Some(BlockSize::bytes(1 << 10)),
            Flag::Mebibytes => self.block_size = Some(BlockSize::bytes(1 << 20)),
            Flag::DereferenceArgs => self.follow = Follow::CommandLine,
            Flag::Dereference => self.follow = Follow::Always,
            Flag::NoDereference => self.follow = Follow::Never,
            Flag::Null
            | Flag::All
            | Flag::Total
            | Flag::Exclusive
            | Flag::Inodes
            | Flag::CountLinks
            | Flag::SeparateDirs
            | Flag::Summarize
            | Flag::OneFileSystem => self.flags.push(flag),
        }
    }

    fn value(
        &mut self,
        option: Valued,
        value: &OsStr,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), Refusal> {
        let bytes = value.as_bytes();
        match option {
            Valued::BlockSize => match BlockSize::parse(bytes) {
                Ok(size) => self.block_size = Some(size),
                Err(fault) => return refuse("block-size", value, fault, say),
            },
            Valued::Threshold => match threshold(bytes) {
                Ok(threshold) => self.threshold = Some(threshold),
                Err(Some(fault)) => return refuse("threshold", value, fault, say),
                Err(None) => {
                    say("invalid --threshold argument '-0'");
                    return Err(Refusal::Plain);
                }
            },
            Valued::MaxDepth => {
                if let Some(depth) = depth(bytes) {
                    self.max_depth = Some(depth);
                } else {
                    say(&format!("invalid maximum depth {}", quote::value(bytes)));
                    self.wrong = true;
                }
            }
            Valued::Time if value == TIME_ALONE => self.time = Some(TimeKind::Modified),
            Valued::Time => self.time = Some(time_kind(bytes).map_err(usage(say))?),
            Valued::TimeStyle => self.time_style = Some(value.to_owned()),
            Valued::Files0From => self.files0 = Some(value.to_owned()),
            Valued::Exclude => self.exclude.add(bytes),
            Valued::From => match from::open(value) {
                Ok(tree) => self.from = Some(tree),
                Err(message) => {
                    say(&message);
                    return Err(Refusal::Plain);
                }
            },
            Valued::ExcludeFrom => {
                if let Err(error) = exclude_from(&mut self.exclude, value) {
                    let (file, reason) = (quote::file(bytes), console::reason(&error));
                    say(&format!("{file}: {reason}"));
                    self.wrong = true;
                }
            }
        }
        Ok(())
    }

    fn finish(self, args: &DuArgs, say: &mut dyn FnMut(&str)) -> Result<Config, Refusal> {
        let max_depth = self.depth(say)?;
        let size = self.size(say)?;
        let time_style = self.time_style(say)?;
        let mut failed = false;
        let operands = self.operands(args, &mut failed, say)?;
        let several = self.files0.is_some() || operands.len() > 1;
        let config = Config {
            measurement: Measurement {
                rule: Rule::new(self.follow)
                    .one_file_system(self.has(Flag::OneFileSystem))
                    .count_links(self.has(Flag::CountLinks))
                    .several_operands(several),
                size,
                time: self.time,
                all: self.has(Flag::All),
                max_depth,
                separate: self.has(Flag::SeparateDirs),
            },
            operands,
            from: self.from.clone(),
            lines: LineFormat {
                block_size: self.block_size(size),
                threshold: self.threshold.unwrap_or(Threshold::Least(0)),
                time_style,
                terminator: if self.has(Flag::Null) { 0 } else { b'\n' },
                // Paths that end with a zero byte are for programs to read, even at a terminal.
                terminal: !self.has(Flag::Null) && console::stdout_is_terminal(),
            },
            total: self.has(Flag::Total),
            exclude: self.exclude,
            failed,
        };
        check_from(&config, say)?;
        Ok(config)
    }

    fn size(&self, say: &mut dyn FnMut(&str)) -> Result<Size, Refusal> {
        let inodes = self.has(Flag::Inodes);
        if inodes && self.apparent {
            say("warning: options --apparent-size and -b are ineffective with --inodes");
        }
        if self.has(Flag::Exclusive) {
            if self.apparent {
                say("cannot measure both apparent sizes and exclusive space");
                return Err(Refusal::Usage);
            }
            if inodes {
                say("warning: option --exclusive is ineffective with --inodes");
            }
        }
        Ok(if inodes {
            Size::Inodes
        } else if self.has(Flag::Exclusive) {
            Size::Exclusive
        } else if self.apparent {
            Size::Apparent
        } else {
            Size::Allocated
        })
    }

    fn block_size(&self, size: Size) -> BlockSize {
        let block_size = self
            .block_size
            .unwrap_or_else(|| BlockSize::from_environment(environment));
        match size {
            Size::Inodes => block_size.for_inodes(),
            Size::Allocated | Size::Apparent | Size::Exclusive => block_size,
        }
    }

    fn time_style(&self, say: &mut dyn FnMut(&str)) -> Result<Option<TimeStyle>, Refusal> {
        if self.time.is_none() {
            return Ok(None);
        }
        let option = self.time_style.as_deref().map(OsStr::as_bytes);
        let set = environment("TIME_STYLE");
        let style = TimeStyle::new(option, set.as_deref()).map_err(usage(say))?;
        Ok(Some(style))
    }

    fn depth(&self, say: &mut dyn FnMut(&str)) -> Result<usize, Refusal> {
        if !self.has(Flag::Summarize) {
            // Operands have the topmost lines, so `-d -1` is `-d 0`.
            let levels = |depth: i64| usize::try_from(depth.max(0)).unwrap_or(usize::MAX);
            return Ok(self.max_depth.map_or(usize::MAX, levels));
        }
        if self.has(Flag::All) {
            say("cannot both summarize and show all entries");
            return Err(Refusal::Usage);
        }
        match self.max_depth {
            None => {}
            Some(0) => say("warning: summarizing is the same as using --max-depth=0"),
            Some(depth) => {
                say(&format!(
                    "warning: summarizing conflicts with --max-depth={depth}"
                ));
                return Err(Refusal::Usage);
            }
        }
        Ok(0)
    }

    fn operands(
        &self,
        args: &DuArgs,
        failed: &mut bool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Vec<OsString>, Refusal> {
        let mut found = Vec::new();
        if let Some(list) = &self.files0 {
            if let Some(extra) = args.operands.first() {
                let extra = quote::value(extra.as_bytes());
                say(&format!(
                    "extra operand {extra}\nfile operands cannot be combined with --files0-from"
                ));
                return Err(Refusal::Usage);
            }
            let names = files0::read(list).map_err(|message| {
                say(&message);
                Refusal::Plain
            })?;
            for complaint in &names.complaints {
                say(complaint);
                *failed = true;
            }
            found = names.names;
        } else if args.operands.is_empty() && self.from.is_none() {
            found.push(OsString::from("."));
        }
        for operand in &args.operands {
            if operand.is_empty() {
                say("invalid zero-length file name");
                *failed = true;
            } else {
                found.push(operand.clone());
            }
        }
        let found: Vec<_> = found.into_iter().map(trimmed).collect();
        let Some(tree) = &self.from else {
            return Ok(found);
        };
        if found.is_empty() && (*failed || self.files0.is_some()) {
            return Ok(found);
        }
        let (found, missing) = from::operands(tree, found, self.follow != Follow::Never);
        *failed |= missing;
        Ok(found)
    }
}

/// Refuses what a snapshot cannot answer.
fn check_from(config: &Config, say: &mut dyn FnMut(&str)) -> Result<(), Refusal> {
    let Some(tree) = &config.from else {
        return Ok(());
    };
    let Measurement {
        rule, size, time, ..
    } = &config.measurement;
    let refused = if rule.follow() == Follow::Always {
        "option -L cannot be used with --from: links in a snapshot cannot be followed"
    } else if *size == Size::Exclusive {
        "option --exclusive cannot be used with --from: a snapshot does not say which space is shared"
    } else if *time == Some(TimeKind::Accessed) && !tree.fields().contains(Fields::ATIME) {
        "option --time=atime cannot be used with --from: the snapshot has no times of access"
    } else {
        return Ok(());
    };
    say(refused);
    Err(Refusal::Plain)
}

fn environment(name: &str) -> Option<Vec<u8>> {
    std::env::var_os(name).map(OsStringExt::into_vec)
}

/// Returns a function for `map_err` that writes a message.
fn usage(say: &mut dyn FnMut(&str)) -> impl FnOnce(String) -> Refusal {
    move |message| {
        say(&message);
        Refusal::Usage
    }
}

fn refuse(
    long: &str,
    value: &OsStr,
    fault: Fault,
    say: &mut dyn FnMut(&str),
) -> Result<(), Refusal> {
    let option = messages::spelling(long, value);
    say(&fault.message(&option, value.as_bytes()));
    Err(Refusal::Plain)
}

/// Parses a size with a sign. The error is `None` for `-0`, which no line would fulfil.
fn threshold(text: &[u8]) -> Result<Threshold, Option<Fault>> {
    let number = parse_number(text, b"kKmMGTPEZYRQ0", i64::MIN.into(), i64::MAX.into());
    if let Some(fault) = number.fault {
        return Err(Some(fault));
    }
    let value = number.value.ok_or(Some(Fault::Invalid))?;
    if value == 0 && text.starts_with(b"-") {
        return Err(None);
    }
    let amount = u64::try_from(value.unsigned_abs()).map_err(|_| Some(Fault::TooLarge))?;
    Ok(if value < 0 {
        Threshold::Most(amount)
    } else {
        Threshold::Least(amount)
    })
}

fn depth(text: &[u8]) -> Option<i64> {
    let number = parse_number(text, b"", i64::MIN.into(), i64::MAX.into());
    if number.fault.is_some() {
        return None;
    }
    number.value.and_then(|value| i64::try_from(value).ok())
}

fn exclude_from(exclude: &mut Exclude, file: &OsStr) -> io::Result<()> {
    if file == "-" {
        exclude.add_lines(io::stdin().lock())
    } else {
        exclude.add_lines(File::open(file)?)
    }
}

/// Removes all but one of several slashes at the end of an operand. `//` stays as it is.
fn trimmed(operand: OsString) -> OsString {
    let mut bytes = operand.into_vec();
    if bytes.len() > 2 {
        while bytes.ends_with(b"//") {
            bytes.pop();
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(settings: &[Setting], operands: &[&str]) -> (Result<Config, Refusal>, Vec<String>) {
        let args = DuArgs {
            settings: settings.to_vec(),
            operands: operands.iter().map(OsString::from).collect(),
        };
        let mut said = Vec::new();
        let config = Config::new(&args, &mut |text| said.push(text.to_owned()));
        (config, said)
    }

    fn value(option: Valued, value: &str) -> Setting {
        Setting::Value(option, value.into())
    }

    #[test]
    fn the_last_of_a_kind_wins() {
        let flags = [
            Flag::Bytes,
            Flag::Human,
            Flag::Dereference,
            Flag::NoDereference,
        ];
        let (config, said) = resolve(&flags.map(Setting::Flag), &[]);
        let config = config.unwrap();
        assert_eq!(config.measurement.size, Size::Apparent);
        assert_eq!(config.lines.block_size, BlockSize::HUMAN);
        assert_eq!(config.measurement.rule, Rule::new(Follow::Never));
        assert_eq!(config.operands, ["."]);
        assert!(!config.failed);
        assert!(said.is_empty());
    }

    #[test]
    fn summaries() {
        let summarize = Setting::Flag(Flag::Summarize);
        let with = |other: Setting| resolve(&[summarize.clone(), other], &["a"]);
        let (config, said) = with(value(Valued::MaxDepth, "0"));
        assert_eq!(config.unwrap().measurement.max_depth, 0);
        assert_eq!(
            said,
            ["warning: summarizing is the same as using --max-depth=0"]
        );
        let (config, said) = with(value(Valued::MaxDepth, "1"));
        assert_eq!(config.unwrap_err(), Refusal::Usage);
        assert_eq!(said, ["warning: summarizing conflicts with --max-depth=1"]);
        let (config, said) = with(value(Valued::MaxDepth, "-1"));
        assert_eq!(config.unwrap_err(), Refusal::Usage);
        assert_eq!(said, ["warning: summarizing conflicts with --max-depth=-1"]);
        let (config, _) = with(Setting::Flag(Flag::All));
        assert_eq!(config.unwrap_err(), Refusal::Usage);
    }

    #[test]
    fn depths_have_a_sign() {
        for (given, levels) in [
            ("-1", Some(0)),
            ("-0", Some(0)),
            ("-0x10", Some(0)),
            ("+2", Some(2)),
            ("-9223372036854775808", Some(0)),
            ("9223372036854775807", usize::try_from(i64::MAX).ok()),
            ("-9223372036854775809", None),
            ("9223372036854775808", None),
            ("1.5", None),
            ("-", None),
        ] {
            let (config, _) = resolve(&[value(Valued::MaxDepth, given)], &["a"]);
            let found = config.ok().map(|config| config.measurement.max_depth);
            assert_eq!(found, levels, "{given}");
        }
    }

    #[test]
    fn values_that_are_wrong() {
        let (config, said) = resolve(
            &[
                value(Valued::MaxDepth, "x"),
                value(Valued::BlockSize, "w"),
                value(Valued::MaxDepth, "z"),
            ],
            &[],
        );
        assert_eq!(config.unwrap_err(), Refusal::Plain);
        assert_eq!(
            said.len(),
            2,
            "a wrong depth lets options be read on: {said:?}"
        );
        assert_eq!(said[1], "invalid -B argument 'w'");
        let (config, said) = resolve(&[value(Valued::ExcludeFrom, "/nonexistent/x")], &[]);
        assert_eq!(config.unwrap_err(), Refusal::Usage);
        assert_eq!(said, ["/nonexistent/x: No such file or directory"]);
    }

    #[test]
    fn thresholds() {
        assert_eq!(threshold(b"1K"), Ok(Threshold::Least(1024)));
        assert_eq!(threshold(b"-1K"), Ok(Threshold::Most(1024)));
        assert_eq!(threshold(b"-8E"), Ok(Threshold::Most(1 << 63)));
        assert_eq!(threshold(b"-0"), Err(None));
        assert_eq!(threshold(b"8E"), Err(Some(Fault::TooLarge)));
        assert!(Threshold::Least(5).admits(5) && !Threshold::Least(5).admits(4));
        assert!(Threshold::Most(5).admits(5) && !Threshold::Most(5).admits(6));
    }

    #[test]
    fn inodes_have_no_unit() {
        let flags = [Flag::Inodes, Flag::Kibibytes].map(Setting::Flag);
        let config = resolve(&flags, &["a"]).0.unwrap();
        assert_eq!(config.lines.block_size, BlockSize::bytes(1));
    }

    #[test]
    fn exclusive_space() {
        let with = |flag| resolve(&[Flag::Exclusive, flag].map(Setting::Flag), &[]);
        let size = |config: Config| config.measurement.size;
        assert_eq!(size(with(Flag::All).0.unwrap()), Size::Exclusive);
        let (config, said) = with(Flag::Bytes);
        assert_eq!(config.unwrap_err(), Refusal::Usage);
        assert_eq!(
            said,
            ["cannot measure both apparent sizes and exclusive space"]
        );
        let (config, said) = with(Flag::Inodes);
        assert_eq!(size(config.unwrap()), Size::Inodes);
        assert_eq!(
            said,
            ["warning: option --exclusive is ineffective with --inodes"]
        );
    }

    #[test]
    fn operands() {
        let (config, said) = resolve(&[], &["a//", "", "//", "///"]);
        let config = config.unwrap();
        assert_eq!(config.operands, ["a/", "//", "/"]);
        assert!(config.failed);
        let several = Rule::new(Follow::Never).several_operands(true);
        assert_eq!(config.measurement.rule, several);
        assert_eq!(said, ["invalid zero-length file name"]);
        let (config, _) = resolve(&[value(Valued::Files0From, "/dev/null")], &["a"]);
        assert_eq!(config.unwrap_err(), Refusal::Usage);
        let (config, _) = resolve(&[value(Valued::Files0From, "/dev/null")], &[]);
        assert!(config.unwrap().operands.is_empty());
    }
}
