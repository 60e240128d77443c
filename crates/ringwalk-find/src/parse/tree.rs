//! Operators and parentheses: from pieces to a tree.
//!
//! Nothing here recurses, so no input can overflow the stack; and as evaluating a tree does recurse, there is a limit to how
//! deep parentheses may be nested.

use super::Refusal;
use super::words::{Words, plain};
use crate::expression::{Expression, Leaf, Test};
use std::ffi::OsString;

/// Parentheses within parentheses, at most. Each may hold a list in an alternative in a conjunction in a negation; evaluating that
/// many levels takes a small part of the 2 MiB that a thread's stack has.
const MOST_LEVELS: usize = 256;

/// What is joined, and what joins it.
#[derive(Debug)]
pub(super) enum Piece {
    Operand(Expression),
    Open,
    Close,
    Not,
    And,
    Or,
    Comma,
    Exclude,
}

/// A piece, and where its word stands.
#[derive(Debug)]
pub(super) struct Token {
    pub(super) piece: Piece,
    pub(super) at: usize,
}

/// What stands before an operand and waits for it: `!`, `-exclude`, `!`.
#[derive(Debug, Default)]
struct Prefix {
    negated: bool,
    /// Where `-exclude` stands, and whether what it leaves is negated.
    excluded: Option<(usize, bool)>,
}

/// What is inside of one pair of parentheses.
#[derive(Debug, Default)]
struct Level {
    list: Vec<Expression>,
    or: Vec<Expression>,
    and: Vec<Expression>,
    prefix: Prefix,
}

/// Several expressions as one.
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

/// What came before a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    /// The parenthesis whose word stands there.
    Open(usize),
    /// The operator whose word stands there.
    Operator(usize),
    Operand,
}

struct Builder<'a> {
    words: Words<'a>,
    /// `-print` will be added: the whole stands as if in parentheses then, and that shows in messages.
    prints: bool,
    levels: Vec<Level>,
    before: Before,
    /// What would be the closing parenthesis around the whole was met.
    closed: bool,
    exclusions: Vec<Expression>,
    /// Levels that were there when an `-exclude` began whose operand goes on.
    excluding: Option<usize>,
}

/// The tree, if there is an operand at all, and what is excluded.
pub(super) fn build(
    tokens: Vec<Token>,
    words: Words<'_>,
    prints: bool,
) -> Result<(Option<Expression>, Vec<Expression>), Refusal> {
    let mut builder = Builder {
        words,
        prints,
        levels: vec![Level::default()],
        before: Before::Nothing,
        closed: false,
        exclusions: Vec::new(),
        excluding: None,
    };
    for Token { piece, at } in tokens {
        builder.add(piece, at)?;
    }
    builder.end()
}

impl Builder<'_> {
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
            Piece::And | Piece::Or | Piece::Comma => self.join(&piece, at)?,
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
                is: if negated { Test::False } else { Test::True },
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

    fn join(&mut self, operator: &Piece, at: usize) -> Result<(), Refusal> {
        if self.before != Before::Operand {
            return Err(Refusal::wrong(format!(
                "invalid expression; you have used a binary operator '{}' with nothing before it.",
                self.word(at)
            )));
        }
        let level = self.level();
        match operator {
            Piece::Comma => level.end_or(),
            Piece::Or => level.end_and(),
            _ => {}
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
            // What follows may be wrong in another way, which GNU find tells of first.
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
