//! The man page and the completions of `ringwalk find`. Its language is not clap's, so they come
//! from the table of its parser.
//!
//! | file | contents |
//! |---|---|
//! | `man.rs` | the synopsis and the words of the man page |
//! | `completion.rs` | the words that may follow each word, and the scripts of the shells |
//! | `bash.rs`, `zsh.rs`, `fish.rs` | one script each |

mod bash;
mod completion;
mod fish;
mod man;
mod zsh;

pub(crate) use completion::extend;
pub(crate) use man::{synopsis, words};
