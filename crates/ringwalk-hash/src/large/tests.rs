#![expect(clippy::cast_possible_truncation, reason = "bytes of test data")]

use super::*;
use ringwalk::time_stamps::StampClocks;
use std::os::unix::fs::FileExt as _;
use std::thread;

fn hash(path: &Path, workers: usize) -> Vec<Result<Digest, Fault>> {
    let root = OpenRoot::Working;
    let file = OpenFile::open(&root, path, &StampClocks::default()).unwrap();
    let large = LargeFile::new(file, &root, path);
    let work = || large.work(&mut crate::read::ReadBuffer::default());
    thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .filter_map(|thread| thread.join().unwrap())
            .collect()
    })
}

#[test]
fn any_number_of_workers_gives_one_result() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let piece: Vec<u8> = (0..PIECE).map(|at| ((at * at) >> 7) as u8).collect();
    // The last piece is short; the file has a hole; and in a page cache that was emptied it is read
    // past it.
    let size = 40 * PIECE + 4097;
    for at in (0..40).filter(|at| *at != 7) {
        file.as_file()
            .write_all_at(&piece, at * PIECE + at)
            .unwrap();
    }
    file.as_file().set_len(size).unwrap();
    let expected: [u8; 32] = blake3::hash(&std::fs::read(file.path()).unwrap()).into();
    for is_cold in [false, true] {
        for workers in [1, 3] {
            if is_cold {
                file.as_file().sync_all().unwrap();
                rustix::fs::fadvise(file.as_file(), 0, None, rustix::fs::Advice::DontNeed).unwrap();
            }
            assert_eq!(
                hash(file.path(), workers),
                [Ok(expected.into())],
                "{is_cold} {workers}"
            );
        }
    }
}

#[test]
fn a_file_that_shrinks_has_changed() {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(4 * PIECE).unwrap();
    let root = OpenRoot::Working;
    let open = OpenFile::open(&root, file.path(), &StampClocks::default()).unwrap();
    let large = LargeFile::new(open, &root, file.path());
    file.as_file().set_len(2 * PIECE).unwrap();
    let result = large.work(&mut crate::read::ReadBuffer::default());
    assert_eq!(result, Some(Err(Fault::Changed)));
    assert!(large.is_taken());
    assert_eq!(large.work(&mut crate::read::ReadBuffer::default()), None);
}
