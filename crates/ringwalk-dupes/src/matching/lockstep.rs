//! Large files of one size, read in step.
//!
//! All members of a set are alike as far as they have been read. When each has been read to the end
//! of the next part, the set falls into sets of files that are still alike. A file that is alone is
//! read no further.
//!
//! | part | bytes |
//! |---|---|
//! | 0, the sample | 4 KiB at the beginning and 4 KiB at the end |
//! | 1 | the first MiB |
//! | 2 | the next 3 MiB |
//! | 3 | the next 12 MiB |
//! | then | 16 MiB each |
//!
//! Members of a set are read at the same time. The crew takes tasks of sets that were begun first,
//! so the number of sets in work, and with it the memory, stays small.

use super::layout::{Faults, Layout};
use super::{FileFault, Matched, Matcher, Unit};
use crate::inventory::FileId;
use ringwalk_hash::{Crew, Fault, OpenFile, PIECE, PieceHasher, ReadBuffer, Tree, read_range};
use ringwalk_sys::sync::{IgnorePoison, lock};
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

/// Bytes of a sample at each end.
const SAMPLE: u64 = 4096;

/// Files in work beyond which no new set is begun. Each has up to 2 KiB of chaining values.
const MOST_ACTIVE: usize = 4096;

/// A file of a set.
#[derive(Debug)]
struct Member {
    file: FileId,
    tree: Tree,
    /// What the parts so far were like.
    key: Key,
}

/// Members with equal keys are alike as far as they have been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Key([u8; 32]);

/// Files that are equal so far. Each of them is read one part further.
struct Set {
    size: u64,
    part: u32,
    /// A file of the same size has a known hash, so each member needs its own.
    keeps_all: bool,
    /// `None` while a worker has the member, and after a fault.
    members: Vec<Mutex<Option<Member>>>,
    /// Members that have not been read.
    unread: AtomicUsize,
    layout: Arc<Layout>,
}

type Task = (Arc<Set>, usize);

/// The number of files in work.
#[derive(Default)]
struct Active {
    files: Mutex<usize>,
    fewer: Condvar,
}

impl Active {
    fn begin(&self, files: usize) {
        let mut active = lock(&self.files);
        while *active > MOST_ACTIVE {
            active = self.fewer.wait(active).ignore_poison();
        }
        *active += files;
    }

    fn end(&self, files: usize) {
        *lock(&self.files) -= files;
        self.fewer.notify_one();
    }
}

/// Returns the bytes of a part; empty behind the last.
fn range_of(part: u32, size: u64) -> Range<u64> {
    let end = |part: u32| match part {
        0 => 0,
        1 => PIECE,
        2 => 4 * PIECE,
        part => 16 * PIECE * u64::from(part - 2),
    };
    let start = end(part.saturating_sub(1)).min(size);
    start..end(part).min(size)
}

fn is_last(part: u32, size: u64) -> bool {
    range_of(part, size).end == size
}

