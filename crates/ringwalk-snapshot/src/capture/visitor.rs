//! Gives the entries of each batch to a keeper.

use super::extras::{Xattrs, target, xattrs};
use super::file_systems::open_directory;
use super::keeper::{Keeper, ListingPlace};
use super::{Fatal, Shared};
use crate::entry::{Entry, FailedOperation, Failure, Skipped};
use crate::schema::{Attributes, LONGEST_PATH};
use ringwalk::identity::IdentityTrust;
use ringwalk::{Batch, Dir, Errno, Error, FileType, Flow, Leftover, Metadata, Operation, Visitor};
use ringwalk_du::{Charge, Located, Location, Verdict};
use std::ffi::CStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::Ordering;

/// What is kept of a directory while it is walked.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Its number.
    directory: u64,
    /// The length of its path relative to the root.
    path: usize,
    location: Location,
}

impl Located for State {
    fn location(&self) -> &Location {
        &self.location
    }
}

/// An entry that the walk has found.
type Found<'b> = ringwalk::Entry<'b, State>;

/// What is read of an entry by calls of its own.
#[derive(Default)]
struct Extras {
    target: Option<Vec<u8>>,
    xattrs: Xattrs,
}

/// The visitor of one worker.
pub(crate) struct CaptureVisitor<'s, K> {
    shared: &'s Shared<'s>,
    keeper: K,
    /// The order of the entries of a batch.
    order: Vec<(u64, u32)>,
    /// The device on which the last file was.
    device: Option<u64>,
    /// The number of entries of the batch that are kept.
    kept: u64,
    /// The number of directories found that are to be read, without the roots.
    pub(crate) found: u64,
    /// The number of directories that were removed before any walk could open them.
    pub(crate) vanished: u64,
}

impl<'s, K: Keeper> CaptureVisitor<'s, K> {
    pub(crate) fn new(shared: &'s Shared<'s>, keeper: K) -> Self {
        Self {
            shared,
            keeper,
            order: Vec::new(),
            device: None,
            kept: 0,
            found: 0,
            vanished: 0,
        }
    }

    /// Hands over what has been kept.
    pub(crate) fn close(self) {
        if let Err(error) = self.keeper.close() {
            self.shared.note(Fatal::Keeping(error));
        }
    }

    /// Counts a directory that was removed before it could be opened. One that an earlier walk has
    /// begun has been counted as read.
    fn count_vanished(&mut self, path: &Path) {
        let Some((index, root, path)) = self.shared.failures.located(path) else {
            self.vanished += 1;
            return;
        };
        if self.shared.resumed.was_begun(index, path) {
            return;
        }
        self.vanished += 1;
        if let Some(trees) = &self.shared.vanished {
            trees.add(index, root, path);
        }
    }

    fn stop(&self, fatal: Fatal) -> Flow {
        self.shared.note(fatal);
        Flow::Stop
    }

    /// Keeps the batch as one run of its directory.
    fn keep(&mut self, batch: &Batch<'_, State>) -> Result<(), Fatal> {
        let dir = batch.dir();
        self.sort(batch);
        self.keeper.begin_run(&ListingPlace {
            directory: dir.map_or(0, |dir| dir.state().directory),
            root: dir.map_or(0, Dir::root_index),
            path: &|| dir.map(relative_path).unwrap_or_default(),
        });
        for at in 0..self.order.len() {
            let (_, index) = self.order[at];
            self.keep_entry(batch, index as usize)?;
        }
        self.shared.progress.add(std::mem::take(&mut self.kept));
        self.keeper.end_run().map_err(Fatal::Keeping)
    }

    /// Orders the entries by name, the roots by index.
    fn sort(&mut self, batch: &Batch<'_, State>) {
        self.order.clear();
        let is_roots = batch.dir().is_none();
        self.order.extend(
            (0_u32..)
                .zip(batch.entries())
                .map(|(index, entry)| (if is_roots { 0 } else { prefix(entry.name()) }, index)),
        );
        if is_roots {
            return;
        }
        let name = |index: u32| batch.get(index as usize).map(|entry| entry.name());
        self.order.sort_unstable_by(|a, b| {
            let by_prefix = a.0.cmp(&b.0);
            by_prefix.then_with(|| name(a.1).cmp(&name(b.1)))
        });
    }

