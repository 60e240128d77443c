//! The options of du, and their help.
//!
//! The meaning of an option can depend on the options before it (`-h -k` is not `-k -h`). So the
//! parser returns the settings in the order in which they were given, and `config.rs` resolves
//! them.

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

/// An option that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// An option that takes no value.
    Flag(Flag),
    /// An option with its value.
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
    Exclusive,
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
    From,
}

/// An option of du.
struct Definition {
    kind: OptionKind,
    letter: Option<char>,
    /// The long name, if there is one.
    long: Option<&'static str>,
    /// The parser's name of the option: the long name, or the letter.
    id: &'static str,
    help: &'static str,
}

/// An option without a value, or with a value of this name.
enum OptionKind {
    Flag(Flag),
    Value(Valued, &'static str),
}

/// Defines a flag with a long name.
const fn flag(
    flag: Flag,
    letter: Option<char>,
    long: &'static str,
    help: &'static str,
) -> Definition {
    Definition {
        kind: OptionKind::Flag(flag),
        letter,
        long: Some(long),
        id: long,
        help,
    }
}

/// Defines a flag that has a letter only.
const fn letter(flag: Flag, letter: char, id: &'static str, help: &'static str) -> Definition {
    Definition {
        kind: OptionKind::Flag(flag),
        letter: Some(letter),
        long: None,
        id,
        help,
    }
}

/// Defines an option with a value.
const fn valued(
    option: Valued,
    value: &'static str,
    letter: Option<char>,
    long: &'static str,
    help: &'static str,
) -> Definition {
    Definition {
        kind: OptionKind::Value(option, value),
        letter,
        long: Some(long),
        id: long,
        help,
    }
}

/// All options, in the order in which GNU's messages list them. The compiler warns of a [`Flag`] or
/// [`Valued`] that is missing here, since nothing constructs it then.
const OPTIONS: &[Definition] = &[
    flag(
        Flag::All,
        Some('a'),
        "all",
        "Write a line for each file, not only for directories",
    ),
    flag(
        Flag::ApparentSize,
        Some('A'),
        "apparent-size",
        "Count the bytes of regular files and links, not the space that files take",
    ),
    valued(
        Valued::BlockSize,
        "SIZE",
        Some('B'),
        "block-size",
        "Count blocks of SIZE: a number, a unit (K, M, G... of 1024; KB, MB, GB... of 1000), or both",
    ),
    flag(
        Flag::Bytes,
        Some('b'),
        "bytes",
        "As --apparent-size --block-size=1",
    ),
    flag(
        Flag::CountLinks,
        Some('l'),
        "count-links",
        "Count a file with several links once for each link",
    ),
    flag(
        Flag::Dereference,
        Some('L'),
        "dereference",
        "Follow all symbolic links",
    ),
    flag(
        Flag::DereferenceArgs,
        Some('D'),
        "dereference-args",
        "Follow the symbolic links among the operands (also -H)",
    ),
    valued(
        Valued::Exclude,
        "PATTERN",
        None,
        "exclude",
        "Leave out files that match PATTERN",
    ),
    valued(
        Valued::ExcludeFrom,
        "FILE",
        Some('X'),
        "exclude-from",
        "Leave out files that match a pattern in FILE, which has one pattern a line",
    ),
    flag(
        Flag::Exclusive,
        None,
        "exclusive",
        "Count only the space that files share with no other file or snapshot, measured or not \
         (reflinks of XFS and btrfs); space that cannot be determined exactly is an error",
    ),
    valued(
        Valued::Files0From,
        "F",
        None,
        "files0-from",
        "Measure the files named in F, each name ended by a zero byte; - is standard input",
    ),
    valued(
        Valued::From,
        "SNAP",
        None,
        "from",
        "Measure files of the snapshot SNAP, and read nothing else (all of it if no file is given)",
    ),
    flag(
        Flag::Human,
        Some('h'),
        "human-readable",
        "Write sizes in the unit that suits each, in powers of 1024 (1.1K, 23M)",
    ),
    flag(Flag::Inodes, None, "inodes", "Count inodes, not space"),
    flag(Flag::Si, None, "si", "As -h, in powers of 1000"),
    valued(
        Valued::MaxDepth,
        "N",
        Some('d'),
        "max-depth",
        "Write lines only for files and directories at most N levels below an operand",
    ),
    flag(
        Flag::Null,
        Some('0'),
        "null",
        "End each line with a zero byte, not a newline",
    ),
    flag(
        Flag::NoDereference,
        Some('P'),
        "no-dereference",
        "Follow no symbolic links (this is the default)",
    ),
    flag(
        Flag::OneFileSystem,
        Some('x'),
        "one-file-system",
        "Leave out files on other file systems",
    ),
    flag(
        Flag::SeparateDirs,
        Some('S'),
        "separate-dirs",
        "Do not count the files of subdirectories for a directory",
    ),
    flag(
        Flag::Summarize,
        Some('s'),
        "summarize",
        "Write only one line for each operand",
    ),
    flag(
        Flag::Total,
        Some('c'),
        "total",
        "Write a line with the total of all operands at the end",
    ),
    valued(
        Valued::Threshold,
        "SIZE",
        Some('t'),
        "threshold",
        "Leave out lines of less than SIZE, or of more than its absolute value if SIZE is negative",
    ),
    valued(
        Valued::Time,
        "WORD",
        None,
        "time",
        "Show the latest time of change of any file below, or another time by WORD: atime, access, use, ctime, status",
    ),
    valued(
        Valued::TimeStyle,
        "STYLE",
        None,
        "time-style",
        "Write times in STYLE: full-iso, long-iso, iso, or +FORMAT as in date(1)",
    ),
    letter(Flag::Kibibytes, 'k', "k", "As --block-size=1K"),
    letter(Flag::Mebibytes, 'm', "m", "As --block-size=1M"),
];

const OPERANDS: &str = "operands";
/// The value of `--time` if none is given.
pub(crate) const TIME_ALONE: &str = "mtime";

impl DuArgs {
    fn command(command: Command) -> Command {
        // -h is --human-readable. The short form of the help has each option and its text on one
        // line, as the help of GNU du has: scripts search it for options.
        let help = Arg::new("help")
            .long("help")
            .action(ArgAction::HelpShort)
            .help("Print this help");
        // GNU's du has no letter for the version, and refuses -V.
        let version = Arg::new("version")
            .long("version")
            .action(ArgAction::Version)
            .help("Print the version");
        let operands = Arg::new(OPERANDS)
            .value_name("FILE")
            .value_parser(ValueParser::os_string())
            .num_args(0..)
            .help("Files and directories to measure (the current directory if none is given)")
            // In POSIX, options do not follow operands.
            .trailing_var_arg(std::env::var_os("POSIXLY_CORRECT").is_some());
        command
            .version(concat!("(ringwalk) ", env!("CARGO_PKG_VERSION")))
            .disable_version_flag(true)
            .disable_help_flag(true)
            .infer_long_args(true)
            .args_override_self(true)
            .args(OPTIONS.iter().map(argument))
            .arg(help)
            .arg(version)
            .arg(operands)
    }
}

/// Returns the long names of all options of GNU's du, for its messages about abbreviations.
pub(crate) fn long_names() -> impl Iterator<Item = &'static str> {
    let is_ours = |option: &&Definition| {
        matches!(
            option.kind,
            OptionKind::Flag(Flag::Exclusive) | OptionKind::Value(Valued::From, _)
        )
    };
    let options = OPTIONS.iter().filter(move |option| !is_ours(option));
    let names = options.filter_map(|option| option.long);
    names.chain(["help", "version"])
}

