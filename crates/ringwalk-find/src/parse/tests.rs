//! Tests and their arguments.

use super::predicates::Parser;
use super::reference::Reference;
use super::words::{missing, non_numeric, plain, quoted};
use super::{Refusal, mode, number, owner, time, types};
use crate::date;
use crate::expression::{AccessMode, Compare, Permission, PermissionMatch, Test, Time};
use crate::pattern::Pattern;
use crate::regex::Regex;
use crate::table::Word;
use ringwalk::Timestamp;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

impl Parser<'_> {
    /// Reads the arguments of a test.
    pub(super) fn test(&mut self, word: Word, name: &OsStr) -> Result<Test, Refusal> {
        match word {
            Word::True => return Ok(Test::True),
            Word::False => return Ok(Test::False),
            Word::Empty => return Ok(Test::Empty),
            Word::Hidden => return Ok(Test::Hidden),
            Word::NoUser => return Ok(Test::NoUser),
            Word::NoGroup => return Ok(Test::NoGroup),
            Word::Readable => return Ok(Test::Access(AccessMode::Read)),
            Word::Writable => return Ok(Test::Access(AccessMode::Write)),
            Word::Executable => return Ok(Test::Access(AccessMode::Execute)),
            Word::Links => return self.count(name).map(Test::Links),
            Word::Inode => return self.count(name).map(Test::Inode),
            Word::Uid => return self.count(name).map(Test::Uid),
            Word::Gid => return self.count(name).map(Test::Gid),
            Word::User => return owner::user(self.words.argument(name)?).map(Test::Uid),
            Word::Group => return owner::group(self.words.argument(name)?).map(Test::Gid),
            Word::NewerXY => return self.newer_xy(name),
            _ => {}
        }
        let argument = self.words.argument(name)?;
        let (time, unit) = match word {
            Word::AccessMinutes => (Time::Access, time::Unit::Minute),
            Word::AccessDays => (Time::Access, time::Unit::Day),
            Word::ChangeMinutes => (Time::Change, time::Unit::Minute),
            Word::ChangeDays => (Time::Change, time::Unit::Day),
            Word::ModificationMinutes => (Time::Modification, time::Unit::Minute),
            Word::ModificationDays => (Time::Modification, time::Unit::Day),
            _ => return self.test_of(word, name, argument),
        };
        let span = time::age(argument.as_bytes(), unit, self.origin())
            .map_err(|wrong| wrong.refusal(argument, name))?;
        Ok(Test::Age(time, span))
    }

    /// The test with this argument.
    fn test_of(&mut self, word: Word, name: &OsStr, argument: &OsStr) -> Result<Test, Refusal> {
        let bytes = argument.as_bytes();
        Ok(match word {
            Word::Name | Word::NameFold => {
                self.warn_of_slash(word, name, bytes);
                Test::Name(self.pattern(bytes, word == Word::NameFold))
            }
            Word::Path | Word::PathFold => {
                let pattern = self.pattern(bytes, word == Word::PathFold);
                self.warn_of_ending(name, argument, &pattern);
                Test::Path(pattern)
            }
            Word::LinkName => Test::LinkName(self.pattern(bytes, false)),
            Word::LinkNameFold => Test::LinkName(self.pattern(bytes, true)),
            Word::Regex => Test::Regex(self.regex(argument, false)?),
            Word::RegexFold => Test::Regex(self.regex(argument, true)?),
            Word::Context => Test::Context(self.context_pattern(argument)?),
            Word::FileSystem => Test::FileSystem(bytes.to_vec()),
            Word::Newer => self.newer(Time::Modification, argument, Time::Modification)?,
            Word::AccessNewer => self.newer(Time::Access, argument, Time::Modification)?,
            Word::ChangeNewer => self.newer(Time::Change, argument, Time::Modification)?,
            Word::SameFile => Test::SameFile(Reference::new(argument, self.follow)?.identity()),
            Word::Permission => Test::Permission(self.permission(argument)?),
            Word::Size => size(argument)?,
            Word::Type => Test::Type(types::types(name, bytes)?),
            Word::XType => Test::XType(types::types(name, bytes)?),
            Word::Used => Test::Used(time::lapse(bytes).map_err(|wrong| match wrong {
                time::Wrong::NoNumber => {
                    Refusal::wrong(format!("Invalid argument {} to -used", plain(argument)))
                }
                other => other.refusal(argument, name),
            })?),
            _ => return Err(super::leading::unknown(name)),
        })
    }

    fn pattern(&self, pattern: &[u8], fold_case: bool) -> Pattern {
        Pattern::new(pattern, fold_case, self.context.utf8())
    }

    fn regex(&self, pattern: &OsStr, fold_case: bool) -> Result<Regex, Refusal> {
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

    /// The moment that ages are measured from.
    fn origin(&self) -> Timestamp {
        if self.day_start {
            self.context.end_of_day()
        } else {
            self.context.now()
        }
    }

    fn newer(&self, time: Time, reference: &OsStr, of: Time) -> Result<Test, Refusal> {
        let moment = Reference::new(reference, self.follow)?.time(of)?;
        Ok(Test::Newer(time, moment))
    }

    /// `-newermt` and its like.
    fn newer_xy(&mut self, name: &OsStr) -> Result<Test, Refusal> {
        let bytes = name.as_bytes();
        let [.., x, y] = bytes else {
            return Err(missing(name));
        };
        let (Some(time), of) = (time_named(*x), time_named(*y)) else {
            return Err(invalid_predicate(name));
        };
        if of.is_none() && *y != b't' {
            return Err(invalid_predicate(name));
        }
        let argument = self.words.take().ok_or_else(|| {
            Refusal::wrong(format!("The {} test needs an argument", quoted(name)))
        })?;
        match of {
            Some(of) => self.newer(time, argument, of),
            None => Ok(Test::Newer(time, self.date(argument)?)),
        }
    }

    fn date(&self, text: &OsStr) -> Result<Timestamp, Refusal> {
        date::parse(text.as_bytes(), self.context.now(), self.context.zone()).ok_or_else(|| {
            Refusal::wrong(format!(
                "I cannot figure out how to interpret {} as a date or time",
                quoted(text)
            ))
        })
    }

    fn context_pattern(&self, pattern: &OsStr) -> Result<Pattern, Refusal> {
        if !std::path::Path::new("/sys/fs/selinux/enforce").exists() {
            return Err(Refusal::wrong(
                "invalid predicate -context: SELinux is not enabled.",
            ));
        }
        Ok(self.pattern(pattern.as_bytes(), false))
    }

    fn permission(&mut self, argument: &OsStr) -> Result<Permission, Refusal> {
        let (how, text) = match argument.as_bytes() {
            [b'-', rest @ ..] => (PermissionMatch::All, rest),
            [b'/', rest @ ..] => (PermissionMatch::Any, rest),
            text => (PermissionMatch::Exactly, text),
        };
        // Once it meant what `/` means; nobody is to think that it still does.
        let old = matches!(argument.as_bytes(), [b'+', b'0'..=b'7', ..]);
        let mask = if mode::is_masked(text) {
            self.context.creation_mask().map_err(Refusal::wrong)?
        } else {
            0
        };
        let mode = mode::parse(text, mask)
            .filter(|_| !old)
            .ok_or_else(|| Refusal::wrong(format!("invalid mode {}", quoted(argument))))?;
        if how == PermissionMatch::Any && mode.file == 0 && mode.directory == 0 {
            self.warnings.push(format!(
                "warning: you have specified a mode pattern {} (which is equivalent to /000). The meaning of -perm /000 \
has now been changed to be consistent with -perm -000; that is, while it used to match no files, it now matches all files.",
                plain(argument)
            ));
        }
        Ok(Permission {
            how,
            file: mode.file,
            directory: mode.directory,
        })
    }

    fn warn_of_slash(&mut self, word: Word, name: &OsStr, pattern: &[u8]) {
        // The base name of the root directory is a slash, so that pattern can match.
        if !pattern.contains(&b'/') || pattern == b"/" || !self.warns() {
            return;
        }
        let better = if word == Word::NameFold {
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
        // Only starting points can end so. GNU find gives this warning whatever -nowarn says.
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

fn time_named(letter: u8) -> Option<Time> {
    match letter {
        b'a' => Some(Time::Access),
        b'B' => Some(Time::Birth),
        b'c' => Some(Time::Change),
        b'm' => Some(Time::Modification),
        _ => None,
    }
}

fn invalid_predicate(name: &OsStr) -> Refusal {
    Refusal::wrong(format!("invalid predicate `{}'", plain(name)))
}

fn size(argument: &OsStr) -> Result<Test, Refusal> {
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
    Ok(Test::Size { count, unit })
}
