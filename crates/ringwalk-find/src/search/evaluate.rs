//! Evaluation: the expression asked of one file.

use super::act;
use super::file::File;
use super::output::Writer;
use super::shared::Shared;
use crate::execute::Batch;
use crate::expression::{AccessMode, Test};
use crate::facts::Facts;
use crate::plan::{Kind, Listed, Node, decide, is_decided_by_metadata};
use ringwalk::FileType;
use rustix::fs::{Access, AtFlags, Mode, OFlags, RawDir, accessat, openat};
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

/// One worker's part of the evaluation.
pub(crate) struct Evaluator<'s> {
    pub(crate) shared: &'s Shared<'s>,
    pub(crate) writer: Writer,
    /// Files of the directory at hand that wait for commands, by the number of the action.
    pub(crate) batches: Vec<Batch>,
    /// The directory of those files, by its number, open for the commands.
    pub(crate) waiting: Option<(u64, OwnedFd)>,
    /// The number of the directory at hand.
    pub(crate) directory: u64,
    /// `-prune` was met for the file at hand.
    pub(crate) pruned: bool,
    /// `-quit` was met, or a test cannot be decided: nothing is evaluated any more.
    pub(crate) quit: bool,
    /// How often each node was evaluated and was true; empty unless somebody wants to know.
    pub(crate) counts: Vec<(u64, u64)>,
}

impl Evaluator<'_> {
    /// Whether a file is to be looked at, and below it.
    pub(crate) fn admits(&mut self, file: &File<'_>) -> bool {
        let shared = self.shared;
        if let Some(exclude) = &shared.plan.exclude
            && self.holds(exclude, file)
        {
            return false;
        }
        if !shared.command.options.unique {
            return true;
        }
        file.metadata()
            .is_ok_and(|metadata| shared.progress.meets(metadata.identity()))
    }

    /// Evaluates the whole expression, if the file is not above `-mindepth`. Whether the search is not to descend.
    pub(crate) fn evaluate(&mut self, file: &File<'_>) -> bool {
        if file.depth() < self.shared.command.options.min_depth {
            return false;
        }
        self.pruned = false;
        self.holds(&self.shared.plan.expression, file);
        self.pruned
    }

    /// Whether `node` is true of `file`; its actions are done.
    pub(crate) fn holds(&mut self, node: &Node<'_>, file: &File<'_>) -> bool {
        let held = match &node.kind {
            Kind::Test(leaf) => self.test(&leaf.is, file),
            Kind::Action(leaf) => act::act(self, &leaf.is, file),
            Kind::Gather(_, number) => act::gather(self, *number, file),
            Kind::Not(inner) => !self.holds(inner, file),
            Kind::And(parts) => parts
                .iter()
                .all(|part| self.holds(part, file) && !self.quit),
            Kind::Or(parts) => parts.iter().any(|part| self.holds(part, file) || self.quit),
            Kind::List(parts) => {
                let mut last = false;
                for part in parts {
                    last = self.holds(part, file);
                    if self.quit {
                        break;
                    }
                }
                last
            }
        };
        if let Some(count) = self.counts.get_mut(node.number) {
            count.0 += 1;
            count.1 += u64::from(held);
        }
        held
    }

    fn test(&mut self, test: &Test, file: &File<'_>) -> bool {
        if let Some(decided) = decide(test, &listed(test, file)) {
            return decided;
        }
        match test {
            Test::LinkName(pattern) => file
                .link_target()
                .is_some_and(|target| pattern.matches(&target)),
            Test::XType(types) => Self::other_type(file).is_some_and(|other| types.contains(other)),
            Test::Empty => self.is_empty(file),
            Test::NoUser => file
                .metadata()
                .is_ok_and(|m| self.shared.user_name(m.uid).is_none()),
            Test::NoGroup => file
                .metadata()
                .is_ok_and(|m| self.shared.group_name(m.gid).is_none()),
            Test::Access(mode) => may_access(file, *mode).unwrap_or_else(|errno| {
                self.shared.tell_failure(file.path(), errno);
                false
            }),
            Test::FileSystem(name) => {
                let found = file.file_system_type();
                self.quit |= found.is_none();
                found == Some(name)
            }
            Test::Context(pattern) => file.context().is_some_and(|label| pattern.matches(&label)),
            // There is no metadata to decide by, of which the user has been told.
            _ => false,
        }
    }

    /// The type as it is when links are followed if they are not, and the other way round.
    fn other_type(file: &File<'_>) -> Option<FileType> {
        if file.is_followed() {
            return Some(FileType::Symlink);
        }
        match file.target_type() {
            Ok(target) => Some(target),
            // The link has no target: it leads nowhere, or in circles.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Some(FileType::Symlink),
            // `target_type` has reported the others.
            Err(_) => None,
        }
    }

    /// A regular file of no bytes, or a directory of no entries.
    fn is_empty(&self, file: &File<'_>) -> bool {
        match file.file_type() {
            FileType::Regular => file.metadata().is_ok_and(|m| m.size == 0),
            // That it could not be looked at has been told.
            FileType::Directory if file.has_failed() => false,
            FileType::Directory => is_empty_directory(file).unwrap_or_else(|errno| {
                self.shared.tell_failure(file.path(), errno);
                false
            }),
            _ => false,
        }
    }
}

/// What is at hand of a file, or is asked for since the test needs it.
fn listed<'f>(test: &Test, file: &'f File<'_>) -> Listed<'f> {
    Listed {
        name: file.base_name(),
        path: file.path(),
        kind: match test {
            Test::Type(_) => file.file_type(),
            _ => FileType::Unknown,
        },
        metadata: if is_decided_by_metadata(test) {
            file.metadata().ok()
        } else {
            None
        },
    }
}

fn is_empty_directory(file: &File<'_>) -> Result<bool, Errno> {
    let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if file.depth() > 0 && !file.is_followed() {
        flags |= OFlags::NOFOLLOW;
    }
    let fd = openat(file.at()?, file.c_name, flags, Mode::empty())?;
    let mut buffer = [MaybeUninit::uninit(); 1024];
    let mut entries = RawDir::new(fd, &mut buffer);
    while let Some(entry) = entries.next() {
        if !matches!(entry?.file_name().to_bytes(), b"." | b"..") {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What access(2) says, which is by the real user and through links.
///
/// # Errors
///
/// Any failure that is no answer, such as `EMFILE` for the directory or `EIO` for the file.
fn may_access(file: &File<'_>, mode: AccessMode) -> Result<bool, Errno> {
    let access = match mode {
        AccessMode::Read => Access::READ_OK,
        AccessMode::Write => Access::WRITE_OK,
        AccessMode::Execute => Access::EXEC_OK,
    };
    match accessat(file.at()?, file.c_name, access, AtFlags::empty()) {
        Ok(()) => Ok(true),
        // The last four: a link without a target, or a file that is gone. GNU find says nothing of
        // them either.
        Err(
            Errno::ACCESS
            | Errno::PERM
            | Errno::ROFS
            | Errno::TXTBSY
            | Errno::NOENT
            | Errno::NOTDIR
            | Errno::LOOP
            | Errno::NAMETOOLONG,
        ) => Ok(false),
        Err(errno) => Err(errno),
    }
}