/// Returns the letter of the option with that long name.
pub(crate) fn letter_of(long: &str) -> Option<char> {
    let option = OPTIONS.iter().find(|option| option.long == Some(long));
    option.and_then(|option| option.letter)
}

fn argument(option: &Definition) -> Arg {
    let mut arg = Arg::new(option.id).help(option.help);
    if let Some(letter) = option.letter {
        arg = arg.short(letter);
    }
    if let Some(long) = option.long {
        arg = arg.long(long);
    }
    match option.kind {
        OptionKind::Flag(Flag::DereferenceArgs) => arg.short_alias('H').action(ArgAction::SetTrue),
        // GNU du takes these abbreviations, which could mean --in-flight too.
        OptionKind::Flag(Flag::Inodes) => arg.aliases(["i", "in"]).action(ArgAction::SetTrue),
        OptionKind::Flag(_) => arg.action(ArgAction::SetTrue),
        OptionKind::Value(kind, value) => {
            let arg = arg
                .value_name(value)
                .value_parser(ValueParser::os_string())
                .action(ArgAction::Append);
            if kind == Valued::Time {
                arg.num_args(0..=1)
                    .require_equals(true)
                    .default_missing_value(TIME_ALONE)
            } else if kind == Valued::Files0From {
                // GNU du takes this abbreviation, which could mean --from too.
                arg.alias("f").allow_hyphen_values(true)
            } else {
                arg.allow_hyphen_values(true)
            }
        }
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
        for option in OPTIONS {
            let indices = matches.indices_of(option.id).into_iter().flatten();
            match option.kind {
                OptionKind::Flag(flag) => {
                    if matches.get_flag(option.id) {
                        ordered.push((indices.last(), Setting::Flag(flag)));
                    }
                }
                OptionKind::Value(kind, _) => {
                    let values = matches.get_many::<OsString>(option.id);
                    for (value, index) in values.into_iter().flatten().zip(indices) {
                        ordered.push((Some(index), Setting::Value(kind, value.clone())));
                    }
                }
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
        for inodes in ["--i", "--in", "--ino"] {
            assert_eq!(settings(&[inodes]), [Setting::Flag(Flag::Inodes)]);
        }
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
