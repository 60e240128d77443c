//! The options of du, as the command line parser knows them.
//!
//! What an option means can depend on what came before it (`-h -k` is not `-k -h`), so parsing
//! gives the list of settings in the order they were given; `config.rs` makes sense of it.

use std::ffi::OsString;

use clap::builder::ValueParser;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};

/// The arguments of du: the settings in the order given, and the operands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DuArgs {
    /// Options, in order.
    pub(crate) settings: Vec<Setting>,
    /// Files and directories to measure.
    pub(crate) operands: Vec<OsString>,
}

/// One option given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// An option that takes no value.
    Flag(Flag),
    /// One that does.
    Value(Valued, OsString),
}

/// Options without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flag {
    Null,
    All,
    ApparentSize,
    Bytes,
    Total,
    DereferenceArgs,
    Human,
    Inodes,
    Kibibytes,
    Dereference,
    CountLinks,
    Mebibytes,
    NoDereference,
    SeparateDirs,
    Si,
    Summarize,
    OneFileSystem,
}

/// Options with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Valued {
    BlockSize,
    MaxDepth,
    Files0From,
    Threshold,
    Time,
    TimeStyle,
    ExcludeFrom,
    Exclude,
}

/// An option: what it is, its letter, its long name ("" if it has none), its help.
type Definition<T> = (T, Option<char>, &'static str, &'static str);

const FLAGS: &[Definition<Flag>] = &[
    (
        Flag::Null,
        Some('0'),
        "null",
        "End each line with a zero byte, not a newline",
    ),
    (
        Flag::All,
        Some('a'),
        "all",
        "Write a line for every file, not only for directories",
    ),
    (
        Flag::ApparentSize,
        None,
        "apparent-size",
        "Count the bytes of files rather than the space they take",
    ),
    (
        Flag::Bytes,
        Some('b'),
        "bytes",
        "As --apparent-size --block-size=1",
    ),
    (
        Flag::Total,
        Some('c'),
        "total",
        "Write a line for everything together at the end",
    ),
    (
        Flag::DereferenceArgs,
        Some('D'),
        "dereference-args",
        "Follow the symbolic links among the operands (also -H)",
    ),
    (
        Flag::Human,
        Some('h'),
        "human-readable",
        "Write sizes in the unit that suits each, in powers of 1024 (1.1K, 23M)",
    ),
    (
        Flag::Inodes,
        None,
        "inodes",
        "Count inodes rather than space",
    ),
    (Flag::Kibibytes, Some('k'), "", "As --block-size=1K"),
    (
        Flag::Dereference,
        Some('L'),
        "dereference",
        "Follow all symbolic links",
    ),
    (
        Flag::CountLinks,
        Some('l'),
        "count-links",
        "Count a file with several links each time it is met",
    ),
    (Flag::Mebibytes, Some('m'), "", "As --block-size=1M"),
    (
        Flag::NoDereference,
        Some('P'),
        "no-dereference",
        "Follow no symbolic links (this is the default)",
    ),
    (
        Flag::SeparateDirs,
        Some('S'),
        "separate-dirs",
        "Do not count what is in subdirectories for a directory",
    ),
    (Flag::Si, None, "si", "As -h, in powers of 1000"),
    (
        Flag::Summarize,
        Some('s'),
        "summarize",
        "Write only a line for each operand",
    ),
    (
        Flag::OneFileSystem,
        Some('x'),
        "one-file-system",
        "Leave out what is on other file systems",
    ),
];

