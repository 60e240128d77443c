//! The manual and the completions of `ringwalk find`, whose language is not clap's: from the table that its parser uses.
//!
//! | file | what is in it |
//! |---|---|
//! | `man.rs` | the man page |
//! | `text.rs` | what it says beyond single words |
//! | `completion.rs` | what comes after which word, and the scripts of the shells |
//! | `bash.rs`, `zsh.rs`, `fish.rs` | one script each |

mod bash;
mod completion;
mod fish;
mod man;
mod text;
mod zsh;

pub(crate) use completion::extend;
pub(crate) use man::page;
