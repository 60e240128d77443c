//! Lines, on their way from the workers to where they are written: whole, and a directory's before those of what is in it
//! (after them with `-depth`).
//!
//! Each worker gathers its lines and writes 64 KiB at a time, so lines of several workers come in pieces. Yet scripts
//! count on `mkdir` coming before what goes into it. So a worker that takes up a directory whose line another worker has
//! gathered makes sure that this line has been written before it gathers any line of what is in it:
//!
//! ```text
//! worker A:  gathers "./a" in its piece 7, hands the piece over, then gives directory ./a away
//! worker B:  takes ./a: "its line is in A's piece 7; is that written? no: write what A has handed over"
//!            gathers "./a/x" ...
//! ```
//!
//! That happens only where directories change hands, which a depth-first walk with stealing does rarely. With `-depth` it
//! is the other way round: who leaves a directory has everything written that others have gathered below it.
//!
//! Locks are taken in one order: a worker's pieces, then the place that is written to.

use super::host::Host;
use super::shared::{lock, told};
use super::state::LineAt;
use crate::expression::{Sink, SinkIndex};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// Written at a time: what a pipe holds.
const FULL: usize = 64 * 1024;

/// Lines wait no longer than this for more of them, if something comes at all.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// Lines by sink; as long as there are sinks.
pub(crate) type Texts = Vec<Vec<u8>>;

/// The places that are written to.
pub(crate) struct Outputs<'c> {
    host: &'c dyn Host,
    sinks: Vec<Target>,
    /// Whether each sink is a terminal, by its number.
    terminals: Vec<bool>,
    workers: RwLock<Vec<Arc<Pieces>>>,
    /// Somebody is watching: lines are written as soon as they are there.
    watched: bool,
    failed: AtomicBool,
    /// Standard output takes nothing more.
    closed: AtomicBool,
    /// That is because nobody reads it any more.
    unread: AtomicBool,
}

enum Target {
    Stdout,
    Stderr,
    /// The same file as an earlier one, by another name.
    Same(usize),
    File {
        name: Vec<u8>,
        file: Mutex<File>,
        failed: AtomicBool,
    },
}

/// What one worker has gathered and handed over.
#[derive(Debug)]
struct Pieces {
    gathered: Mutex<Gathered>,
    /// The last piece that has been written.
    written: AtomicU64,
}

#[derive(Debug)]
struct Gathered {
    texts: Texts,
    /// The last piece handed over.
    piece: u64,
    since: Instant,
}

impl<'c> Outputs<'c> {
    /// Opens what is to be written to; files are made empty.
    ///
    /// # Errors
    ///
    /// The message for a file that cannot be opened.
    pub(crate) fn open(sinks: &[Sink], host: &'c dyn Host) -> Result<Self, String> {
        let mut targets = Vec::new();
        let mut opened = Vec::new();
        for sink in sinks {
            let target = match sink {
                Sink::Stdout => Target::Stdout,
                Sink::Stderr => Target::Stderr,
                Sink::File(name) => open_file(name, targets.len(), &mut opened)
                    .map_err(|error| told(name.as_bytes(), &error))?,
            };
            targets.push(target);
        }
        let terminals = targets
            .iter()
            .map(|target| is_terminal(target, &targets, host))
            .collect::<Vec<_>>();
        Ok(Self {
            host,
            sinks: targets,
            workers: RwLock::default(),
            watched: host.is_terminal() || terminals.contains(&true),
            terminals,
            failed: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            unread: AtomicBool::new(false),
        })
    }

    /// Which text of [`Texts`] goes to a sink: one for each file, by whatever names it was given.
    pub(crate) fn text_of(&self, sink: SinkIndex) -> usize {
        match self.sinks[sink.0] {
            Target::Same(earlier) => earlier,
            _ => sink.0,
        }
    }

    /// Whether a sink is a terminal, which names must not command.
    pub(crate) fn is_terminal(&self, sink: SinkIndex) -> bool {
        self.terminals[sink.0]
    }

    /// Whether something could not be written.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Whether standard output takes nothing more.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Whether that is because its reader went away.
    pub(crate) fn is_unread(&self) -> bool {
        self.unread.load(Ordering::Relaxed)
    }

    /// The pieces of the worker with this number.
    fn pieces(&self, worker: usize) -> Arc<Pieces> {
        if let Some(pieces) = self.read_workers().get(worker) {
            return Arc::clone(pieces);
        }
        let mut workers = self.workers.write().unwrap_or_else(PoisonError::into_inner);
        while workers.len() <= worker {
            workers.push(Arc::new(Pieces {
                gathered: Mutex::new(Gathered {
                    texts: vec![Vec::new(); self.sinks.len()],
                    piece: 0,
                    since: Instant::now(),
                }),
                written: AtomicU64::new(0),
            }));
        }
        Arc::clone(&workers[worker])
    }

    fn read_workers(&self) -> std::sync::RwLockReadGuard<'_, Vec<Arc<Pieces>>> {
        self.workers.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes sure that a line has been written, as far as that can be done.
    pub(crate) fn write_line_at(&self, at: LineAt) {
        let pieces = self.pieces(at.worker());
        if pieces.written.load(Ordering::Acquire) < at.piece() {
            self.write_gathered(&pieces, lock(&pieces.gathered));
        }
    }

