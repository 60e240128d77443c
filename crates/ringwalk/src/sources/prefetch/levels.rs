//! Reads a subtree ahead, level by level: the blocks of its directories in the order of the disk,
//! then the inodes that they name, and so on.

use super::Plan;
use super::fetch::{BlockKind, Ended, Fetcher};
use super::map::Mapper;
use super::ranges::{ByteRange, GAP, sort_and_merge};
use super::tables::NumberedTables;
use ringwalk_ext4::{DirEntry, Extent, Inode};

/// Bytes of directory inodes that are held at a time: 16384 inodes of 256 bytes.
const INODES_HELD: usize = 4 << 20;

/// The file type bits of a mode, and their value for a directory (inode(7)).
const FILE_TYPE: u32 = 0o170_000;
const DIRECTORY_MODE: u32 = 0o040_000;

/// `EXT4_FT_DIR`: the type of a directory in a directory entry
/// (Documentation/filesystems/ext4/directory.rst).
const DIRECTORY: u8 = 2;

/// Reads the directories below the plan's roots, down to its greatest depth.
pub(super) fn read_levels(plan: &Plan<'_>, fetcher: &mut Fetcher<'_>) -> Result<(), Ended> {
    let inode_size = usize::from(plan.file_system.superblock().inode_size.max(1));
    let mut levels = Levels {
        plan,
        tables: NumberedTables::new(plan.file_system),
        mapper: Mapper::new(plan.file_system, fetcher.bytes_left()),
    };
    let mut level = plan.roots.clone();
    let mut seen = Seen::new(plan.file_system.superblock().inodes);
    for depth in 0..plan.max_depth {
        // In the order of inode numbers, the blocks of tables are in the order of the disk.
        level.sort_unstable();
        // On a damaged file system a directory can be below itself.
        level.retain(|&ino| seen.is_new(ino));
        let mut next = Vec::new();
        for some in level.chunks(INODES_HELD / inode_size) {
            levels.read(some, depth + 1 < plan.max_depth, fetcher, &mut next)?;
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    Ok(())
}

/// Seen inodes: one bit for each. The kernel allocates memory only where bits are set.
struct Seen(Vec<u64>);

impl Seen {
    fn new(inodes: u32) -> Self {
        Self(vec![0; inodes as usize / 64 + 1])
    }

    /// Returns true if `ino` is a number that the file system can have, and is seen for the first
    /// time.
    fn is_new(&mut self, ino: u32) -> bool {
        let Some(word) = self.0.get_mut(ino as usize / 64) else {
            return false;
        };
        let bit = 1 << (ino % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

/// Where a part of a directory is on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DirectoryRun {
    extent: Extent,
    /// The directory's index among those held.
    directory: usize,
}

struct Levels<'a> {
    plan: &'a Plan<'a>,
    tables: NumberedTables<'a>,
    mapper: Mapper<'a>,
}

impl Levels<'_> {
    /// Reads some directories and then the inodes that they name. Adds the directories among these
    /// inodes to `next`. `descending` is true if the next level will be read.
    fn read(
        &mut self,
        directories: &[u32],
        descending: bool,
        fetcher: &mut Fetcher<'_>,
        next: &mut Vec<u32>,
    ) -> Result<(), Ended> {
        for &ino in directories {
            self.tables.want(ino);
        }
        self.tables.fetch(fetcher)?;
        let mut held = Vec::with_capacity(directories.len());
        let mut raw = Vec::new();
        for &ino in directories {
            let known = self.tables.read(fetcher, ino, &mut raw);
            held.push(if known {
                std::mem::take(&mut raw)
            } else {
                Vec::new()
            });
        }
        let runs = self.runs_of(directories, &held, fetcher)?;
        self.read_runs(directories, &held, &runs, descending, fetcher, next)?;
        self.tables.fetch(fetcher)
    }

    /// Returns where the blocks of some directories are, in the order of the disk.
    fn runs_of(
        &mut self,
        directories: &[u32],
        held: &[Vec<u8>],
        fetcher: &mut Fetcher<'_>,
    ) -> Result<Vec<DirectoryRun>, Ended> {
        let mut runs = Vec::new();
        let mut add = |directory: usize, extents: Vec<Extent>| {
            runs.extend(
                extents
                    .into_iter()
                    .map(|extent| DirectoryRun { extent, directory }),
            );
        };
        for (index, (&ino, raw)) in directories.iter().zip(held).enumerate() {
            if let Ok(Some(inode)) = self.plan.file_system.inode(ino, raw)
                && inode.mode() & FILE_TYPE == DIRECTORY_MODE
                && let Some(extents) = self.mapper.map(fetcher.device, &inode)
            {
                add(index, extents);
            }
        }
        self.mapper.resolve(fetcher, &self.tables, |ino, extents| {
            if let Ok(index) = directories.binary_search(&ino) {
                add(index, extents);
            }
        })?;
        runs.sort_unstable_by_key(|run| run.extent.physical);
        take_each_block_once(&mut runs);
        Ok(runs)
    }

    /// Reads the blocks of directories and notes the inodes that they name.
    fn read_runs(
        &mut self,
        directories: &[u32],
        held: &[Vec<u8>],
        runs: &[DirectoryRun],
        descending: bool,
        fetcher: &mut Fetcher<'_>,
        next: &mut Vec<u32>,
    ) -> Result<(), Ended> {
        let Plan {
            file_system,
            metadata,
            ..
        } = *self.plan;
        let tables = &mut self.tables;
        let mut note = |entry: DirEntry<'_>| {
            if matches!(entry.name, b"." | b"..") {
                return;
            }
            // Without types in directory entries any entry may be a directory; its inode has the
            // type.
            let may_be_directory = matches!(entry.file_type, DIRECTORY | 0);
            let descends = descending && may_be_directory;
            if descends {
                next.push(entry.ino);
            }
            if descends || metadata {
                tables.want(entry.ino);
            }
        };
        let inode_of = |index: usize| -> Option<Inode<'_>> {
            let (ino, raw) = (directories.get(index)?, held.get(index)?);
            file_system.inode(*ino, raw).ok()?
        };
        for index in 0..directories.len() {
            if let Some(inode) = inode_of(index) {
                // Only an inode with inline data has such entries; others return an error.
                let _ = file_system.inline_directory(&inode, &mut note);
            }
        }
        let block_size = u64::from(file_system.superblock().block_size);
        let ranges = places_of(runs, block_size);
        let mut blocks = blocks_of(runs, block_size).peekable();
        fetcher.fetch(&ranges, BlockKind::Directories, |offset, bytes| {
            let end = offset + bytes.len() as u64;
            while let Some((at, logical, index)) = blocks.next_if(|(at, ..)| *at < end) {
                let block = block_at(bytes, offset, at, block_size);
                if let (Some(block), Some(inode)) = (block, inode_of(index)) {
                    // The walk reports a damaged block.
                    let _ = file_system.directory_block(&inode, logical, block, &mut note);
                }
            }
        })
    }
}

