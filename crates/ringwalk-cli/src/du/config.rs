//! The settings of the command line and the environment, resolved to what du is to do.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt};

use super::args::{DuArgs, Flag, Setting, TIME_ALONE, Valued};
use super::block_size::BlockSize;
use super::exclude::Exclude;
use super::number::{Fault, scan};
use super::time_style::{TimeKind, TimeStyle};
use super::{files0, messages};
use crate::console;
use ringwalk_gnu::quote;

/// Which symbolic links are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Links {
    /// None.
    #[default]
    Never,
    /// Those among the operands.
    Operands,
    /// All.
    Always,
}

/// What du is to do.
#[derive(Clone, Debug)]
// Each is an option of its own.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct Config {
    /// Lines for files too.
    pub(crate) all: bool,
    /// Sizes are those of the contents.
    pub(crate) apparent: bool,
    /// Space counts only where nothing else has it too.
    pub(crate) exclusive: bool,
    /// Inodes are counted, not space.
    pub(crate) inodes: bool,
    /// A line for everything at the end.
    pub(crate) total: bool,
    /// Every link to a file counts, and every visit to a directory.
    pub(crate) count_links: bool,
    /// Subdirectories do not count for a directory.
    pub(crate) separate: bool,
    /// Other file systems are left out.
    pub(crate) one_file_system: bool,
    /// Whether something can be met twice that has only one link: there are several operands, or
    /// symbolic links are followed.
    pub(crate) repeats: bool,
    /// The byte that ends a line.
    pub(crate) terminator: u8,
    /// Paths must not command the terminal that they are written to.
    pub(crate) terminal: bool,
    pub(crate) links: Links,
    /// The depth of the last level that has lines.
    pub(crate) max_depth: usize,
    pub(crate) block_size: BlockSize,
    pub(crate) threshold: Threshold,
    /// The time shown.
    pub(crate) time: Option<(TimeKind, TimeStyle)>,
    pub(crate) exclude: Exclude,
    pub(crate) operands: Vec<OsString>,
    /// Something has been complained about already.
    pub(crate) failed: bool,
}

/// Which lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threshold {
    /// Those of at least so much.
    Least(u64),
    /// Those of at most so much.
    Most(u64),
}

impl Threshold {
    /// Whether a line of this amount is written.
    pub(crate) fn admits(self, amount: u64) -> bool {
        match self {
            Self::Least(least) => amount >= least,
            Self::Most(most) => amount <= most,
        }
    }
}

/// Why there is nothing to do; what is wrong has been said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The command line is wrong: the user is pointed to the help.
    Usage,
    /// A value is wrong or a file cannot be read.
    Plain,
}

/// The settings so far, and what was wrong among them.
#[derive(Default)]
struct Reader {
    flags: Vec<Flag>,
    apparent: bool,
    block_size: Option<BlockSize>,
    links: Links,
    max_depth: Option<usize>,
    threshold: Option<Threshold>,
    time: Option<TimeKind>,
    time_style: Option<OsString>,
    files0: Option<OsString>,
    exclude: Exclude,
    wrong: bool,
}

impl Config {
    /// Resolves the arguments; `say` gets every message.
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
            Flag::DereferenceArgs => self.links = Links::Operands,
            Flag::Dereference => self.links = Links::Always,
            Flag::NoDereference => self.links = Links::Never,
            other => self.flags.push(other),
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
            Valued::Time => self.time = Some(TimeKind::parse(bytes).map_err(usage(say))?),
            Valued::TimeStyle => self.time_style = Some(value.to_owned()),
            Valued::Files0From => self.files0 = Some(value.to_owned()),
            Valued::Exclude => self.exclude.add(bytes),
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
        let block_size = self
            .block_size
            .unwrap_or_else(|| BlockSize::from_environment(environment));
        let block_size = if inodes {
            block_size.for_inodes()
        } else {
            block_size
        };
        let time = match self.time {
            Some(kind) => {
                let option = self.time_style.as_deref().map(OsStr::as_bytes);
                let set = environment("TIME_STYLE");
                let style = TimeStyle::new(option, set.as_deref()).map_err(usage(say))?;
                Some((kind, style))
            }
            None => None,
        };
        let mut failed = false;
        let operands = self.operands(args, &mut failed, say)?;
        Ok(Config {
            all: self.has(Flag::All),
            apparent: self.apparent,
            exclusive: self.has(Flag::Exclusive) && !inodes,
            inodes,
            total: self.has(Flag::Total),
            count_links: self.has(Flag::CountLinks),
            separate: self.has(Flag::SeparateDirs),
            one_file_system: self.has(Flag::OneFileSystem),
            repeats: self.files0.is_some()
                || args.operands.len() > 1
                || self.links == Links::Always,
            terminator: if self.has(Flag::Null) { 0 } else { b'\n' },
            // Paths that end with a zero byte are for programs to read, even at a terminal.
            terminal: !self.has(Flag::Null) && console::stdout_is_terminal(),
            links: self.links,
            max_depth,
            block_size,
            threshold: self.threshold.unwrap_or(Threshold::Least(0)),
            time,
            exclude: self.exclude,
            operands,
            failed,
        })
    }

    fn depth(&self, say: &mut dyn FnMut(&str)) -> Result<usize, Refusal> {
        if !self.has(Flag::Summarize) {
            return Ok(self.max_depth.unwrap_or(usize::MAX));
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
        } else if args.operands.is_empty() {
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
        Ok(found.into_iter().map(trimmed).collect())
    }
}

