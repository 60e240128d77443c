//! Parses tests and their arguments.

use super::parser::Parser;
use super::reference::Reference;
use super::words::{missing, non_numeric, plain, quoted};
use super::{Refusal, mode, number, owner, time, types};
use crate::date;
use crate::expression::{
    AccessMode, CallTest, Compare, EntryTest, MetadataTest, Permission, PermissionMatch, Span,
    Test, TypeSet,
};
use crate::pattern::Pattern;
use crate::regex::Regex;
use crate::selinux;
use crate::table::TestWord;
use crate::time::Time;
use ringwalk::{Errno, Follow, Identity, Timestamp};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

impl Parser<'_> {
    /// Reads the arguments of a test.
    pub(super) fn test(&mut self, word: TestWord, name: &OsStr) -> Result<Test, Refusal> {
        Ok(match word {
            TestWord::True => EntryTest::True.into(),
            TestWord::False => EntryTest::False.into(),
            TestWord::Hidden => EntryTest::Hidden.into(),
            TestWord::Name => self.name(name, false)?.into(),
            TestWord::NameFold => self.name(name, true)?.into(),
            TestWord::Path => self.path(name, false)?.into(),
            TestWord::PathFold => self.path(name, true)?.into(),
            TestWord::Regex => EntryTest::Regex(self.regex(name, false)?).into(),
            TestWord::RegexFold => EntryTest::Regex(self.regex(name, true)?).into(),
            TestWord::Type => EntryTest::Type(self.types(name)?).into(),
            TestWord::Size => size(self.words.argument(name)?)?.into(),
            TestWord::Links => MetadataTest::Links(self.count(name)?).into(),
            TestWord::Inode => MetadataTest::Inode(self.count(name)?).into(),
            TestWord::SameFile => MetadataTest::SameFile(self.same_file(name)?).into(),
            TestWord::Permission => MetadataTest::Permission(self.permission(name)?).into(),
            TestWord::Uid => MetadataTest::Uid(self.count(name)?).into(),
            TestWord::Gid => MetadataTest::Gid(self.count(name)?).into(),
            TestWord::User => {
                let saved = self.saved.as_deref();
                MetadataTest::Uid(owner::user(self.words.argument(name)?, saved)?).into()
            }
            TestWord::Group => {
                let saved = self.saved.as_deref();
                MetadataTest::Gid(owner::group(self.words.argument(name)?, saved)?).into()
            }
            TestWord::AccessMinutes => self.age(Time::Access, time::AgeUnit::Minute, name)?.into(),
            TestWord::AccessDays => self.age(Time::Access, time::AgeUnit::Day, name)?.into(),
            TestWord::ChangeMinutes => self.age(Time::Change, time::AgeUnit::Minute, name)?.into(),
            TestWord::ChangeDays => self.age(Time::Change, time::AgeUnit::Day, name)?.into(),
            TestWord::ModificationMinutes => self
                .age(Time::Modification, time::AgeUnit::Minute, name)?
                .into(),
            TestWord::ModificationDays => self
                .age(Time::Modification, time::AgeUnit::Day, name)?
                .into(),
            TestWord::Used => MetadataTest::Used(self.lapse(name)?).into(),
            TestWord::Newer => self.newer(Time::Modification, name)?.into(),
            TestWord::AccessNewer => self.newer(Time::Access, name)?.into(),
            TestWord::ChangeNewer => self.newer(Time::Change, name)?.into(),
            TestWord::NewerXY => self.newer_xy(name)?.into(),
            TestWord::LinkName => CallTest::LinkName(self.pattern_of(name, false)?).into(),
            TestWord::LinkNameFold => CallTest::LinkName(self.pattern_of(name, true)?).into(),
            TestWord::XType => CallTest::XType(self.types(name)?).into(),
            TestWord::Empty => CallTest::Empty.into(),
            TestWord::NoUser => CallTest::NoUser.into(),
            TestWord::NoGroup => CallTest::NoGroup.into(),
            TestWord::Readable => CallTest::Access(AccessMode::Read).into(),
            TestWord::Writable => CallTest::Access(AccessMode::Write).into(),
            TestWord::Executable => CallTest::Access(AccessMode::Execute).into(),
            TestWord::FileSystem => {
                CallTest::FileSystem(self.words.argument(name)?.as_bytes().to_vec()).into()
            }
            TestWord::Context => CallTest::Context(self.context_pattern(name)?).into(),
        })
    }

    /// Reads the pattern of `-name` or `-iname`.
    fn name(&mut self, name: &OsStr, fold_case: bool) -> Result<EntryTest, Refusal> {
        let pattern = self.words.argument(name)?.as_bytes();
        self.warn_of_slash(name, pattern, fold_case);
        Ok(EntryTest::Name(self.pattern(pattern, fold_case)))
    }

    /// Reads the pattern of `-path` or `-ipath`.
    fn path(&mut self, name: &OsStr, fold_case: bool) -> Result<EntryTest, Refusal> {
        let argument = self.words.argument(name)?;
        let pattern = self.pattern(argument.as_bytes(), fold_case);
        self.warn_of_ending(name, argument, &pattern);
        Ok(EntryTest::Path(pattern))
    }

    /// Reads a pattern that needs no warning.
    fn pattern_of(&mut self, name: &OsStr, fold_case: bool) -> Result<Pattern, Refusal> {
        let pattern = self.words.argument(name)?.as_bytes();
        Ok(self.pattern(pattern, fold_case))
    }

    fn types(&mut self, name: &OsStr) -> Result<TypeSet, Refusal> {
        types::types(name, self.words.argument(name)?.as_bytes())
    }

    /// Reads the age of `-mtime` and the like.
    fn age(
        &mut self,
        time: Time,
        unit: time::AgeUnit,
        name: &OsStr,
    ) -> Result<MetadataTest, Refusal> {
        let argument = self.words.argument(name)?;
        let span = time::age(argument.as_bytes(), unit, self.origin())
            .map_err(|wrong| wrong.refusal(argument, name))?;
        Ok(MetadataTest::Age(time, span))
    }

    /// Reads the days of `-used`.
    fn lapse(&mut self, name: &OsStr) -> Result<Span, Refusal> {
        let argument = self.words.argument(name)?;
        time::lapse(argument.as_bytes()).map_err(|wrong| match wrong {
            time::Wrong::NoNumber => {
                Refusal::wrong(format!("Invalid argument {} to -used", plain(argument)))
            }
            time::Wrong::NotANumber | time::Wrong::TooLate(_) => wrong.refusal(argument, name),
        })
    }

    /// Reads the file of `-samefile`. Numbers of devices can change when a system starts. So in a
    /// saved tree it is a file of that tree.
    fn same_file(&mut self, name: &OsStr) -> Result<Identity, Refusal> {
        let Some(saved) = self.saved.clone() else {
            return self.reference(name)?.identity();
        };
        let argument = self.words.argument(name)?;
        let follow = self.follow != Follow::Never;
        let found = saved.tree.find(argument.as_bytes(), follow);
        let why = match found {
            Ok(file) => match file.identity() {
                Some(identity) => return Ok(identity),
                None => "its inode number is not in the snapshot".to_owned(),
            },
            Err(Errno::NOENT) => "not in the snapshot".to_owned(),
            Err(errno) => ringwalk_gnu::reason(&errno.into()),
        };
        Err(Refusal::wrong(format!("{}: {why}", quoted(argument))))
    }

    /// Reads the name of a file to compare with.
    fn reference(&mut self, name: &OsStr) -> Result<Reference<'_>, Refusal> {
        Reference::new(self.words.argument(name)?, self.follow)
    }

    /// Reads the reference of `-newer`, `-anewer` or `-cnewer`, whose modification counts.
    fn newer(&mut self, time: Time, name: &OsStr) -> Result<MetadataTest, Refusal> {
        let moment = self.reference(name)?.time(Time::Modification)?;
        Ok(MetadataTest::Newer(time, moment))
    }

    fn pattern(&self, pattern: &[u8], fold_case: bool) -> Pattern {
        Pattern::new(pattern, fold_case, self.context.utf8())
    }

    fn regex(&mut self, name: &OsStr, fold_case: bool) -> Result<Regex, Refusal> {
        let pattern = self.words.argument(name)?;
        Regex::new(
            pattern.as_bytes(),
            self.syntax,
            fold_case,
            self.context.utf8(),
        )
        .map_err(|reason| {
            Refusal::wrong(format!(
                "failed to compile regular expression '{}': {reason}",
                plain(pattern)
            ))
        })
    }

    /// Reads the number of `-links`, `-inum`, `-uid` or `-gid`.
    fn count(&mut self, name: &OsStr) -> Result<Compare, Refusal> {
        let argument = self.words.argument(name)?;
        number::compare(argument.as_bytes()).ok_or_else(|| non_numeric(argument, name))
    }

    /// Returns the moment that ages are measured from.
    fn origin(&self) -> Timestamp {
        if self.day_start {
            self.context.end_of_day()
        } else {
            self.context.now()
        }
    }

    /// Reads the reference of `-newermt` and the like.
    fn newer_xy(&mut self, name: &OsStr) -> Result<MetadataTest, Refusal> {
        let [.., x, y] = name.as_bytes() else {
            return Err(missing(name));
        };
        let of = NewerReference::named(*y);
        let (Some(time), Some(of)) = (time_named(*x), of) else {
            return Err(invalid_predicate(name));
        };
        let argument = self.words.take().ok_or_else(|| {
            Refusal::wrong(format!(
                "The {} test needs to be followed by an argument",
                quoted(name)
            ))
        })?;
        let moment = match of {
            NewerReference::File(time) => Reference::new(argument, self.follow)?.time(time)?,
            NewerReference::Date => self.date(argument)?,
        };
        Ok(MetadataTest::Newer(time, moment))
    }

    fn date(&self, text: &OsStr) -> Result<Timestamp, Refusal> {
        date::parse(text.as_bytes(), self.context.now(), self.context.zone()).ok_or_else(|| {
            Refusal::wrong(format!(
                "I cannot figure out how to interpret {} as a date or time",
                quoted(text)
            ))
        })
    }

    fn context_pattern(&mut self, name: &OsStr) -> Result<Pattern, Refusal> {
        let pattern = self.words.argument(name)?;
        if !selinux::is_enabled() {
            return Err(Refusal::wrong(selinux::NOT_ENABLED));
        }
        Ok(self.pattern(pattern.as_bytes(), false))
    }

    fn permission(&mut self, name: &OsStr) -> Result<Permission, Refusal> {
        let argument = self.words.argument(name)?;
        let (how, text) = match argument.as_bytes() {
            [b'-', rest @ ..] => (PermissionMatch::All, rest),
            [b'/', rest @ ..] => (PermissionMatch::Any, rest),
            text => (PermissionMatch::Exactly, text),
        };
        // `+` once meant the same as `/`. Nobody must think that it still does.
        let old = matches!(argument.as_bytes(), [b'+', b'0'..=b'7', ..]);
        let mask = if mode::is_masked(text) {
            self.context.creation_mask().map_err(Refusal::wrong)?
        } else {
            0
        };
        let mode = mode::parse(text, mask)
            .filter(|_| !old)
            .ok_or_else(|| Refusal::wrong(format!("invalid file mode {}", quoted(argument))))?;
        if how == PermissionMatch::Any && mode.file == 0 && mode.directory == 0 {
            self.warnings.push(format!(
                "warning: you have specified a mode pattern {} (which is equivalent to /000). The meaning of -perm /000 \
was changed in 2007 to be consistent with -perm -000; that is, while it used to match no files, it now matches all files. \
This warning message will be removed in a future findutils release.",
                plain(argument)
            ));
        }
        Ok(Permission {
            how,
            file: mode.file,
            directory: mode.directory,
        })
    }

    fn warn_of_slash(&mut self, name: &OsStr, pattern: &[u8], fold_case: bool) {
        // The base name of the root directory is a slash, so that pattern can match.
        if !pattern.contains(&b'/') || pattern == b"/" || !self.warns() {
            return;
        }
        let better = if fold_case {
            "-iwholename"
        } else {
            "-wholename"
        };
        self.warnings.push(format!(
            "warning: {} matches against basenames only, but the given pattern contains a directory separator ({}), thus \
the expression will evaluate to false all the time.  Did you mean {}?",
            quoted(name),
            quoted(OsStr::new("/")),
            quoted(OsStr::new(better))
        ));
    }

    fn warn_of_ending(&mut self, name: &OsStr, pattern: &OsStr, made: &Pattern) {
        // Only starting points can end so. GNU find gives this warning even after -nowarn.
        let mut starts = self.words.all[self.paths.clone()].iter();
        if pattern.as_bytes().ends_with(b"/")
            && !self.context.is_posix()
            && !starts.any(|start| made.matches(start.as_bytes()))
        {
            self.warnings.push(format!(
                "warning: {} {} will not match anything because it ends with /.",
                plain(name),
                plain(pattern)
            ));
        }
    }
}

