//! `hash --save` and `snapshot --hash`: a snapshot with hashes.
//!
//! Two walks. The first one finds the files to hash; the second one takes the snapshot, with the
//! hash of each file that still has the version that was hashed.

use super::args::Algo;
use super::{HashArgs, file_error, no_thread, walk_error};
use crate::console;
use crate::engine_options::EngineOptions;
use crate::output::{refuse_inputs, say_not_kept};
use crate::progress::Progress;
use crate::quote::quoted_bytes;
use crate::snapshot::{not_captured, report, status};
use crate::status::{Ended, answered, trouble};
use ringwalk::{Error, Metadata};
use ringwalk_dupes::{Candidates, Missed, Name, ScanError, Search};
use ringwalk_hash::{Algorithm, FileToHash, FileVersion, HashOptions, OpenRoot, hash_files};
use ringwalk_snapshot::{Capture, FileHashes, RowCounter, WriteOptions};
use ringwalk_sys::sync::lock;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The hashes of one run: 150 to 300 bytes of memory for each file, as the table doubles when it is
/// full.
#[derive(Debug, Default)]
struct Hashes(HashMap<Key, (FileVersion, [u8; 32])>);

/// What names a file.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    /// Device and inode number.
    Inode(u64, u64),
    /// Its path without symbolic links, where another file can have its inode number.
    Path(Vec<u8>),
}

impl FileHashes for Hashes {
    fn hash(&self, metadata: &Metadata, path: &dyn Fn() -> Vec<u8>) -> Option<[u8; 32]> {
        let by_inode = metadata.identity();
        let by_inode = by_inode.and_then(|file| self.0.get(&Key::Inode(file.dev, file.ino)));
        let found = by_inode.or_else(|| self.0.get(&Key::Path(path())));
        let (version, hash) = found?;
        (FileVersion::of(metadata)? == *version).then_some(*hash)
    }
}

/// What to hash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    /// The roots of the snapshot.
    pub(crate) roots: &'a [OsString],
    /// Other file systems below the roots are left out.
    pub(crate) one_file_system: bool,
    /// Files without a copy of their size are hashed, too.
    pub(crate) all: bool,
}

/// `ringwalk hash --save`: hashes files and writes the snapshot.
pub(super) fn run(
    output: &OsStr,
    args: &HashArgs,
    options: &EngineOptions,
) -> Result<ExitCode, Ended> {
    if args.algo != Algo::Blake3 {
        return Err(trouble(
            "the hashes of a snapshot are BLAKE3; --algo is for lists",
        ));
    }
    refuse_inputs("--save", output, &args.roots)?;
    let capture = Capture::new(args.roots.iter().cloned());
    let capture = capture.map_err(|error| not_captured(&error))?;
    let mut write = WriteOptions::default();
    write.not_kept = say_not_kept;
    let rows = write.progress.clone();
    let wanted = Wanted {
        roots: &args.roots,
        one_file_system: args.one_file_system,
        all: args.all,
    };
    save(capture.options(write), &rows, wanted, output, options)
}

/// Hashes files, and writes the snapshot with their hashes. `rows` counts the rows of the capture.
pub(crate) fn save(
    capture: Capture,
    rows: &RowCounter,
    wanted: Wanted<'_>,
    output: &OsStr,
    options: &EngineOptions,
) -> Result<ExitCode, Ended> {
    let has_failed = AtomicBool::new(false);
    let first_errors = Mutex::default();
    let candidates = candidates(wanted, options, &has_failed, &first_errors)?;
    let hashes = hash(&candidates, options, &has_failed)?;
    drop(candidates);
    let reported: Arc<Mutex<HashSet<Vec<u8>>>> = Arc::default();
    let second = Arc::clone(&reported);
    let capture = capture
        .one_file_system(wanted.one_file_system)
        .report(move |path, failure| {
            lock(&second).insert(path.to_vec());
            report(path, failure);
        })
        .hashes(Arc::new(hashes));
    let walk = options.ready(capture.walk())?;
    let progress = Progress::of_capture(options.progress, walk.monitor(), rows.clone());
    let captured = capture.run(walk, Path::new(output));
    drop(progress);
    let captured = captured.map_err(|error| not_captured(&error))?;
    let status = status(&captured, options);
    for error in lock(&first_errors).iter() {
        let path = real_path(error.path(), wanted.roots);
        if !lock(&reported).contains(path.as_os_str().as_bytes()) {
            console::error(walk_error(error));
        }
    }
    if has_failed.into_inner() {
        return Ok(answered(false));
    }
    Ok(status)
}

