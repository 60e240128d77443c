//! The words of the expression, one by one: what they are, and options.

use super::leading::{misplaced, unknown};
use super::words::{Words, out_of_range, plain, quoted};
use super::{Context, Piece, Refusal, Token};
use crate::expression::{Expression, Leaf, Options, Sink, Test};
use crate::regex::Syntax;
use crate::table::{self, Kind, Word};
use ringwalk::{Follow, Stay};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// What has been understood so far.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is something that was met or not"
)]
pub(super) struct Parser<'a> {
    pub(super) context: &'a Context,
    pub(super) words: Words<'a>,
    /// Which words are the starting points.
    pub(super) paths: std::ops::Range<usize>,
    pub(super) follow: Follow,
    pub(super) options: Options,
    pub(super) sinks: Vec<Sink>,
    pub(super) exclusions: Vec<Expression>,
    pub(super) warnings: Vec<String>,
    /// `-warn` or `-nowarn`.
    pub(super) warn: Option<bool>,
    /// `-daystart` was met.
    pub(super) day_start: bool,
    /// `-regextype`.
    pub(super) syntax: Syntax,
    /// Where the last word of the language stands, arguments left out.
    pub(super) previous: Option<usize>,
    /// Where the first one stands that is no option.
    first: Option<usize>,
    /// There is an action that stands in place of `-print`.
    pub(super) acts: bool,
    /// `-depth` or `-d` was met.
    pub(super) depth_given: bool,
    /// `-delete` was met.
    pub(super) deletes: bool,
    /// `-prune` was met.
    pub(super) prunes: bool,
    /// `-ok` or `-okdir` was met.
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
    pub(super) fn tokens(&mut self) -> Result<Vec<Token>, Refusal> {
        let mut tokens: Vec<Token> = Vec::new();
        loop {
            let at = self.words.next;
            let Some(name) = self.words.take() else {
                return Ok(tokens);
            };
            match self.piece(name, at)? {
                Some(piece) => tokens.push(Token { piece, at }),
                // GNU find then calls the word before by this name in its messages.
                None => {
                    if let Some(before) = tokens.last_mut() {
                        before.at = at;
                    }
                }
            }
            self.previous = Some(at);
        }
    }

    /// Understands the word `name`, which stands at `at`, and its arguments. None for an option that leaves nothing behind.
    fn piece(&mut self, name: &OsStr, at: usize) -> Result<Option<Piece>, Refusal> {
        if !matches!(name.as_bytes(), b"(" | b")" | b"!" | b"," | [b'-', _, ..]) {
            return Err(misplaced(self, name));
        }
        let entry = table::find(name.as_bytes()).ok_or_else(|| unknown(name))?;
        Ok(match entry.kind {
            Kind::Global => {
                self.warn_of_place(name);
                self.global(entry.word, name)?;
                // GNU find has this one stand for nothing, so that no operator can follow it.
                (entry.word != Word::Files0From).then(|| self.test_leaf(Test::True, at))
            }
            Kind::Positional => self
                .positional(entry.word, name)?
                .then(|| self.test_leaf(Test::True, at)),
            kind => {
                self.first.get_or_insert(at);
                match kind {
                    Kind::Test => {
                        let is = self.test(entry.word, name)?;
                        Some(self.test_leaf(is, at))
                    }
                    Kind::Action => {
                        let is = self.action(entry.word, name)?;
                        Some(Piece::Operand(Expression::Action(self.leaf(is, at))))
                    }
                    _ => Some(operator(entry.word).ok_or_else(|| unknown(name))?),
                }
            }
        })
    }

    fn test_leaf(&self, is: Test, at: usize) -> Piece {
        Piece::Operand(Expression::Test(self.leaf(is, at)))
    }

    /// A leaf with the words from `at` to where reading has come.
    fn leaf<T>(&self, is: T, at: usize) -> Leaf<T> {
        Leaf {
            is,
            words: self.words.all[at..self.words.next].to_vec(),
        }
    }

    pub(super) fn warns(&self) -> bool {
        self.context.warns(self.warn)
    }

    /// Global options should stand before tests.
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

    fn global(&mut self, word: Word, name: &OsStr) -> Result<(), Refusal> {
        let options = &mut self.options;
        match word {
            Word::Color => options.color = Some(true),
            Word::NoColor => options.color = Some(false),
            Word::Depth | Word::DepthShort => {
                options.depth_first = true;
                self.depth_given = true;
                if word == Word::DepthShort && self.warns() {
                    self.warnings.push(
                        "warning: the -d option is deprecated; please use -depth instead, because the latter is a \
POSIX-compliant feature."
                            .to_owned(),
                    );
                }
            }
            Word::Files0From => options.files0_from = Some(self.words.argument(name)?.to_owned()),
            Word::Help => return Err(Refusal::Help(table::help(self.context.program_name()))),
            Word::IgnoreReaddirRace => options.ignore_readdir_race = true,
            Word::NoIgnoreReaddirRace => options.ignore_readdir_race = false,
            Word::MaxDepth => options.max_depth = levels(name, self.words.argument(name)?)?,
            Word::MinDepth => options.min_depth = levels(name, self.words.argument(name)?)?,
            Word::OneFileSystem => options.stay = Stay::Device,
            Word::NoHidden => self.exclusions.push(Expression::Test(Leaf {
                is: Test::Hidden,
                words: vec![name.to_owned()],
            })),
            Word::Sorted => options.sorted = true,
            Word::Unique => options.unique = true,
            Word::Version => return Err(Refusal::Version),
            // Link counts of directories are not relied on, so there is nothing to turn off.
            Word::NoLeaf => {}
            _ => return Err(unknown(name)),
        }
        Ok(())
    }

    /// Whether it stands for a test that is true; `-daystart` does not.
    fn positional(&mut self, word: Word, name: &OsStr) -> Result<bool, Refusal> {
        match word {
            Word::DayStart => {
                self.day_start = true;
                return Ok(false);
            }
            Word::Follow => self.follow = Follow::Always,
            Word::RegexType => {
                let syntax = self.words.argument(name)?;
                self.syntax = Syntax::named(syntax.as_bytes()).ok_or_else(|| no_syntax(syntax))?;
            }
            Word::Warn => self.warn = Some(true),
            Word::NoWarn => self.warn = Some(false),
            _ => return Err(unknown(name)),
        }
        Ok(true)
    }
}

fn operator(word: Word) -> Option<Piece> {
    Some(match word {
        Word::Open => Piece::Open,
        Word::Close => Piece::Close,
        Word::Not => Piece::Not,
        Word::And => Piece::And,
        Word::Or => Piece::Or,
        Word::Comma => Piece::Comma,
        Word::Exclude => Piece::Exclude,
        _ => return None,
    })
}

/// The number of `-maxdepth` and `-mindepth`.
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
    let known: Vec<String> = table::SYNTAXES
        .iter()
        .map(|name| quoted(OsStr::new(name)))
        .collect();
    Refusal::wrong(format!(
        "Unknown regular expression type {}; valid types are {}.",
        quoted(given),
        known.join(", ")
    ))
}