/// The reference of `-newerXY`.
enum NewerReference {
    /// The given time of a file.
    File(Time),
    /// A date.
    Date,
}

impl NewerReference {
    /// Returns the kind of reference of the letter Y.
    fn named(letter: u8) -> Option<Self> {
        if letter == b't' {
            Some(Self::Date)
        } else {
            time_named(letter).map(Self::File)
        }
    }
}

fn time_named(letter: u8) -> Option<Time> {
    let mut times = Time::LETTERS.iter();
    times
        .find(|(known, _)| *known == letter)
        .map(|(_, time)| *time)
}

fn invalid_predicate(name: &OsStr) -> Refusal {
    Refusal::wrong(format!("invalid predicate `{}'", plain(name)))
}

fn size(argument: &OsStr) -> Result<MetadataTest, Refusal> {
    let text = argument.as_bytes();
    let Some((last, before)) = text.split_last() else {
        return Err(Refusal::wrong("invalid null argument to -size"));
    };
    let (unit, digits) = match last {
        b'b' => (512, before),
        b'c' => (1, before),
        b'w' => (2, before),
        b'k' => (1 << 10, before),
        b'M' => (1 << 20, before),
        b'G' => (1 << 30, before),
        b'0'..=b'9' => (512, text),
        _ => {
            let last = String::from_utf8_lossy(std::slice::from_ref(last));
            return Err(Refusal::wrong(format!("invalid -size type `{last}'")));
        }
    };
    let count = number::compare(digits).ok_or_else(|| {
        Refusal::wrong(format!("Invalid argument `{}' to -size", plain(argument)))
    })?;
    Ok(MetadataTest::Size { count, unit })
}
