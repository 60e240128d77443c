//! `ringwalk browse`: looking at a tree on the terminal. The crate `ringwalk-browse` has the
//! browser.

use crate::console;
use crate::engine_options::{EngineOptions, Lacks};
use crate::quote::quoted_bytes;
use crate::status::{Ended, TROUBLE, answered, trouble};
use clap::{Args, ValueHint};
use ringwalk::Walk;
use ringwalk_browse::tree::Tree;
use ringwalk_browse::{App, Browser, End, Options, Request, open};
use ringwalk_snapshot::cluster::is_live;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Arguments of `ringwalk browse`.
#[derive(Debug, Args)]
pub struct BrowseArgs {
    /// A directory to read now, a snapshot, or a file of ncdu
    #[arg(value_name = "DIR|SNAP", default_value = ".", value_hint = ValueHint::AnyPath)]
    pub input: OsString,

    /// Show what has grown since this older snapshot
    #[arg(long, value_name = "OLD", value_hint = ValueHint::AnyPath)]
    pub compare: Option<OsString>,

    /// Delete nothing
    #[arg(long)]
    pub read_only: bool,

    /// Move to the trash what is deleted, by the rules of freedesktop.org, on the same file system
    #[arg(long, conflicts_with = "read_only")]
    pub trash: bool,

    /// Do not read directories on other file systems
    #[arg(short = 'x', long)]
    pub one_file_system: bool,

    /// Read everything, apply these keys, print the screen and end. Names of keys, such as enter,
    /// stand in angle brackets. The screen has the size of COLUMNS and LINES, or 80x24
    #[arg(long, value_name = "KEYS")]
    pub once: Option<String>,
}

/// The size of the screen that `--once` prints, unless COLUMNS and LINES give another one.
const COLUMNS: u16 = 80;
const LINES: u16 = 24;

/// Browses `args.input` until the user quits.
///
/// # Errors
///
/// If there is nothing to show, or no screen to show it.
pub fn run(args: &BrowseArgs, options: &EngineOptions) -> Result<ExitCode, Ended> {
    let input = PathBuf::from(&args.input);
    if is_live(&input) {
        drop(options.ready(Walk::new(input.as_path()))?);
    } else {
        let refused = options.refuse(Lacks::Workers, "on a snapshot");
        refused.map_err(trouble)?;
    }
    let of_walks = *options;
    let request = Request {
        input,
        compare: args.compare.as_ref().map(PathBuf::from),
        read_only: args.read_only,
        trash: args.trash,
        one_file_system: args.one_file_system,
        set_up: Arc::new(move |walk| of_walks.apply(walk)),
    };
    let Browser { app, tree, reading } =
        open(&request, Options::from_environment()).map_err(trouble)?;
    let status = match &args.once {
        Some(keys) => once(app, &*tree, keys)?,
        None => interactive(app)?,
    };
    // Ends the walk, and waits for the calls that it is in.
    drop(reading);
    Ok(status)
}

fn once(app: App, tree: &dyn Tree, keys: &str) -> Result<ExitCode, Ended> {
    let (columns, lines) = (size("COLUMNS", COLUMNS)?, size("LINES", LINES)?);
    let screen = app.once(keys, columns, lines).map_err(trouble)?;
    console::print(screen.as_bytes())?;
    let errors = tree.progress().errors;
    if errors == 0 {
        return Ok(answered(true));
    }
    for unreadable in tree.unreadable() {
        let path = quoted_bytes(&unreadable.path);
        console::error(format_args!("cannot read {path}: {}", unreadable.reason));
    }
    console::error(format_args!(
        "files and directories that could not be read: {errors}"
    ));
    Ok(answered(false))
}

/// Returns a size from the environment.
fn size(variable: &str, default: u16) -> Result<u16, Ended> {
    let Some(text) = std::env::var_os(variable).filter(|text| !text.is_empty()) else {
        return Ok(default);
    };
    let parsed = text.to_str().and_then(|text| text.parse().ok());
    parsed
        .filter(|size| (1..=1000).contains(size))
        .ok_or_else(|| trouble(format_args!("{variable}: expected a number from 1 to 1000")))
}

fn interactive(app: App) -> Result<ExitCode, Ended> {
    let ended = app
        .run()
        .map_err(|error| trouble(console::reason(&error)))?;
    Ok(match ended {
        End::Quit => answered(true),
        // A shell reports a program that a signal has ended in the same way.
        End::Signal(number) => ExitCode::from(u8::try_from(128 + number).unwrap_or(TROUBLE)),
    })
}
