//! `ringwalk dupes`: files and directories with the same contents.
//!
//! | file | contents |
//! |---|---|
//! | `args.rs` | the options |
//! | `action.rs` | `--do` |
//! | `text.rs` | the answer for people |
//!
//! The crate `ringwalk-dupes` searches, and writes the other formats.

mod action;
mod args;
mod text;

pub use args::DupesArgs;

use crate::console;
use crate::engine_options::{EngineOptions, Lacks};
use crate::explain::explain;
use crate::hash::file_error;
use crate::progress::Progress;
use crate::quote::quoted_bytes;
use crate::status::{Ended, answered, failed, trouble};
use args::DupesFormat;
use ringwalk_dupes::{
    Found, MatchProgress, Missed, ScanError, Search, SearchError, is_live_root, output,
};
use ringwalk_hash::cache::HashCache;
use ringwalk_hash::raise_file_limit;
use ringwalk_sys::limit_arenas;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;
use text::counted;

/// Searches `args.roots` and prints what was found.
///
/// # Errors
///
/// If there is no answer, or nothing could be done.
pub fn run(args: &DupesArgs, options: &EngineOptions) -> Result<ExitCode, Ended> {
    // Many threads read, and few of them run at once. With an arena for each, freed memory took 4
    // bytes a candidate.
    limit_arenas(available_parallelism().unwrap_or(NonZeroUsize::MIN));
    raise_file_limit();
    let format = args.output.format;
    if args.dirs.is_some() && !matches!(format, DupesFormat::Table | DupesFormat::Json) {
        return Err(trouble(
            "this format has no directories: --dirs needs --format table or json",
        ));
    }
    // What --do frees is shown beside every format.
    if args.action.is_none() {
        args.sizes.refuse(format).map_err(trouble)?;
    }
    let (mut search, snapshots) = set_up(args, options)?;
    let inputs = snapshots.iter().map(|name| name.as_os_str());
    let inputs: Vec<&OsStr> = inputs.chain(args.cache.as_deref()).collect();
    let output = args.output.open(&inputs)?;
    if let Some(path) = &args.cache {
        let cache = HashCache::open(Path::new(path)).map_err(trouble)?;
        search.cache(cache);
    }
    let has_missed = AtomicBool::new(false);
    let missed = |what: Missed<'_>| {
        has_missed.store(true, Ordering::Relaxed);
        console::error(message(what));
    };
    let walk = options.ready(search.walk())?;
    let counts = Arc::new(MatchProgress::default());
    let progress = Progress::of_search(options.progress, walk.monitor(), Arc::clone(&counts));
    let found = search.run_watched(walk, &missed, &counts);
    drop(progress);
    let mut found = found.map_err(|error| match error {
        SearchError::NoHashes(number) => failed(
            &snapshots[number],
            "the snapshot has no hashes; ringwalk snapshot --hash makes one that has",
        ),
        error => trouble(error),
    })?;
    if let Some(cache) = found.cache.take() {
        // The answer does not depend on the cache, but this run took longer, or the next one will.
        if cache.is_damaged() {
            console::note(
                "a part of the cache is damaged; files whose hashes were in it were read again",
            );
        }
        if let Err(error) = cache.finish() {
            has_missed.store(true, Ordering::Relaxed);
            console::error(error);
        }
    }
    for (path, reason) in &found.uncached {
        let path = quoted_bytes(path);
        console::note(format_args!(
            "no hash of the file system of {path} is kept: {reason}"
        ));
    }
    if found.without_hash > 0 {
        has_missed.store(true, Ordering::Relaxed);
        let files = counted(found.without_hash, "file", "files");
        console::error(format_args!(
            "the snapshots have no hash of {files} with the size of another file: it is not known \
             whether these are copies"
        ));
    }
    let safe = output.is_terminal();
    output.write(|mut out| Ok(write(&found, args, safe, &mut out)?))?;
    if let (true, Some(summary)) = (options.explain, &found.summary) {
        explain(summary);
    }
    let is_done = match args.action {
        Some(action) => action::run(&found, action.into(), args.dry_run, args.sizes.format())?,
        None => true,
    };
    Ok(answered(!has_missed.into_inner() && is_done))
}

/// Returns the search, and the names of its snapshots.
fn set_up<'a>(
    args: &'a DupesArgs,
    options: &EngineOptions,
) -> Result<(Search, Vec<&'a OsString>), Ended> {
    let (live, saved): (Vec<_>, Vec<_>) = args.roots.iter().partition(|root| is_live_root(root));
    if live.is_empty() && args.keep_in.is_empty() {
        let refused = options.refuse(Lacks::Directories, "on snapshots");
        refused.map_err(trouble)?;
    }
    let mut search = Search::new(live).map_err(trouble)?;
    for reference in &args.keep_in {
        search.keep_in(reference).map_err(trouble)?;
    }
    for name in &saved {
        let snapshot = ringwalk_snapshot::open(Path::new(name));
        search.snapshot(snapshot.map_err(|error| failed(error.path(), error.reason()))?);
    }
    search.min(args.min);
    search.directories(args.dirs.unwrap_or_default());
    search.one_file_system(args.one_file_system);
    search.workers(options.workers);
    Ok((search, saved))
}

/// Returns the message for something that could not be read.
fn message(missed: Missed<'_>) -> String {
    match missed {
        Missed::Scan(ScanError::Walk(error)) => crate::hash::walk_error(error),
        Missed::Scan(ScanError::Root(path)) => {
            format!(
                "{}: neither a directory nor a regular file",
                quoted_bytes(path)
            )
        }
        Missed::File(fault) => file_error(OsStr::from_bytes(fault.path).as_ref(), fault.fault),
        _ => "something could not be read".to_owned(),
    }
}

fn write(
    found: &Found,
    args: &DupesArgs,
    safe: bool,
    out: &mut (impl Write + Send),
) -> io::Result<()> {
    match args.output.format {
        DupesFormat::Table => text::write(found, safe, args.sizes.format(), out),
        DupesFormat::Fdupes => output::fdupes(found, out),
        DupesFormat::Json => output::json(found, out),
        DupesFormat::Csv => output::csv(found, out),
        DupesFormat::Parquet => output::parquet(found, out),
    }
}