    fn keep_entry(&mut self, batch: &Batch<'_, State>, index: usize) -> Result<(), Fatal> {
        let Some(found) = batch.get(index) else {
            return Ok(());
        };
        let c_name = found.c_name();
        // Fewer roots fit on a command line.
        let root_index = u32::try_from(found.root_index()).unwrap_or(u32::MAX);
        let root_index = root_index.to_be_bytes();
        let is_root = batch.dir().is_none();
        let name = if is_root {
            &root_index
        } else {
            c_name.to_bytes()
        };
        let mut entry = Entry::new(name, found.file_type());
        let mut child = None;
        if let Some(metadata) = found.metadata() {
            if self.shared.own.is(metadata, || found.path()) {
                found.prune();
                return Ok(());
            }
            self.fill(&mut entry, batch, &found, metadata);
            child = self.descend(&mut entry, batch, &found, metadata)?;
        } else {
            match found.stat_error() {
                // It was removed since it was listed.
                Some(Errno::NOENT) if !is_root => return Ok(()),
                errno => entry.failure = errno.map(stat_failure),
            }
            found.prune();
        }
        let mut extras = Extras::default();
        if entry.failure.is_none() {
            match self.extras(batch, c_name, found.file_type()) {
                Ok(read) => extras = read,
                // It was removed since it was listed.
                Err(failure) if failure.errno == Errno::NOENT && !is_root => return Ok(()),
                Err(failure) => {
                    self.shared.report(&found.path(), failure);
                    entry.failure = Some(failure);
                }
            }
        }
        entry.target = extras.target.as_deref();
        entry.xattrs = &extras.xattrs;
        self.keeper.push(&entry, child).map_err(Fatal::Keeping)?;
        self.kept += 1;
        Ok(())
    }

    /// Fills in what the metadata say: the attributes, whether the file counts, and its hash.
    fn fill(
        &mut self,
        entry: &mut Entry<'_>,
        batch: &Batch<'_, State>,
        found: &Found<'_>,
        metadata: &Metadata,
    ) {
        entry.attributes = Attributes::of(metadata);
        self.meet(metadata, || found.path());
        match self.shared.rule.judge(batch, metadata) {
            Verdict::Counts(charge) => {
                entry.attributes.charged_once =
                    charge == Charge::Once || self.shared.mounts.may_show_again(metadata);
            }
            _ => entry.skipped = Some(why_left_out(batch, metadata)),
        }
        let is_regular = [entry.file_type, metadata.file_type()] == [FileType::Regular; 2];
        if let Some(hashes) = self.shared.hashes
            && entry.skipped.is_none()
            && is_regular
        {
            entry.attributes.hash = hashes.hash(metadata, &|| found.path());
        }
    }

    /// Decides whether the walk enters a directory. Returns its number then.
    fn descend(
        &mut self,
        entry: &mut Entry<'_>,
        batch: &Batch<'_, State>,
        found: &Found<'_>,
        metadata: &Metadata,
    ) -> Result<Option<u64>, Fatal> {
        if !found.will_descend() {
            found.prune();
            return Ok(None);
        }
        // The slash, and the longest name that it may hold.
        let path = path_length(batch, entry.name);
        let fits = path + 1 + LONGEST_NAME <= LONGEST_PATH;
        if !fits {
            entry.failure = Some(TOO_DEEP);
            self.shared.report(&found.path(), TOO_DEEP);
        }
        if !fits || entry.skipped.is_some() {
            found.prune();
            return Ok(None);
        }
        self.check_root_again(batch, metadata, || found.path())?;
        let number = self.keeper.new_directory();
        self.found += u64::from(batch.dir().is_some());
        found.descend_with(State {
            directory: number,
            path,
            location: Location::of(batch, metadata),
        });
        Ok(Some(number))
    }

    /// Reads what the walk does not return.
    fn extras(
        &self,
        batch: &Batch<'_, State>,
        name: &CStr,
        file_type: FileType,
    ) -> Result<Extras, Failure> {
        let is_link = file_type == FileType::Symlink;
        let target = is_link.then(|| target(batch, name)).transpose()?;
        let xattrs = if self.shared.contents.xattrs {
            xattrs(batch, name)?
        } else {
            Xattrs::default()
        };
        Ok(Extras { target, xattrs })
    }

    /// Notes the file system of a file.
    fn meet(&mut self, metadata: &Metadata, path: impl FnOnce() -> Vec<u8>) {
        if self.device != metadata.dev() && metadata.file_type() == FileType::Directory {
            self.device = metadata.dev();
            self.shared.file_systems.meet(metadata, path);
        }
    }