/// Returns the path by which the second walk reports an error of the first one: absolute, with no
/// symbolic link but perhaps the last component, which is followed in a root only.
fn real_path(path: &Path, roots: &[OsString]) -> PathBuf {
    let real = match (path.parent(), path.file_name()) {
        (Some(above), Some(name)) if !roots.iter().any(|root| root == path) => {
            above.canonicalize().map(|above| above.join(name))
        }
        _ => path.canonicalize(),
    };
    // If the path no longer exists, reading the file reports that.
    real.unwrap_or_else(|_| path.to_owned())
}

fn candidates(
    wanted: Wanted<'_>,
    options: &EngineOptions,
    has_failed: &AtomicBool,
    errors: &Mutex<Vec<Error>>,
) -> Result<Candidates, Ended> {
    let mut search = Search::new(wanted.roots.iter().cloned()).map_err(trouble)?;
    search.one_file_system(wanted.one_file_system);
    let walk = options.ready(search.walk())?;
    let progress = Progress::of_walk(options.progress, walk.monitor());
    let missed = |what: Missed<'_>| {
        has_failed.store(true, Ordering::Relaxed);
        match what {
            // The second walk takes roots of all types.
            Missed::Scan(ScanError::Root(root)) => {
                let root = quoted_bytes(root);
                console::error(format_args!(
                    "{root}: neither a directory nor a regular file"
                ));
            }
            // Most of them are errors of the second walk as well, which reports them.
            Missed::Scan(ScanError::Walk(error)) => lock(errors).push(error.clone()),
            _ => {}
        }
    };
    let candidates = search.candidates(walk, wanted.all, &missed);
    drop(progress);
    candidates.map_err(trouble)
}

fn hash(
    candidates: &Candidates,
    options: &EngineOptions,
    has_failed: &AtomicBool,
) -> Result<Hashes, Ended> {
    let mut roots: HashMap<Vec<u8>, (Arc<OpenRoot>, PathBuf)> = HashMap::new();
    let files = candidates.iter().map(|file| {
        let (name, version) = (file.name, file.version);
        let (root, real) = roots
            .entry(name.root().to_vec())
            .or_insert_with_key(|root| {
                let path = Path::new(OsStr::from_bytes(root));
                // If it cannot be opened, its files are opened by their whole paths, and fail.
                let open = OpenRoot::open(path).unwrap_or(OpenRoot::Working);
                // Under another path no hash of the root is found, and none is stored.
                let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
                (Arc::new(open), real)
            });
        let key = if file.is_unique {
            Key::Inode(version.dev, version.ino)
        } else {
            Key::Path(Name::new(real.as_os_str().as_bytes(), name.below()).into_path())
        };
        let below = match **root {
            OpenRoot::Directory(_) => name.below(),
            OpenRoot::Working => name.path(),
        };
        let below = PathBuf::from(OsStr::from_bytes(below));
        let whole = PathBuf::from(OsString::from_vec(name.into_path()));
        FileToHash {
            root: Arc::clone(root),
            path: below,
            ino: version.ino,
            // The hash belongs to this inode in the snapshot. If a directory was renamed, another
            // file can have the path, and no time of this one says so.
            only: Some((version.dev, version.ino)),
            context: (whole, key, version),
        }
    });
    let mut hashes = Hashes::default();
    let hashing = HashOptions::new(Algorithm::Blake3, options.workers);
    let done = Arc::new(AtomicU64::new(0));
    let progress = Progress::of_files(options.progress, Arc::clone(&done));
    let result = hash_files(files, &hashing, |results| {
        done.fetch_add(results.len() as u64, Ordering::Relaxed);
        for ((path, key, version), result) in results.drain(..) {
            match result.map(|digest| <[u8; 32]>::try_from(digest.as_bytes())) {
                Ok(Ok(hash)) => {
                    hashes.0.insert(key, (version, hash));
                }
                // BLAKE3 always has 32 bytes.
                Ok(Err(_)) => {}
                Err(fault) => {
                    console::error(file_error(&path, fault));
                    has_failed.store(true, Ordering::Relaxed);
                }
            }
        }
        ControlFlow::Continue(())
    });
    drop(progress);
    result.map_err(|error| no_thread(&error))?;
    Ok(hashes)
}
