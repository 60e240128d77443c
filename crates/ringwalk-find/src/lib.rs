//! The language of find(1): POSIX, GNU's extensions, and what is most used of bfs's.
//!
//! | file | what is in it |
//! |---|---|
//! | `table/` | every word of the language, with its arguments and what the manual says of it |
//! | `expression.rs` | the expression, understood |
//! | `parse/` | from words to an expression |
//! | `pattern.rs`, `regex/` | shell patterns and regular expressions, made ready for many names |
//! | `date/` | dates as people write them |
//! | `format/` | `-printf`, `-ls`, colours |
//! | `facts.rs` | what may be asked about a file |
//! | `execute/` | running commands: `-exec`, `-execdir`, `-ok`, `-okdir` |
//! | `accounts.rs`, `mounts/`, `selinux.rs` | names of users and groups, types of file systems, labels |
//! | `plan/` | the expression in its cheapest order, and what follows from it for the walk |
//! | `search/` | the walk, evaluation by all its workers, and what is done with the files |
//! | `once_map.rs` | a map that only grows, asked by many threads without a lock |
//!
//! Data goes one way: words, expression, plan, evaluation, actions.

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod accounts;
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
pub mod regex;
mod search;
pub mod selinux;
pub mod table;

pub use expression::{Command, Expression};
pub use search::{Host, search};
