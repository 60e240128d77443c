//! The parts of the `ringwalk` program, as a library so that man pages and completions can be made from the same
//! definitions. Not meant for use by other programs: that is the `ringwalk` crate.
//!
//! - [`cli`]: the command line as clap reads it; [`dispatch`]: which program is meant, usage errors
//! - [`engine_options`]: the common options resolved with the [`environment`]; [`source_name`]: names of sources
//! - [`count`], [`doctor`], [`du`], [`find`](mod@find): the programs
//! - [`console`]: messages and results; [`progress`]: the line of progress; [`explain`]: what a walk did and why;
//!   [`quote`]: names of any bytes in messages
//!
//! Starting up is kept cheap, since a script may count a thousand small trees: nothing is read from `/proc` or the
//! file system and no thread is started before the work that needs it. Counting an empty directory takes 1.16 times as
//! long as GNU du does (0.78 and 0.67 ms), of which the dynamic linker has half; one more library to load, libm, cost
//! 0.06 ms and is avoided. Linked statically (`RUSTFLAGS=-Ctarget-feature=+crt-static cargo build --release --target
//! x86_64-unknown-linux-gnu`) it is 0.58 ms. A build without `--target` cannot be, since procedural macros are loaded
//! dynamically; that is why it is not the default.

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod cli;
pub mod console;
pub mod count;
pub mod dispatch;
pub mod doctor;
pub mod du;
pub mod engine_options;
pub mod environment;
pub mod explain;
pub mod find;
pub mod progress;
pub mod quote;
pub mod source_name;

pub use dispatch::run;