/// Returns the byte ranges of runs, sorted and merged with their neighbours.
fn places_of(runs: &[DirectoryRun], block_size: u64) -> Vec<ByteRange> {
    let mut ranges: Vec<_> = runs
        .iter()
        .map(|run| {
            let bytes = u64::from(run.extent.blocks) * block_size;
            ByteRange::new(run.extent.physical * block_size, bytes)
        })
        .collect();
    sort_and_merge(&mut ranges, GAP);
    ranges
}

/// Returns each block of runs: its offset in bytes, its number in its directory, and the index of
/// that directory.
fn blocks_of(runs: &[DirectoryRun], block_size: u64) -> impl Iterator<Item = (u64, u64, usize)> {
    runs.iter().flat_map(move |run| {
        let Extent {
            logical,
            physical,
            blocks,
        } = run.extent;
        (0..u64::from(blocks)).map(move |index| {
            let offset = (physical + index) * block_size;
            (offset, logical + index, run.directory)
        })
    })
}

/// Removes from sorted runs the blocks that an earlier run has. Only a damaged file system has such
/// blocks. It can have so many that reading them all would not end.
fn take_each_block_once(runs: &mut Vec<DirectoryRun>) {
    let mut end = 0_u64;
    runs.retain_mut(|DirectoryRun { extent, .. }| {
        let before = end.saturating_sub(extent.physical);
        let Ok(before) = u32::try_from(before.min(extent.blocks.into())) else {
            return false;
        };
        extent.logical += u64::from(before);
        extent.physical += u64::from(before);
        extent.blocks -= before;
        end = end.max(extent.physical + u64::from(extent.blocks));
        extent.blocks > 0
    });
}

/// Returns the block at `at` of the device, if it lies in `bytes`, which were read from `offset`
/// on.
fn block_at(bytes: &[u8], offset: u64, at: u64, block_size: u64) -> Option<&[u8]> {
    let skip = usize::try_from(at.checked_sub(offset)?).ok()?;
    bytes.get(skip..)?.get(..usize::try_from(block_size).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inodes_are_new_once() {
        let mut seen = Seen::new(64);
        assert!(seen.is_new(64) && seen.is_new(1) && seen.is_new(63));
        assert!(!seen.is_new(64) && !seen.is_new(1) && !seen.is_new(128));
    }

    #[test]
    fn blocks_of_two_directories_are_read_for_the_first() {
        let run = |logical, physical, blocks| DirectoryRun {
            extent: Extent {
                logical,
                physical,
                blocks,
            },
            directory: 0,
        };
        let mut runs = vec![
            run(0, 10, 5),
            run(7, 10, 5),
            run(0, 12, 2),
            run(20, 13, 4),
            run(0, 17, 1),
        ];
        take_each_block_once(&mut runs);
        assert_eq!(runs, [run(0, 10, 5), run(22, 15, 2), run(0, 17, 1)]);
    }
}