impl Matcher<'_> {
    /// Compares classes of large files.
    pub(super) fn match_large(
        &self,
        classes: impl Iterator<Item = Range<u32>>,
        matched: &mut Matched,
    ) -> io::Result<()> {
        let crew = Crew::default();
        let active = Active::default();
        let work = |(set, at): Task, buffer: &mut ReadBuffer| {
            self.read_member(&set, at, buffer);
            if set.unread.fetch_sub(1, Ordering::AcqRel) == 1 {
                let before = set.members.len();
                let after = self.regroup(&set, &crew);
                active.end(before - after);
            }
        };
        let mut failed = Ok(());
        let produce = || {
            for class in classes {
                let mut units = Vec::new();
                let mut keeps_all = false;
                for names in self.inventory.inodes(class) {
                    keeps_all |= self.sort_out(names, &mut units, matched);
                }
                match self.lay_out(&mut units, Faults::FoundAgain) {
                    Ok(layout) => self.begin(units, layout, keeps_all, &crew, &active, matched),
                    Err(error) => {
                        failed = Err(error);
                        return;
                    }
                }
            }
        };
        crew.run(self.options.workers, ReadBuffer::default, work, produce)?;
        failed?;
        lock(&self.collector).forget();
        Ok(())
    }

    fn begin(
        &self,
        mut units: Vec<Unit>,
        layout: Layout,
        keeps_all: bool,
        crew: &Crew<Task>,
        active: &Active,
        matched: &mut Matched,
    ) {
        units.sort_unstable_by_key(|unit| unit.place);
        matched.shares.extend(layout.shares());
        let members: Vec<_> = units
            .iter()
            .filter(|unit| !layout.is_follower(unit.file))
            .map(|unit| Member {
                file: unit.file,
                tree: Tree::default(),
                key: Key::default(),
            })
            .collect();
        let Some(first) = units.first() else {
            return;
        };
        if members.len() < 2 && !keeps_all {
            for member in &members {
                self.drop_alone(member.file, &layout);
            }
            return;
        }
        active.begin(members.len());
        let set = Set {
            size: self.inventory.file(first.file).size,
            part: 0,
            keeps_all,
            unread: AtomicUsize::new(members.len()),
            members: members
                .into_iter()
                .map(|member| Mutex::new(Some(member)))
                .collect(),
            layout: Arc::new(layout),
        };
        let set = Arc::new(set);
        for at in 0..set.members.len() {
            crew.push((Arc::clone(&set), at));
        }
    }

    /// Reads one part of a member. After a fault there is no member.
    fn read_member(&self, set: &Set, at: usize, buffer: &mut [u8]) {
        let Some(mut member) = lock(&set.members[at]).take() else {
            return;
        };
        let file = member.file;
        let read = self.with_file(member.file, |file| {
            if set.part == 0 {
                sample(file, set.size, &mut member, buffer)
            } else {
                read_part(
                    file,
                    range_of(set.part, set.size),
                    set.size,
                    &mut member,
                    buffer,
                )
            }
        });
        if read.is_some() {
            *lock(&set.members[at]) = Some(member);
        } else if let [follower, ..] = set.layout.followers(file) {
            // They were to get the hash of the file that could not be read.
            let path = self.inventory.file_path(*follower);
            (self.options.report)(FileFault {
                path: path.path(),
                fault: Fault::Changed,
            });
        }
    }

    /// Stops reading a file, since it differs from all files except those that share its extents.
    fn drop_alone(&self, file: FileId, layout: &Layout) {
        self.options.progress.files.fetch_add(1, Ordering::Relaxed);
        let followers = layout.followers(file);
        if !followers.is_empty() {
            lock(&self.collector).add_shared(self.inventory, file, followers);
        }
    }

    /// Splits a set whose members have been read. Returns the number of files that are read
    /// further.
    fn regroup(&self, set: &Set, crew: &Crew<Task>) -> usize {
        let members = set.members.iter().filter_map(|member| lock(member).take());
        if is_last(set.part, set.size) && set.part > 0 {
            for member in members {
                // The key of the last part is the hash of the file.
                let hash = member.key.0;
                self.remember(member.file, &hash);
                self.add_hash(member.file, hash, &set.layout);
            }
            return 0;
        }
        let mut alike: HashMap<Key, Vec<Member>> = HashMap::new();
        for member in members {
            let key = if set.keeps_all {
                Key::default()
            } else {
                member.key
            };
            alike.entry(key).or_default().push(member);
        }
        let mut count = 0;
        for members in alike.into_values() {
            if members.len() < 2 && !set.keeps_all {
                for member in members {
                    self.drop_alone(member.file, &set.layout);
                }
                continue;
            }
            count += members.len();
            let next = Arc::new(Set {
                size: set.size,
                part: set.part + 1,
                keeps_all: set.keeps_all,
                unread: AtomicUsize::new(members.len()),
                members: members
                    .into_iter()
                    .map(|member| Mutex::new(Some(member)))
                    .collect(),
                layout: Arc::clone(&set.layout),
            });
            for at in (0..next.members.len()).rev() {
                crew.push_first((Arc::clone(&next), at));
            }
        }
        count
    }
}

/// Reads both ends.
fn sample(file: &OpenFile, size: u64, member: &mut Member, buffer: &mut [u8]) -> Result<(), Fault> {
    let mut hasher = blake3::Hasher::new();
    for range in [0..SAMPLE, size - SAMPLE..size] {
        read_range(file, range, buffer, |bytes| {
            hasher.update(bytes);
        })?;
    }
    member.key = Key(hasher.finalize().into());
    Ok(())
}

/// Reads the pieces of a part, and makes the key of them.
fn read_part(
    file: &OpenFile,
    range: Range<u64>,
    size: u64,
    member: &mut Member,
    buffer: &mut [u8],
) -> Result<(), Fault> {
    if size <= PIECE {
        let mut hasher = blake3::Hasher::new();
        read_range(file, range, buffer, |bytes| {
            hasher.update(bytes);
        })?;
        member.key = Key(hasher.finalize().into());
        return Ok(());
    }
    // All files of a set had equal contents before this part, so the key depends on this part only.
    let mut key = blake3::Hasher::new();
    let mut at = range.start;
    while at < range.end {
        let end = (at + PIECE).min(range.end);
        let mut hasher = PieceHasher::new(at);
        read_range(file, at..end, buffer, |bytes| hasher.update(bytes))?;
        let value = hasher.finish();
        key.update(&value);
        member.tree.push(value);
        at = end;
    }
    member.key = Key(key.finalize().into());
    if range.end == size
        && let Some(hash) = std::mem::take(&mut member.tree).finish()
    {
        member.key = Key(hash);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_a_file_once() {
        for size in [
            PIECE - 5,
            PIECE,
            PIECE + 1,
            4 * PIECE,
            16 * PIECE,
            100 * PIECE + 7,
        ] {
            let mut at = 0;
            let mut part = 1;
            loop {
                let range = range_of(part, size);
                assert_eq!(range.start, at);
                assert!(range.end > range.start, "part {part} of {size} is empty");
                at = range.end;
                if is_last(part, size) {
                    break;
                }
                // All parts but the last end where a piece ends.
                assert_eq!(at % PIECE, 0);
                part += 1;
            }
            assert_eq!(at, size);
        }
    }
}
