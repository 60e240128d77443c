//! The allowance, with directories closed and found again.

use super::*;
use crate::visit::dir::Origin;
use ringwalk_sys::DirectoryFd;
use rustix::io::Errno;

fn open_root(path: &std::path::Path) -> (Arc<Dir<()>>, Arc<DirectoryFd>) {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::CString::new(path.as_os_str().as_bytes()).unwrap();
    let fd = open_directory(CWD, &*name, false).unwrap();
    let origin = Origin::RootPath { follow: false };
    (Arc::new(Dir::root(&name, 0, 0, origin, ())), fd)
}

/// Entries were lost when one worker closed a directory while another looked for it.
#[test]
fn a_directory_that_is_closed_meanwhile_is_found_again() {
    let path = tempfile::tempdir().unwrap();
    let descriptors = Descriptors::new(&Options::new(Vec::new()), false);
    let mut lost = 0;
    for _ in 0..40 {
        let dirs: Vec<_> = (0..400).map(|_| open_root(path.path())).collect();
        for (dir, fd) in &dirs {
            descriptors.expect_children(dir, 1, Some(fd));
        }
        // Both threads come to each directory at the same time.
        let turn = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for (index, (dir, _)) in dirs.iter().enumerate() {
                    while turn.load(Ordering::Relaxed) < index {
                        std::hint::spin_loop();
                    }
                    descriptors.close(dir);
                }
            });
            for (index, (dir, _)) in dirs.iter().enumerate() {
                turn.store(index, Ordering::Relaxed);
                lost += (0..100).filter(|_| descriptors.get(dir).is_err()).count();
            }
        });
        while descriptors.close_oldest() {}
    }
    assert_eq!(lost, 0);
}

/// One worker opens the last child that was announced. Another announces more before the first has
/// closed the directory, which was then opened again without need.
#[test]
fn a_directory_of_which_more_is_announced_meanwhile_stays_open() {
    let path = tempfile::tempdir().unwrap();
    let descriptors = Descriptors::new(&Options::new(Vec::new()), false);
    let (dir, fd) = open_root(path.path());
    descriptors.expect_children(&dir, 1, Some(&fd));
    descriptors.close_if_done(&dir);
    assert!(dir.slot.is_held());
    descriptors.child_opened(&dir);
    assert!(!dir.slot.is_held());
    assert_eq!(descriptors.reopened(), 0);
}

#[test]
fn a_directory_that_was_replaced_is_not_found_again() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("dir");
    std::fs::create_dir(&path).unwrap();
    let descriptors = Descriptors::new(&Options::new(Vec::new()), false);
    let (dir, fd) = open_root(&path);
    descriptors.expect_children(&dir, 1, Some(&fd));
    assert!(descriptors.close_oldest());
    assert!(descriptors.get(&dir).is_ok());
    assert_eq!(descriptors.reopened(), 1);
    assert!(descriptors.close_oldest());
    std::fs::rename(&path, parent.path().join("aside")).unwrap();
    std::fs::create_dir(&path).unwrap();
    let failure = descriptors.get(&dir).unwrap_err();
    assert_eq!((failure.errno, failure.is_race()), (Errno::NOENT, true));
}

#[test]
fn a_reserve_of_everything_leaves_no_room() {
    let allowance = DescriptorAllowance::new(Some(usize::MAX), false);
    allowance.take_anyway(1);
    assert_eq!(allowance.room(), 0);
}