const VALUED: &[(Definition<Valued>, &str)] = &[
    (
        (
            Valued::BlockSize,
            Some('B'),
            "block-size",
            "Count blocks of SIZE: a number, a unit (K, M, G... of 1024; KB, MB, GB... of 1000), or both",
        ),
        "SIZE",
    ),
    (
        (
            Valued::MaxDepth,
            Some('d'),
            "max-depth",
            "Write lines only for what is at most N levels below an operand",
        ),
        "N",
    ),
    (
        (
            Valued::Files0From,
            None,
            "files0-from",
            "Measure the files named in F, each name ended by a zero byte; - is standard input",
        ),
        "F",
    ),
    (
        (
            Valued::Threshold,
            Some('t'),
            "threshold",
            "Leave out lines of less than SIZE, or of more than its amount if it is negative",
        ),
        "SIZE",
    ),
    (
        (
            Valued::Time,
            None,
            "time",
            "Show the latest time of change of anything below, or of WORD: atime, access, use, ctime, status",
        ),
        "WORD",
    ),
    (
        (
            Valued::TimeStyle,
            None,
            "time-style",
            "How times are written: full-iso, long-iso, iso, or +FORMAT as date(1) has it",
        ),
        "STYLE",
    ),
    (
        (
            Valued::ExcludeFrom,
            Some('X'),
            "exclude-from",
            "Leave out what matches a pattern in FILE, which has one a line",
        ),
        "FILE",
    ),
    (
        (
            Valued::Exclude,
            None,
            "exclude",
            "Leave out files that match PATTERN",
        ),
        "PATTERN",
    ),
];

const OPERANDS: &str = "operands";
/// The value that `--time` has without one.
pub(crate) const TIME_ALONE: &str = "mtime";

impl DuArgs {
    fn command(command: Command) -> Command {
        // A letter for help is not to be had: -h is --human-readable.
        let help = Arg::new("help")
            .long("help")
            .action(ArgAction::Help)
            .help("Print this help");
        // Nor for the version: GNU's du has none, and refuses -V.
        let version = Arg::new("version")
            .long("version")
            .action(ArgAction::Version)
            .help("Print the version");
        let operands = Arg::new(OPERANDS)
            .value_name("FILE")
            .value_parser(ValueParser::os_string())
            .num_args(0..)
            .help("Files and directories to measure (the current directory if none is given)")
            // POSIX has no options after operands.
            .trailing_var_arg(std::env::var_os("POSIXLY_CORRECT").is_some());
        command
            .version(concat!("(ringwalk) ", env!("CARGO_PKG_VERSION")))
            .disable_version_flag(true)
            .disable_help_flag(true)
            .infer_long_args(true)
            .args_override_self(true)
            .arg(help)
            .arg(version)
            .args(FLAGS.iter().map(flag))
            .args(VALUED.iter().map(|(option, value)| valued(option, value)))
            .arg(operands)
    }
}

/// The long names of all options of du, for messages about abbreviations.
pub(crate) fn long_names() -> impl Iterator<Item = &'static str> {
    let flags = FLAGS.iter().map(|option| option.2);
    let valued = VALUED.iter().map(|(option, _)| option.2);
    flags
        .chain(valued)
        .filter(|name| !name.is_empty())
        .chain(["help", "version"])
}

/// The letter of the option with that long name.
pub(crate) fn letter_of(long: &str) -> Option<char> {
    let flags = FLAGS.iter().map(|option| (option.1, option.2));
    let valued = VALUED.iter().map(|(option, _)| (option.1, option.2));
    flags
        .chain(valued)
        .find(|(_, name)| *name == long)
        .and_then(|(letter, _)| letter)
}

/// What the parser calls an option: its long name, else its letter.
fn id<T>((_, letter, long, _): &Definition<T>) -> &'static str {
    match (*long, letter) {
        ("", Some('k')) => "k",
        ("", _) => "m",
        (long, _) => long,
    }
}

fn argument<T>(option: &Definition<T>) -> Arg {
    let mut arg = Arg::new(id(option)).help(option.3);
    if let Some(letter) = option.1 {
        arg = arg.short(letter);
    }
    if !option.2.is_empty() {
        arg = arg.long(option.2);
    }
    arg
}

fn flag(option: &Definition<Flag>) -> Arg {
    let arg = argument(option).action(ArgAction::SetTrue);
    if option.0 == Flag::DereferenceArgs {
        arg.short_alias('H')
    } else {
        arg
    }
}

