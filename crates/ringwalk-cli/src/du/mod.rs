//! `ringwalk du`: a replacement for GNU du.
mod args;
mod block_size;
mod choice;
mod civil;
mod config;
mod exclude;
mod files0;
mod glob;
mod locale;
mod messages;
mod number;
mod quote;
mod strftime;
mod time_style;

pub use args::DuArgs;
pub use messages::usage_error;

/// Refuses: the measuring itself is not merged yet.
///
/// # Errors
///
/// Always.
pub fn run(
    _args: &DuArgs,
    _options: &crate::engine_options::EngineOptions,
) -> anyhow::Result<std::process::ExitCode> {
    anyhow::bail!("this build has no du yet")
}
