//! Parses operators and parentheses: from pieces to a tree.
//!
//! Nothing here recurses, so no input can overflow the stack. The evaluation of a tree does
//! recurse, so there is a limit to the nesting of parentheses.

use super::Refusal;
use super::words::{Words, plain};
use crate::expression::{EntryTest, Expression, Leaf};
use std::ffi::OsString;

/// The largest number of nested parentheses. Each level may hold a list in an alternative in a
/// conjunction in a negation. The evaluation of that many levels takes a small part of the 2 MiB of
/// a thread's stack.
const MOST_LEVELS: usize = 256;

/// An operand, an operator or a parenthesis.
#[derive(Debug)]
pub(super) enum Piece {
    Operand(Expression),
    Open,
    Close,
    Not,
    Join(Joint),
    Exclude,
}

/// An operator between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    And,
    Or,
    Comma,
}

/// A piece, and the position of its word.
#[derive(Debug)]
pub(super) struct PlacedPiece {
    pub(super) piece: Piece,
    pub(super) at: usize,
}

/// The operators before an operand that is still to come: `!`, `-exclude`, `!`.
#[derive(Debug, Default)]
struct Prefix {
    negated: bool,
    /// The position of `-exclude`, and whether the test that it leaves is negated.
    excluded: Option<(usize, bool)>,
}

/// The operands within one pair of parentheses.
#[derive(Debug, Default)]
struct Level {
    list: Vec<Expression>,
    or: Vec<Expression>,
    and: Vec<Expression>,
    prefix: Prefix,
}

/// Joins several expressions into one.
fn join(mut parts: Vec<Expression>, how: fn(Vec<Expression>) -> Expression) -> Option<Expression> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(how(parts)),
    }
}

impl Level {
    fn end_and(&mut self) {
        self.or
            .extend(join(std::mem::take(&mut self.and), Expression::And));
    }

    fn end_or(&mut self) {
        self.end_and();
        self.list
            .extend(join(std::mem::take(&mut self.or), Expression::Or));
    }

    fn end(mut self) -> Option<Expression> {
        self.end_or();
        join(self.list, Expression::List)
    }
}

/// The token before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    /// The parenthesis at this position.
    Open(usize),
    /// The operator at this position.
    Operator(usize),
    Operand,
}

struct TreeBuilder<'a> {
    words: Words<'a>,
    /// `-print` will be added. Then the whole stands as if in parentheses, and messages show that.
    prints: bool,
    levels: Vec<Level>,
    before: Before,
    /// A closing parenthesis for the whole was read.
    closed: bool,
    exclusions: Vec<Expression>,
    /// The number of levels when an `-exclude` began whose operand is not complete.
    excluding: Option<usize>,
}

/// Returns the tree, if there is an operand at all, and the excluded expressions.
pub(super) fn build(
    tokens: Vec<PlacedPiece>,
    words: Words<'_>,
    prints: bool,
) -> Result<(Option<Expression>, Vec<Expression>), Refusal> {
    let mut builder = TreeBuilder {
        words,
        prints,
        levels: vec![Level::default()],
        before: Before::Nothing,
        closed: false,
        exclusions: Vec::new(),
        excluding: None,
    };
    for PlacedPiece { piece, at } in tokens {
        builder.add(piece, at)?;
    }
    builder.end()
}

