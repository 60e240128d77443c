//! Rules for the sources of a walk. They depend only on their arguments.

use crate::sources::registry::SourceChoice;
use crate::sources::volume::Refused;
use crate::sources::ways::{FileSystemSource, OpenInventory, Way};
use crate::system::privilege;
use crate::walk::options::Options;
use crate::walk::settings::Order;
use ringwalk_sys::magic;
use std::os::fd::AsFd;

/// The most roots that `auto` examines: the roots of `du *` are many and small.
const MOST_ROOTS: usize = 64;

/// `auto` looks for a better source after this many entries. A directory counts for
/// [`DIRECTORY_WORTH`]: opening one takes about as long as asking for the metadata of 200 files.
const WORTH: u64 = 2000;

/// How many entries a directory counts for.
const DIRECTORY_WORTH: u64 = 4;

/// Returns true if a worker has seen enough to make it worth looking for a better source.
#[inline]
pub(super) fn is_worth_a_look(entries: u64, directories: u64) -> bool {
    entries + directories * DIRECTORY_WORTH >= WORTH
}

/// Returns true if volumes can serve a walk of this kind. System calls serve the others: they act
/// on open directories, or want a certain order, and system calls open each directory in any case.
pub(crate) fn may_use_volumes(options: &Options) -> bool {
    if options.parents_open || options.preorder || options.order == Order::Name {
        return false;
    }
    if options.is_partial() {
        // The next walk continues through the VFS, where a position on a volume is not valid.
        return false;
    }
    match options.source.way() {
        Way::Choice => options.roots.len() <= MOST_ROOTS && options.max_depth > 0,
        Way::FileSystem(_) => true,
        Way::SystemCalls | Way::Kernel(_) => false,
    }
}

/// Returns true if a volume that can list directories may do so: it lists them in its own order.
#[inline]
pub(crate) fn may_list(options: &Options) -> bool {
    options.order == Order::Any
}

/// Declines file systems that `auto` does not read past the VFS, because privileges are missing.
pub(crate) fn check_privilege(choice: SourceChoice) -> Result<(), Refused> {
    if choice == SourceChoice::Auto && !privilege::may_read_everything() {
        return Err(Refused::because(
            "CAP_DAC_READ_SEARCH is missing: auto reads past the VFS only what system calls would read as well",
        ));
    }
    Ok(())
}

/// Declines file systems for which `auto` has no source, without reading the mount table, which can
/// be long.
pub(crate) fn check_type(choice: SourceChoice, directory: impl AsFd) -> Result<(), Refused> {
    if choice != SourceChoice::Auto {
        return Ok(());
    }
    let found = magic::of(directory).map_err(|errno| {
        Refused::because(format!("the type of its file system is unknown: {errno}"))
    })?;
    if of_file_systems().any(|(_, source)| source.magic == found) {
        return Ok(());
    }
    Err(Refused::because(
        "nothing better is known for its file system",
    ))
}

/// Returns the source of a walk over a mounted file system of this type.
///
/// # Errors
///
/// If that source is not the one that was asked for, or there is none.
pub(crate) fn for_walk(
    choice: SourceChoice,
    file_system: &str,
) -> Result<(SourceChoice, &'static FileSystemSource), Refused> {
    serving(choice, file_system).ok_or_else(|| not_on(choice, file_system))
}

/// Declines a source that `auto` does not choose for a walk.
pub(crate) fn check_auto(choice: SourceChoice, source: &FileSystemSource) -> Result<(), Refused> {
    match source.declined_by_auto {
        Some(why) if choice == SourceChoice::Auto => Err(Refused::because(why)),
        _ => Ok(()),
    }
}

/// Returns the source of an inode sweep of a file system of this type, and how to open it.
///
/// # Errors
///
/// If that source is not the one that was asked for, or there is none.
pub(crate) fn for_sweep(
    choice: SourceChoice,
    file_system: &str,
) -> Result<(SourceChoice, OpenInventory), Refused> {
    serving(choice, file_system)
        .and_then(|(name, source)| Some((name, source.open_inventory?)))
        .ok_or_else(|| Refused::because(format!("it is on {file_system}")))
}

/// Declines inode sweeps if the caller wants system calls only.
pub(crate) fn check_sweep(choice: SourceChoice) -> Result<(), Refused> {
    if choice == SourceChoice::Syscall {
        return Err(Refused::because("system calls were asked for"));
    }
    Ok(())
}

/// Returns the source that reads file systems of this type, if it is the one that was asked for.
fn serving(
    choice: SourceChoice,
    file_system: &str,
) -> Option<(SourceChoice, &'static FileSystemSource)> {
    of_file_systems()
        .filter(|(name, _)| choice == SourceChoice::Auto || choice == *name)
        .find(|(name, _)| name.file_systems().contains(&file_system))
}

/// Returns the sources that read file systems past the VFS.
fn of_file_systems() -> impl Iterator<Item = (SourceChoice, &'static FileSystemSource)> {
    SourceChoice::ALL
        .iter()
        .filter_map(|name| Some((*name, name.file_system_source()?)))
}

/// Returns why a source does not read this file system.
fn not_on(choice: SourceChoice, file_system: &str) -> Refused {
    if choice == SourceChoice::Auto {
        return Refused::because(format!("nothing better is known for {file_system}"));
    }
    Refused::because(format!("it is on {file_system}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name<T>(found: Result<(SourceChoice, T), Refused>) -> Result<&'static str, String> {
        found
            .map(|(source, _)| source.as_str())
            .map_err(|why| why.to_string())
    }

    #[test]
    fn auto_takes_the_source_of_the_file_system() {
        let auto = SourceChoice::Auto;
        let walk = |file_system| {
            name(
                for_walk(auto, file_system)
                    .and_then(|(name, source)| check_auto(auto, source).map(|()| (name, source))),
            )
        };
        for file_system in ["ext2", "ext3", "ext4"] {
            assert_eq!(walk(file_system), Ok("ext4"));
        }
        assert_eq!(walk("btrfs"), Ok("btrfs"));
        assert!(walk("xfs").unwrap_err().contains("faster, not a walk"));
        assert_eq!(
            walk("tmpfs").unwrap_err(),
            "nothing better is known for tmpfs"
        );
        for file_system in ["ext4", "xfs", "btrfs"] {
            let sweep = name(for_sweep(SourceChoice::Auto, file_system));
            assert_eq!(sweep, Ok(file_system));
        }
    }

    #[test]
    fn a_name_reads_its_own_file_systems_only() {
        for choice in SourceChoice::ALL.iter().copied() {
            if choice == SourceChoice::Auto {
                continue;
            }
            for file_system in ["ext3", "xfs", "btrfs", "tmpfs"] {
                let reads = choice.file_systems().contains(&file_system);
                let expected = if reads {
                    Ok(choice.as_str())
                } else {
                    Err(format!("it is on {file_system}"))
                };
                assert_eq!(name(for_walk(choice, file_system)), expected);
                assert_eq!(name(for_sweep(choice, file_system)), expected);
            }
        }
    }

    #[test]
    fn a_directory_counts_for_four_entries() {
        assert_eq!(
            [(1999, 0), (0, 499), (1996, 1), (4000, 0)].map(|(e, d)| is_worth_a_look(e, d)),
            [false, false, true, true]
        );
    }
}