    /// Writes what the workers in `mask` (by number modulo 64) have handed over, but for `except`.
    pub(crate) fn write_those(&self, mask: u64, except: usize) {
        let workers = self.read_workers().clone();
        for (number, pieces) in workers.iter().enumerate() {
            if number != except && mask & (1 << (number % 64)) != 0 {
                self.write_gathered(pieces, lock(&pieces.gathered));
            }
        }
    }

    /// Writes what all workers have handed over.
    pub(crate) fn write_all(&self) {
        self.write_those(u64::MAX, usize::MAX);
    }

    fn write_gathered(&self, pieces: &Pieces, mut gathered: MutexGuard<'_, Gathered>) {
        for (target, text) in self.sinks.iter().zip(&mut gathered.texts) {
            self.write_to(target, text);
            text.clear();
        }
        gathered.since = Instant::now();
        pieces.written.store(gathered.piece, Ordering::Release);
    }

    /// Writes lines by sink and leaves them empty.
    pub(crate) fn write(&self, texts: &mut Texts) {
        for (target, text) in self.sinks.iter().zip(texts) {
            self.write_to(target, text);
            text.clear();
        }
    }

    fn write_to(&self, target: &Target, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        match target {
            Target::Stdout if self.is_closed() => {}
            Target::Stdout => {
                if let Err(error) = self.host.write(text) {
                    self.stdout_failed(&error);
                }
            }
            Target::Stderr => {
                // That this fails cannot be told anywhere.
                if stderr().write_all(text).is_err() {
                    self.failed.store(true, Ordering::Relaxed);
                }
            }
            // Nothing is gathered for it.
            Target::Same(_) => {}
            Target::File { name, file, failed } => {
                let written = lock(file).write_all(text);
                if let Err(error) = written
                    && !failed.swap(true, Ordering::Relaxed)
                {
                    self.fail(name, &error);
                }
            }
        }
    }

    fn stdout_failed(&self, error: &io::Error) {
        if self.closed.swap(true, Ordering::Relaxed) {
            return;
        }
        self.failed.store(true, Ordering::Relaxed);
        // A reader that went away has seen what it wanted.
        if error.kind() == io::ErrorKind::BrokenPipe {
            self.unread.store(true, Ordering::Relaxed);
        } else {
            self.fail(b"standard output", error);
        }
    }

    fn fail(&self, name: &[u8], error: &io::Error) {
        self.failed.store(true, Ordering::Relaxed);
        self.host.tell(&told(name, error));
    }
}

/// One worker's lines, not yet handed over.
pub(crate) struct Writer {
    pub(crate) texts: Texts,
    pub(crate) worker: usize,
    pieces: Arc<Pieces>,
    /// The piece being gathered.
    piece: u64,
}

impl Writer {
    pub(crate) fn new(outputs: &Outputs<'_>, worker: usize) -> Self {
        let pieces = outputs.pieces(worker);
        let piece = lock(&pieces.gathered).piece + 1;
        Self {
            texts: vec![Vec::new(); outputs.sinks.len()],
            worker,
            pieces,
            piece,
        }
    }

    /// Where the lines gathered last are.
    pub(crate) fn line_at(&self) -> Option<LineAt> {
        LineAt::new(self.worker, self.piece)
    }

    /// Hands the lines over, to be written when there are enough of them.
    pub(crate) fn hand_over(&mut self, outputs: &Outputs<'_>) {
        let mut gathered = lock(&self.pieces.gathered);
        let mut length = 0;
        for (all, text) in gathered.texts.iter_mut().zip(&mut self.texts) {
            if all.is_empty() {
                std::mem::swap(all, text);
            } else {
                all.extend_from_slice(text);
                text.clear();
            }
            length = length.max(all.len());
        }
        gathered.piece = self.piece;
        self.piece += 1;
        // The clock is read at every eighth piece: a directory from a disk takes milliseconds, one from cache less than that
        // many readings.
        let due = || gathered.piece.is_multiple_of(8) && gathered.since.elapsed() > LONGEST_WAIT;
        if length >= FULL || length > 0 && (outputs.watched || due()) {
            outputs.write_gathered(&self.pieces, gathered);
        } else if length == 0 {
            self.pieces.written.store(gathered.piece, Ordering::Release);
        }
    }
}

fn is_terminal(target: &Target, targets: &[Target], host: &dyn Host) -> bool {
    match target {
        Target::Stdout => host.is_terminal(),
        Target::Stderr => stderr().is_terminal(),
        Target::Same(earlier) => is_terminal(&targets[*earlier], targets, host),
        Target::File { file, .. } => lock(file).is_terminal(),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "`-fprint /dev/stderr` writes data there, as it does to files"
)]
fn stderr() -> io::Stderr {
    io::stderr()
}

/// Opens a file to be written to, or finds it among those that have been opened, by another name.
fn open_file(
    name: &OsStr,
    index: usize,
    opened: &mut Vec<(u64, u64, usize)>,
) -> io::Result<Target> {
    let file = File::create(name)?;
    let metadata = file.metadata()?;
    let (dev, ino) = (metadata.dev(), metadata.ino());
    if let Some(earlier) = opened.iter().find(|known| (known.0, known.1) == (dev, ino)) {
        return Ok(Target::Same(earlier.2));
    }
    opened.push((dev, ino, index));
    Ok(Target::File {
        name: name.as_bytes().to_vec(),
        file: Mutex::new(file),
        failed: AtomicBool::new(false),
    })
}