fn environment(name: &str) -> Option<Vec<u8>> {
    std::env::var_os(name).map(OsStringExt::into_vec)
}

/// Says a message, for use with `map_err`.
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

/// A size with a sign; the error is none for a negative nothing, which would admit nothing.
fn threshold(text: &[u8]) -> Result<Threshold, Option<Fault>> {
    let scan = scan(text, b"kKmMGTPEZYRQ0", i64::MIN.into(), i64::MAX.into());
    if let Some(fault) = scan.fault {
        return Err(Some(fault));
    }
    let value = scan.value.ok_or(Some(Fault::Invalid))?;
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

fn depth(text: &[u8]) -> Option<usize> {
    let scan = scan(text, b"", 0, u64::MAX.into());
    if scan.fault.is_some() {
        return None;
    }
    scan.value.and_then(|value| usize::try_from(value).ok())
}

fn exclude_from(exclude: &mut Exclude, file: &OsStr) -> io::Result<()> {
    if file == "-" {
        exclude.add_lines(io::stdin().lock())
    } else {
        exclude.add_lines(File::open(file)?)
    }
}

/// Several slashes at the end of an operand count as one.
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
        assert!(config.apparent);
        assert_eq!(config.block_size, BlockSize::HUMAN);
        assert_eq!(config.links, Links::Never);
        assert_eq!(config.operands, ["."]);
        assert!(!config.repeats && !config.failed);
        assert!(said.is_empty());
    }

    #[test]
    fn summaries() {
        let summarize = Setting::Flag(Flag::Summarize);
        let with = |other: Setting| resolve(&[summarize.clone(), other], &["a"]);
        let (config, said) = with(value(Valued::MaxDepth, "0"));
        assert_eq!(config.unwrap().max_depth, 0);
        assert_eq!(
            said,
            ["warning: summarizing is the same as using --max-depth=0"]
        );
        let (config, said) = with(value(Valued::MaxDepth, "1"));
        assert_eq!(config.unwrap_err(), Refusal::Usage);
        assert_eq!(said, ["warning: summarizing conflicts with --max-depth=1"]);
        let (config, _) = with(Setting::Flag(Flag::All));
        assert_eq!(config.unwrap_err(), Refusal::Usage);
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
        let (config, _) = resolve(&[value(Valued::MaxDepth, "-1")], &[]);
        assert_eq!(config.unwrap_err(), Refusal::Usage);
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
        assert_eq!(config.block_size, BlockSize::bytes(1));
    }

    #[test]
    fn exclusive_space() {
        let with = |flag| resolve(&[Flag::Exclusive, flag].map(Setting::Flag), &[]);
        assert!(with(Flag::All).0.unwrap().exclusive);
        let (config, said) = with(Flag::Bytes);
        assert_eq!(config.unwrap_err(), Refusal::Usage);
        assert_eq!(
            said,
            ["cannot measure both apparent sizes and exclusive space"]
        );
        let (config, said) = with(Flag::Inodes);
        assert!(!config.unwrap().exclusive);
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
        assert!(config.failed && config.repeats);
        assert_eq!(said, ["invalid zero-length file name"]);
        let (config, _) = resolve(&[value(Valued::Files0From, "/dev/null")], &["a"]);
        assert_eq!(config.unwrap_err(), Refusal::Usage);
        let (config, _) = resolve(&[value(Valued::Files0From, "/dev/null")], &[]);
        assert!(config.unwrap().operands.is_empty());
    }
}
