//! The parser of the expression: reads the words one by one, and the options.

use super::leading::{misplaced, unknown};
use super::tree::Joint;
use super::words::{Words, out_of_range, plain, quoted};
use super::{Context, Piece, PlacedPiece, Refusal};
use crate::expression::{CallTest, EntryTest, Expression, Leaf, Options, Sink, Test};
use crate::regex::Syntax;
use crate::saved::SavedSearch;
use crate::table::{self, GlobalWord, Meaning, OperatorWord, PositionalWord};
use ringwalk::{Follow, Stay};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// The parser, with the meaning of the words read so far.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is something that was read or not"
)]
pub(super) struct Parser<'a> {
    pub(super) context: &'a Context,
    pub(super) words: Words<'a>,
    /// The range of the starting points among the words.
    pub(super) paths: std::ops::Range<usize>,
    pub(super) follow: Follow,
    pub(super) options: Options,
    pub(super) sinks: Vec<Sink>,
    pub(super) exclusions: Vec<Expression>,
    pub(super) warnings: Vec<String>,
    /// `--from`.
    pub(super) saved: Option<Arc<SavedSearch>>,
    /// `-warn` or `-nowarn`.
    pub(super) warn: Option<bool>,
    /// `-daystart` was read.
    pub(super) day_start: bool,
    /// `-regextype`.
    pub(super) syntax: Syntax,
    /// The position of the last word of the language, arguments left out.
    pub(super) previous: Option<usize>,
    /// The position of the first word that is no option.
    first: Option<usize>,
    /// There is an action in place of `-print`.
    pub(super) acts: bool,
    /// `-depth` or `-d` was read.
    pub(super) depth_given: bool,
    /// `-delete` was read.
    pub(super) deletes: bool,
    /// `-prune` was read.
    pub(super) prunes: bool,
    /// `-ok` or `-okdir` was read.
    pub(super) asks: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn new(context: &'a Context, arguments: &'a [std::ffi::OsString]) -> Self {
        Self {
            context,
            words: Words {
                all: arguments,
                next: 0,
            },
            paths: 0..0,
            follow: Follow::Never,
            options: Options::default(),
            sinks: Vec::new(),
            exclusions: Vec::new(),
            warnings: Vec::new(),
            saved: context.saved_tree(),
            warn: None,
            day_start: false,
            syntax: Syntax::default(),
            previous: None,
            first: None,
            acts: false,
            depth_given: false,
            deletes: false,
            prunes: false,
            asks: false,
        }
    }

    /// Reads all words with their arguments.
    pub(super) fn tokens(&mut self) -> Result<Vec<PlacedPiece>, Refusal> {
        let mut tokens: Vec<PlacedPiece> = Vec::new();
        loop {
            let at = self.words.next;
            let Some(name) = self.words.take() else {
                return Ok(tokens);
            };
            match self.piece(name, at)? {
                Some(piece) => tokens.push(PlacedPiece { piece, at }),
                // GNU find's messages then call the word before by this name.
                None => {
                    if let Some(before) = tokens.last_mut() {
                        before.at = at;
                    }
                }
            }
            self.previous = Some(at);
        }
    }

    /// Parses the word `name`, which stands at `at`, and its arguments. Returns none for an option
    /// that stands for no test.
    fn piece(&mut self, name: &OsStr, at: usize) -> Result<Option<Piece>, Refusal> {
        if !matches!(name.as_bytes(), b"(" | b")" | b"!" | b"," | [b'-', _, ..]) {
            return Err(misplaced(self, name));
        }
        let entry = table::find(name.as_bytes()).ok_or_else(|| unknown(name))?;
        Ok(match entry.meaning {
            // `leading::read` has read them where they may stand.
            Meaning::Leading(_) => return Err(unknown(name)),
            Meaning::Global(word) => {
                self.warn_of_place(name);
                self.global(word, name)?;
                // In GNU find this option stands for no test, so no operator can follow it.
                (word != GlobalWord::Files0From).then(|| self.truth(at))
            }
            Meaning::Positional(word) => self.positional(word, name)?.then(|| self.truth(at)),
            Meaning::Operator(word) => {
                self.first.get_or_insert(at);
                self.warn_of_hyphen(name);
                Some(operator(word))
            }
            Meaning::Test(word) => {
                self.first.get_or_insert(at);
                let is = self.test(word, name)?;
                Some(self.test_leaf(is, at))
            }
            Meaning::Action(word) => {
                self.first.get_or_insert(at);
                let is = self.action(word, name)?;
                Some(Piece::Operand(Expression::Action(self.leaf(is, at))))
            }
        })
    }

    /// Returns the test that an option stands for.
    fn truth(&self, at: usize) -> Piece {
        self.test_leaf(EntryTest::True.into(), at)
    }

    fn test_leaf(&self, is: Test, at: usize) -> Piece {
        Piece::Operand(Expression::Test(self.leaf(is, at)))
    }

    /// Returns a leaf with the words from `at` up to the next unread one.
    fn leaf<T>(&self, is: T, at: usize) -> Leaf<T> {
        Leaf {
            is,
            words: self.words.all[at..self.words.next].to_vec(),
        }
    }

    pub(super) fn warns(&self) -> bool {
        self.context.warns(self.warn)
    }

    /// Warns of a global option after a test.
    fn warn_of_place(&mut self, name: &OsStr) {
        let Some(first) = self.first.filter(|_| self.warns()) else {
            return;
        };
        let option = plain(name);
        let first = plain(&self.words.all[first]);
        self.warnings.push(format!(
            "warning: you have specified the global option {option} after the argument {first}, but global options are not \
positional, i.e., {option} affects tests specified before it as well as those specified after it.  Please specify global options \
before other arguments."
        ));
    }

    /// Warns of an operator like `-!`. As in GNU find, `-nowarn` does not prevent that.
    fn warn_of_hyphen(&mut self, name: &OsStr) {
        if matches!(name.as_bytes(), [b'-', b'(' | b')' | b'!' | b',']) {
            self.warnings.push(format!(
                "warning: operator '{}' (with leading dash '-') will no longer be accepted in future findutils releases!",
                plain(name)
            ));
        }
    }

    fn global(&mut self, word: GlobalWord, name: &OsStr) -> Result<(), Refusal> {
        let options = &mut self.options;
        match word {
            GlobalWord::Color => options.color = Some(true),
            GlobalWord::NoColor => options.color = Some(false),
            GlobalWord::Depth | GlobalWord::DepthShort => {
                options.depth_first = true;
                self.depth_given = true;
                if word == GlobalWord::DepthShort && self.warns() {
                    self.warnings.push(
                        "warning: the -d option is deprecated; please use -depth instead, because the latter is a \
POSIX-compliant feature."
                            .to_owned(),
                    );
                }
            }
            GlobalWord::Files0From => {
                options.files0_from = Some(self.words.argument(name)?.to_owned());
            }
            GlobalWord::Help => {
                return Err(Refusal::Help(table::help(self.context.program_name())));
            }
            GlobalWord::IgnoreReaddirRace => options.ignore_readdir_race = true,
            GlobalWord::NoIgnoreReaddirRace => options.ignore_readdir_race = false,
            GlobalWord::MaxDepth => options.max_depth = levels(name, self.words.argument(name)?)?,
            GlobalWord::MinDepth => options.min_depth = levels(name, self.words.argument(name)?)?,
            GlobalWord::XDev => options.stay = Stay::Device,
            GlobalWord::Mount => {
                options.stay = Stay::Device;
                self.exclude(CallTest::Elsewhere, name);
            }
            GlobalWord::NoHidden => self.exclude(EntryTest::Hidden, name),
            GlobalWord::Sorted => options.sorted = true,
            GlobalWord::Unique => options.unique = true,
            GlobalWord::Version => return Err(Refusal::Version),
            // The engine does not rely on link counts of directories, so there is nothing to turn
            // off.
            GlobalWord::NoLeaf => {}
        }
        Ok(())
    }

    /// Treats files for which a test is true as absent, as the option `name` asks for.
    fn exclude(&mut self, test: impl Into<Test>, name: &OsStr) {
        self.exclusions.push(Expression::Test(Leaf {
            is: test.into(),
            words: vec![name.to_owned()],
        }));
    }

    /// Reads a positional option. Returns true if it stands for a test; `-daystart` does not.
    fn positional(&mut self, word: PositionalWord, name: &OsStr) -> Result<bool, Refusal> {
        match word {
            PositionalWord::DayStart => {
                self.day_start = true;
                return Ok(false);
            }
            PositionalWord::Follow => self.follow = Follow::Always,
            PositionalWord::RegexType => {
                let syntax = self.words.argument(name)?;
                self.syntax = Syntax::named(syntax.as_bytes()).ok_or_else(|| no_syntax(syntax))?;
            }
            PositionalWord::Warn => self.warn = Some(true),
            PositionalWord::NoWarn => self.warn = Some(false),
        }
        Ok(true)
    }
}

