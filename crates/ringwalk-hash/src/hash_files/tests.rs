#![expect(clippy::cast_possible_truncation, reason = "bytes of test data")]

use super::*;
use crate::sequence::WINDOW;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn results_come_in_the_order_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let contents = |at: usize| {
        vec![at as u8; (at * 37) % 5000 + if at.is_multiple_of(500) { 5 << 20 } else { 0 }]
    };
    let files = 2000;
    for at in (0..files).filter(|at| at % 7 != 3) {
        fs::write(folder.path().join(at.to_string()), contents(at)).unwrap();
    }
    let root = Arc::new(OpenRoot::open(folder.path()).unwrap());
    for algorithm in [Algorithm::Blake3, Algorithm::Sha256] {
        let list = (0..files).map(|at| FileToHash {
            root: Arc::clone(&root),
            path: at.to_string().into(),
            // Not the order of the files.
            ino: (at * 7919 % files) as u64,
            only: None,
            context: at,
        });
        let mut results = Vec::new();
        hash_files(list, &HashOptions::new(algorithm, None), |hashed| {
            results.append(hashed);
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(results.len(), files);
        for (at, (context, result)) in results.into_iter().enumerate() {
            assert_eq!(context, at);
            if at % 7 == 3 {
                assert_eq!(result.unwrap_err(), Fault::Open(ringwalk::Errno::NOENT));
                continue;
            }
            let mut hasher = Hasher::new(algorithm);
            hasher.update(&contents(at));
            assert_eq!(result, Ok(hasher.finish()), "{at}");
        }
    }
}

#[test]
fn it_ends_when_the_caller_has_enough() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let asked = AtomicUsize::new(0);
    let endless = std::iter::repeat_with(|| {
        asked.fetch_add(1, Ordering::Relaxed);
        FileToHash {
            root: Arc::new(OpenRoot::Working),
            path: file.path().to_owned(),
            ino: 0,
            only: None,
            context: (),
        }
    });
    let mut calls = 0;
    let mut given = 0;
    hash_files(endless, &HashOptions::default(), |hashed| {
        assert!(hashed.iter().all(|((), result)| result.is_ok()));
        calls += 1;
        given += hashed.len() as u64;
        if calls == 10 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })
    .unwrap();
    assert_eq!(calls, 10);
    // Files that workers were at when it ended may still make room for as many.
    let most = given + WINDOW + 2 * crate::MOST as u64;
    assert!(asked.into_inner() as u64 <= most);
}

#[test]
fn another_file_at_the_path_has_no_hash() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let open = OpenFile::open(&OpenRoot::Working, file.path(), &StampClocks::default()).unwrap();
    let (dev, ino) = (open.version().dev, open.version().ino);
    let of = |only| FileToHash {
        root: Arc::new(OpenRoot::Working),
        path: file.path().to_owned(),
        ino,
        only: Some(only),
        context: (),
    };
    let list = [(dev, ino), (dev, ino + 1), (dev + 1, ino)].map(of);
    let mut results = Vec::new();
    hash_files(list.into_iter(), &HashOptions::default(), |hashed| {
        results.extend(hashed.drain(..).map(|((), result)| result));
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(results[0].is_ok());
    assert_eq!(results[1..], [Err(Fault::Changed); 2]);
}

#[test]
fn files_of_procfs_have_contents() {
    let digest = hash_file(
        &OpenRoot::Working,
        Path::new("/proc/version"),
        Algorithm::Sha256,
    );
    let mut hasher = Hasher::new(Algorithm::Sha256);
    hasher.update(&fs::read("/proc/version").unwrap());
    assert_eq!(digest, Ok(hasher.finish()));
}
