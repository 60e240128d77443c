//! The parts of the `ringwalk` program, as a library so that man pages and completions can be made from the same
//! definitions. Not meant for use by other programs: that is the `ringwalk` crate.
//!
//! - [`cli`]: the command line as clap reads it
//! - [`engine_options`]: the common options resolved with the environment
//! - [`source_name`]: names of sources, usable and planned
//! - [`quote`]: names of any bytes in messages

pub mod cli;
pub mod engine_options;
pub mod quote;
pub mod source_name;
