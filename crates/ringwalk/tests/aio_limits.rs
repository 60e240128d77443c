//! More directories than the process may have descriptors. This is a program of its own, because
//! the limit belongs to the process.

use futures_lite::future::block_on;
use ringwalk::aio::{Dir, Open};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::Poll;

const DIRECTORIES: usize = 10_000;
/// The number of directories, each of which is opened many times.
const DISTINCT: usize = 100;
const LIMIT: usize = 1000;

/// The number of directories opened at the same time.
const TOGETHER: usize = 30;

/// Polls all of these at the same time.
async fn open_all(mut opening: Vec<Open>) -> Vec<io::Result<Dir>> {
    let mut opened: Vec<_> = opening.iter().map(|_| None).collect();
    poll_fn(|cx| {
        for (open, opened) in opening.iter_mut().zip(&mut opened) {
            if opened.is_none()
                && let Poll::Ready(result) = Pin::new(open).poll(cx)
            {
                *opened = Some(result);
            }
        }
        let all = opened.iter().all(Option::is_some);
        if all { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    opened.into_iter().flatten().collect()
}

#[test]
fn ten_thousand_directories_and_few_descriptors() {
    let limit = Rlimit {
        current: Some(LIMIT as u64),
        ..getrlimit(Resource::Nofile)
    };
    setrlimit(Resource::Nofile, limit).unwrap();
    let tree = tempfile::tempdir().unwrap();
    for number in 0..DISTINCT {
        std::fs::create_dir(tree.path().join(number.to_string())).unwrap();
    }
    block_on(async {
        let root = Dir::open(tree.path()).await.unwrap();
        let mut waiting: Vec<_> = (0..DIRECTORIES).collect();
        let (mut seen, mut rounds) = (0, 0);
        while !waiting.is_empty() {
            rounds += 1;
            let later = waiting.split_off(waiting.len().min(LIMIT + 100));
            // With and without entries to read along.
            let opening = waiting.iter().map(|number| {
                let open = root.open_at((number % DISTINCT).to_string());
                if number % 2 == 0 {
                    open.read_ahead()
                } else {
                    open
                }
            });
            let mut opened = Vec::new();
            let mut opening: Vec<_> = opening.collect();
            while !opening.is_empty() {
                let some = opening.drain(..opening.len().min(TOGETHER));
                opened.append(&mut open_all(some.collect()).await);
            }
            let (mut open, mut refused) = (Vec::new(), Vec::new());
            for (number, result) in waiting.into_iter().zip(opened) {
                match result {
                    Ok(dir) => open.push((number, dir)),
                    Err(error) => {
                        let said = error.to_string();
                        assert!(said.contains("Too many open files"), "{said}");
                        assert!(
                            said.contains(&format!("/{}\"", number % DISTINCT)),
                            "{said}"
                        );
                        refused.push(number);
                    }
                }
            }
            let most = LIMIT - 200..LIMIT;
            assert!(most.contains(&open.len()) || later.is_empty());
            seen += open.len();
            // Directories that are open go on working, and give their descriptors back.
            for (number, mut dir) in open {
                if number % 2 == 0 {
                    assert!(dir.next().await.is_none(), "it is empty");
                } else if number % 9 == 0 {
                    dir.close().await.unwrap();
                }
            }
            refused.extend(later);
            waiting = refused;
        }
        assert_eq!(seen, DIRECTORIES);
        assert!((10..14).contains(&rounds), "{rounds}");
    });
}
