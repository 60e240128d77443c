//! The parts of the `ringwalk` program, as a library so that man pages and completions can be made from the same
//! definitions. Not meant for use by other programs: that is the `ringwalk` crate.
//!
//! - [`cli`]: the command line as clap reads it; [`dispatch`]: which program is meant, usage errors
//! - [`engine_options`]: the common options resolved with the environment; [`source_name`]: names of sources
//! - [`count`], [`doctor`], [`du`]: the programs
//! - [`console`]: messages and results; [`progress`]: the line of progress; [`explain`]: what a walk did and why;
//!   [`quote`]: names of any bytes in messages
//!
//! Starting up is kept cheap, since a script may count a thousand small trees: nothing is read from `/proc` or the
//! file system and no thread is started before the work that needs it.

pub mod cli;
pub mod console;
pub mod count;
pub mod dispatch;
pub mod doctor;
pub mod du;
pub mod engine_options;
pub mod explain;
pub mod progress;
pub mod quote;
pub mod source_name;

pub use dispatch::run;
