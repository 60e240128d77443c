//! The language of find(1): POSIX, GNU's extensions, and the words of bfs that are used most.
//!
//! | file | contents |
//! |---|---|
//! | `table/` | every word of the language, with its arguments and its text in the manual |
//! | `expression.rs`, `predicates/`, `actions.rs` | the parsed expression, its tests and actions |
//! | `time.rs` | the times of a file |
//! | `facts.rs` | the facts about a file that tests and formats ask for |
//! | `parse/` | the parser: from words to an expression |
//! | `pattern.rs`, `regex/` | shell patterns and regular expressions, compiled once |
//! | `date/` | dates in the forms that `date -d` takes |
//! | `format/` | `-printf`, `-ls`, colours |
//! | `execute/` | running commands: `-exec`, `-execdir`, `-ok`, `-okdir` |
//! | `accounts.rs`, `mounts/`, `selinux.rs` | accounts, types of file systems, labels |
//! | `saved.rs` | a saved tree that is searched in place of the live file system |
//! | `plan/` | the expression in its cheapest order, and what the walk must therefore read |
//! | `search/` | the walk, evaluation by all its workers, and the actions |
//! | `once_map.rs` | a map whose values are made once |
//!
//! Data goes one way: words, expression, plan, evaluation, actions.

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod accounts;
pub mod actions;
pub mod date;
pub mod execute;
pub mod expression;
pub mod facts;
pub mod format;
pub mod mounts;
mod once_map;
pub mod parse;
pub mod pattern;
mod plan;
pub mod predicates;
pub mod regex;
pub mod saved;
mod search;
pub mod selinux;
pub mod table;
pub mod time;

pub use expression::{Command, Expression};
pub use search::{Host, search};