    /// Refuses a root that is reached below another one, through a mount. Where two directories can
    /// have one inode number, that cannot be known.
    fn check_root_again(
        &self,
        batch: &Batch<'_, State>,
        found: &Metadata,
        path: impl FnOnce() -> Vec<u8>,
    ) -> Result<(), Fatal> {
        let Some(dir) = batch.dir() else {
            return Ok(());
        };
        let identity = found.identity();
        let again = self
            .shared
            .roots
            .iter()
            .position(|root| Some(*root) == identity);
        let is_sure = || open_directory(&path()).map_or(true, |it| IdentityTrust::of(it).is_unique);
        match again {
            Some(root) if root != dir.root_index() && is_sure() => {
                Err(Fatal::RootAgain(root, dir.root_index()))
            }
            _ => Ok(()),
        }
    }
}

impl<K: Keeper> Visitor for CaptureVisitor<'_, K> {
    type State = State;

    fn batch(&mut self, batch: &Batch<'_, State>) -> Flow {
        if self.shared.stop.load(Ordering::Relaxed) {
            return Flow::Stop;
        }
        match self.keep(batch) {
            Ok(()) => Flow::Continue,
            Err(fatal) => self.stop(fatal),
        }
    }

    fn error(&mut self, error: &Error) {
        if let Some(failure) = self.shared.failures.add(error) {
            let path = error.path().as_os_str().as_bytes();
            self.shared.report(path, failure);
        } else if error.operation() == Operation::Open {
            self.count_vanished(error.path());
        }
    }

    fn resume(&mut self, leftover: &Leftover) -> State {
        State {
            directory: directory_of(leftover.tag),
            path: leftover.path.len(),
            location: self.shared.resumed.location(leftover),
        }
    }

    fn tag(&self, dir: &Dir<State>) -> u64 {
        let state = dir.state();
        tag(state.directory, state.location.is_below_mount())
    }
}

/// The bit of a [tag](Leftover::tag) that says that a mount point is on the path.
const BELOW_MOUNT: u64 = 1 << 63;

/// Returns the tag of a directory with this number.
pub(crate) fn tag(directory: u64, is_below_mount: bool) -> u64 {
    directory | if is_below_mount { BELOW_MOUNT } else { 0 }
}

/// Returns the number of the directory with this tag.
pub(crate) fn directory_of(tag: u64) -> u64 {
    tag & !BELOW_MOUNT
}

/// Returns true if a mount point is on the path of the directory with this tag.
pub(crate) fn is_below_mount(tag: u64) -> bool {
    tag & BELOW_MOUNT != 0
}

/// Returns the path of a directory relative to its root.
fn relative_path(dir: &Dir<State>) -> Vec<u8> {
    let mut path = dir.path();
    let length = if dir.depth() == 0 {
        0
    } else {
        dir.state().path
    };
    path.split_off(path.len() - length)
}

/// The longest name of a file on any file system (`NAME_MAX` is 255; some have 1023).
const LONGEST_NAME: usize = 1024;

/// A directory whose contents would have paths that are too long for a snapshot.
const TOO_DEEP: Failure = Failure {
    operation: FailedOperation::Read,
    errno: Errno::NAMETOOLONG,
};

/// Returns the length of an entry's path relative to the root.
fn path_length(batch: &Batch<'_, State>, name: &[u8]) -> usize {
    match batch.dir() {
        None => 0,
        Some(dir) if dir.depth() == 0 => name.len(),
        Some(dir) => dir.state().path + 1 + name.len(),
    }
}

/// Returns the first bytes of a name as a number, which orders most names.
fn prefix(name: &[u8]) -> u64 {
    let mut first = [0; 8];
    let length = name.len().min(8);
    first[..length].copy_from_slice(&name[..length]);
    u64::from_be_bytes(first)
}

fn stat_failure(errno: Errno) -> Failure {
    Failure {
        operation: FailedOperation::Stat,
        errno,
    }
}

/// Returns why du leaves a file out.
fn why_left_out(batch: &Batch<'_, State>, found: &Metadata) -> Skipped {
    let is_other = batch
        .dir()
        .is_some_and(|dir| dir.state().location.device != found.dev());
    if is_other {
        Skipped::OtherFs
    } else {
        Skipped::Loop
    }
}