fn valued(option: &Definition<Valued>, value: &'static str) -> Arg {
    let arg = argument(option)
        .value_name(value)
        .value_parser(ValueParser::os_string())
        .action(ArgAction::Append);
    if option.0 == Valued::Time {
        arg.num_args(0..=1)
            .require_equals(true)
            .default_missing_value(TIME_ALONE)
    } else {
        arg.allow_hyphen_values(true)
    }
}

impl clap::Args for DuArgs {
    fn augment_args(command: Command) -> Command {
        Self::command(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::command(command)
    }
}

impl FromArgMatches for DuArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut ordered = Vec::new();
        for option in FLAGS {
            if matches.get_flag(id(option)) {
                let last = matches.indices_of(id(option)).and_then(Iterator::last);
                ordered.push((last, Setting::Flag(option.0)));
            }
        }
        for (option, _) in VALUED {
            let values = matches.get_many::<OsString>(id(option));
            let indices = matches.indices_of(id(option));
            for (value, index) in values
                .into_iter()
                .flatten()
                .zip(indices.into_iter().flatten())
            {
                ordered.push((Some(index), Setting::Value(option.0, value.clone())));
            }
        }
        ordered.sort_by_key(|(index, _)| *index);
        let operands = matches.get_many::<OsString>(OPERANDS);
        Ok(Self {
            settings: ordered.into_iter().map(|(_, setting)| setting).collect(),
            operands: operands.into_iter().flatten().cloned().collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Args as _;

    fn parse(args: &[&str]) -> Result<DuArgs, clap::Error> {
        let command = DuArgs::augment_args(Command::new("du"));
        let matches = command.try_get_matches_from([&["du"], args].concat())?;
        DuArgs::from_arg_matches(&matches)
    }

    fn settings(args: &[&str]) -> Vec<Setting> {
        parse(args).unwrap().settings
    }

    fn value(option: Valued, value: &str) -> Setting {
        Setting::Value(option, value.into())
    }

    #[test]
    fn the_table_is_consistent() {
        DuArgs::augment_args(Command::new("du")).debug_assert();
    }

    #[test]
    fn order_is_kept() {
        let (human, kibi) = (Setting::Flag(Flag::Human), Setting::Flag(Flag::Kibibytes));
        assert_eq!(settings(&["-h", "-k"]), [human.clone(), kibi.clone()]);
        assert_eq!(settings(&["-kh"]), [kibi.clone(), human.clone()]);
        assert_eq!(settings(&["-hkh"]), [kibi, human]);
        assert_eq!(
            settings(&["-B1", "-d", "2", "--block-size=M", "-d3"]),
            [
                value(Valued::BlockSize, "1"),
                value(Valued::MaxDepth, "2"),
                value(Valued::BlockSize, "M"),
                value(Valued::MaxDepth, "3"),
            ]
        );
    }

    #[test]
    fn values() {
        assert_eq!(settings(&["-t", "-5"]), [value(Valued::Threshold, "-5")]);
        assert_eq!(settings(&["--time"]), [value(Valued::Time, TIME_ALONE)]);
        assert_eq!(settings(&["--time=use"]), [value(Valued::Time, "use")]);
        assert_eq!(settings(&["--time="]), [value(Valued::Time, "")]);
        assert_eq!(parse(&["--time", "use"]).unwrap().operands, ["use"]);
        assert_eq!(settings(&["-B", ""]), [value(Valued::BlockSize, "")]);
    }

    #[test]
    fn abbreviations() {
        assert_eq!(settings(&["--max=1"]), [value(Valued::MaxDepth, "1")]);
        assert_eq!(settings(&["--hu"]), [Setting::Flag(Flag::Human)]);
        assert_eq!(settings(&["--si"]), [Setting::Flag(Flag::Si)]);
        assert!(parse(&["--s"]).is_err());
    }

    #[test]
    fn operands() {
        assert_eq!(
            parse(&["b", "-s", "-", "--", "-x", ""]).unwrap().operands,
            ["b", "-", "-x", ""]
        );
    }
}
