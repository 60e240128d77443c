//! Evaluation: the expression asked of one file.

use super::act;
use super::file::File;
use super::output::Writer;
use super::shared::Shared;
use crate::execute::Batch;
use crate::expression::{AccessMode, PermissionMatch, Test, Time};
use crate::facts::Facts;
use crate::plan::{Kind, Listed, Node, decide};
use ringwalk::{FileType, Metadata, Timestamp};
use rustix::fs::{Access, AtFlags, Mode, OFlags, RawDir, accessat, openat};
use rustix::io::Errno;
use std::mem::MaybeUninit;

/// One worker's part of the evaluation.
pub(crate) struct Evaluator<'s> {
    pub(crate) shared: &'s Shared<'s>,
    pub(crate) writer: Writer,
    /// Files of the directory at hand that wait for commands, by the number of the action.
    pub(crate) batches: Vec<Batch>,
    /// `-prune` was met for the file at hand.
    pub(crate) pruned: bool,
    /// `-quit` was met: nothing is evaluated any more.
    pub(crate) quit: bool,
    /// How often each node was evaluated and was true; empty unless somebody wants to know.
    pub(crate) counts: Vec<(u64, u64)>,
}

impl Evaluator<'_> {
    /// Whether a file is to be looked at, and below it.
    pub(crate) fn admits(&mut self, file: &File<'_>) -> bool {
        let shared = self.shared;
        // What was asked for by name is not left out.
        if let Some(exclude) = &shared.plan.exclude
            && file.depth() > 0
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

    fn test(&self, test: &Test, file: &File<'_>) -> bool {
        let of = |check: &dyn Fn(&Metadata) -> bool| file.metadata().is_ok_and(check);
        match test {
            Test::True
            | Test::False
            | Test::Name(_)
            | Test::Path(_)
            | Test::Regex(_)
            | Test::Type(_)
            | Test::Hidden => decide(test, &listed(test, file)) == Some(true),
            Test::LinkName(pattern) => file
                .link_target()
                .is_some_and(|target| pattern.matches(&target)),
            Test::XType(types) => self
                .other_type(file)
                .is_some_and(|other| types.contains(other)),
            Test::Size { count, unit } => of(&|m| count.holds(m.size.div_ceil(*unit))),
            Test::Empty => self.is_empty(file),
            Test::Links(count) => of(&|m| count.holds(m.nlink.into())),
            Test::Inode(number) => of(&|m| number.holds(m.ino)),
            Test::SameFile(identity) => of(&|m| m.identity() == *identity),
            Test::Permission(permission) => of(&|m| {
                let wanted = if m.file_type() == FileType::Directory {
                    permission.directory
                } else {
                    permission.file
                };
                let bits = m.mode & 0o7777;
                match permission.how {
                    PermissionMatch::Exactly => bits == wanted,
                    PermissionMatch::All => bits & wanted == wanted,
                    PermissionMatch::Any => wanted == 0 || bits & wanted != 0,
                }
            }),
            Test::Uid(number) => of(&|m| number.holds(m.uid.into())),
            Test::Gid(number) => of(&|m| number.holds(m.gid.into())),
            Test::NoUser => of(&|m| self.shared.user_name(m.uid).is_none()),
            Test::NoGroup => of(&|m| self.shared.group_name(m.gid).is_none()),
            Test::Access(mode) => may_access(file, *mode),
            Test::Age(time, span) => time_of(*time, file).is_some_and(|t| span.contains(t)),
            Test::Newer(time, than) => time_of(*time, file).is_some_and(|t| t > *than),
            Test::Used(span) => of(&|m| used(m).is_some_and(|time| span.contains(time))),
            Test::FileSystem(name) => file.file_system() == name.as_slice(),
            Test::Context(pattern) => file.context().is_some_and(|label| pattern.matches(&label)),
        }
    }

    /// The type as it is when links are followed if they are not, and the other way round.
    fn other_type(&self, file: &File<'_>) -> Option<FileType> {
        if file.is_followed() {
            return Some(FileType::Symlink);
        }
        match file.target_type() {
            Ok(target) => Some(target),
            // A link that leads nowhere is only a link.
            Err(Errno::NOENT | Errno::NOTDIR) => Some(FileType::Symlink),
            Err(errno) => {
                if errno == Errno::LOOP {
                    self.shared.tell_failure(file.path(), errno);
                }
                None
            }
        }
    }

    /// A regular file of no bytes, or a directory of no entries.
    fn is_empty(&self, file: &File<'_>) -> bool {
        match file.file_type() {
            FileType::Regular => file.metadata().is_ok_and(|m| m.size == 0),
            FileType::Directory => is_empty_directory(file).unwrap_or_else(|errno| {
                self.shared.tell_failure(file.path(), errno);
                false
            }),
            _ => false,
        }
    }
}

/// A file as its directory has it.
fn listed<'f>(test: &Test, file: &'f File<'_>) -> Listed<'f> {
    Listed {
        name: file.base_name(),
        path: file.path(),
        // The type may have to be asked for: only where the test is about it.
        kind: match test {
            Test::Type(_) => file.file_type(),
            _ => FileType::Unknown,
        },
    }
}

fn time_of(time: Time, file: &File<'_>) -> Option<Timestamp> {
    time.of(file.metadata().ok()?)
}

fn is_empty_directory(file: &File<'_>) -> Result<bool, Errno> {
    let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if file.depth() > 0 && !file.is_followed() {
        flags |= OFlags::NOFOLLOW;
    }
    let fd = openat(file.at(), file.c_name, flags, Mode::empty())?;
    let mut buffer = [MaybeUninit::uninit(); 1024];
    let mut entries = RawDir::new(fd, &mut buffer);
    while let Some(entry) = entries.next() {
        let name = entry?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What access(2) says, which is by the real user and through links.
fn may_access(file: &File<'_>, mode: AccessMode) -> bool {
    let access = match mode {
        AccessMode::Read => Access::READ_OK,
        AccessMode::Write => Access::WRITE_OK,
        AccessMode::Execute => Access::EXEC_OK,
    };
    accessat(file.at(), file.c_name, access, AtFlags::empty()).is_ok()
}

/// The time from the last change of the inode to the last access; none if that is before it.
fn used(metadata: &Metadata) -> Option<Timestamp> {
    let (accessed, changed) = (metadata.atime, metadata.ctime);
    if accessed < changed {
        return None;
    }
    let borrowed = accessed.nanos < changed.nanos;
    Some(Timestamp {
        secs: accessed.secs - changed.secs - i64::from(borrowed),
        nanos: if borrowed {
            1_000_000_000 + accessed.nanos - changed.nanos
        } else {
            accessed.nanos - changed.nanos
        },
    })
}