impl TreeBuilder<'_> {
    fn add(&mut self, piece: Piece, at: usize) -> Result<(), Refusal> {
        match piece {
            Piece::Operand(expression) => {
                if self.excluding.is_some() && matches!(expression, Expression::Action(_)) {
                    return Err(Refusal::wrong(format!(
                        "actions are not supported within -exclude: `{}'",
                        self.word(at)
                    )));
                }
                self.operand(expression);
            }
            Piece::Not => {
                let prefix = &mut self.level().prefix;
                prefix.negated = !prefix.negated;
                self.before = Before::Operator(at);
            }
            Piece::Exclude => self.exclude(at)?,
            Piece::Open => {
                if self.levels.len() > MOST_LEVELS {
                    return Err(Refusal::wrong(format!(
                        "parentheses are nested too deeply: at most {MOST_LEVELS} levels"
                    )));
                }
                self.levels.push(Level::default());
                self.before = Before::Open(at);
            }
            Piece::Close => self.close(at)?,
            Piece::Join(joint) => self.join(joint, at)?,
        }
        Ok(())
    }

    fn level(&mut self) -> &mut Level {
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    fn word(&self, at: usize) -> std::borrow::Cow<'_, str> {
        plain(&self.words.all[at])
    }

    fn operand(&mut self, mut expression: Expression) {
        let depth = self.levels.len();
        let level = self.level();
        let Prefix { negated, excluded } = std::mem::take(&mut level.prefix);
        if negated {
            expression = Expression::Not(Box::new(expression));
        }
        if let Some((at, negated)) = excluded {
            if self.excluding == Some(depth) {
                self.excluding = None;
            }
            self.exclusions.push(expression);
            expression = Expression::Test(Leaf {
                is: if negated {
                    EntryTest::False.into()
                } else {
                    EntryTest::True.into()
                },
                words: vec![OsString::clone(&self.words.all[at])],
            });
        }
        self.level().and.push(expression);
        self.before = Before::Operand;
    }

    fn exclude(&mut self, at: usize) -> Result<(), Refusal> {
        if self.excluding.is_some() {
            return Err(Refusal::wrong("-exclude is not supported within -exclude"));
        }
        self.excluding = Some(self.levels.len());
        let prefix = &mut self.level().prefix;
        prefix.excluded = Some((at, std::mem::take(&mut prefix.negated)));
        self.before = Before::Operator(at);
        Ok(())
    }

    fn join(&mut self, joint: Joint, at: usize) -> Result<(), Refusal> {
        if self.before != Before::Operand {
            return Err(Refusal::wrong(format!(
                "invalid expression; you have used a binary operator '{}' with nothing before it.",
                self.word(at)
            )));
        }
        let level = self.level();
        match joint {
            Joint::Comma => level.end_or(),
            Joint::Or => level.end_and(),
            Joint::And => {}
        }
        self.before = Before::Operator(at);
        Ok(())
    }

    fn close(&mut self, at: usize) -> Result<(), Refusal> {
        let too_many = || Refusal::wrong("you have too many ')'");
        match self.before {
            Before::Operand => {}
            Before::Nothing => {
                return Err(Refusal::wrong(format!(
                    "invalid expression: expected expression before closing parentheses '{}'.",
                    self.word(at)
                )));
            }
            Before::Open(_) => {
                return Err(Refusal::wrong(
                    "invalid expression; empty parentheses are not allowed.",
                ));
            }
            Before::Operator(at) => {
                return Err(Refusal::wrong(format!(
                    "expected an expression between '{}' and ')'",
                    self.word(at)
                )));
            }
        }
        if self.levels.len() == 1 {
            if self.closed || !self.prints {
                return Err(too_many());
            }
            // The rest may have another fault, which GNU find reports first.
            self.closed = true;
            return Ok(());
        }
        if let Some(inside) = self.levels.pop().and_then(Level::end) {
            self.operand(inside);
        }
        Ok(())
    }

    fn end(mut self) -> Result<(Option<Expression>, Vec<Expression>), Refusal> {
        match self.before {
            Before::Nothing | Before::Operand => {}
            Before::Open(at) => {
                return Err(Refusal::wrong(format!(
                    "invalid expression; expected to find a ')' but didn't see one. Perhaps you need an extra predicate after \
'{}'",
                    self.word(at)
                )));
            }
            Before::Operator(at) if self.prints => {
                return Err(Refusal::wrong(format!(
                    "expected an expression after '{}'",
                    self.word(at)
                )));
            }
            Before::Operator(_) => return Err(Refusal::wrong("invalid expression")),
        }
        if self.closed {
            return Err(Refusal::wrong("you have too many ')'"));
        }
        if self.levels.len() > 1 {
            return Err(Refusal::wrong(
                "invalid expression; I was expecting to find a ')' somewhere but did not see one.",
            ));
        }
        let whole = self.levels.pop().and_then(Level::end);
        Ok((whole, self.exclusions))
    }
}