fn operator(word: OperatorWord) -> Piece {
    match word {
        OperatorWord::Open => Piece::Open,
        OperatorWord::Close => Piece::Close,
        OperatorWord::Not => Piece::Not,
        OperatorWord::And => Piece::Join(Joint::And),
        OperatorWord::Or => Piece::Join(Joint::Or),
        OperatorWord::Comma => Piece::Join(Joint::Comma),
        OperatorWord::Exclude => Piece::Exclude,
    }
}

/// Reads the number of `-maxdepth` or `-mindepth`.
fn levels(name: &OsStr, argument: &OsStr) -> Result<usize, Refusal> {
    let text = argument.as_bytes();
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return Err(Refusal::wrong(format!(
            "Expected a positive decimal integer argument to {}, but got {}",
            plain(name),
            quoted(argument)
        )));
    }
    plain(argument)
        .parse::<i32>()
        .ok()
        .and_then(|number| usize::try_from(number).ok())
        .ok_or_else(|| out_of_range(argument))
}

fn no_syntax(given: &OsStr) -> Refusal {
    let known: Vec<String> = Syntax::names()
        .map(|name| quoted(OsStr::new(name)))
        .collect();
    Refusal::wrong(format!(
        "Unknown regular expression type {}; valid types are {}.",
        quoted(given),
        known.join(", ")
    ))
}
