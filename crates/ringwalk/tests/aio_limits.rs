//! More directories than there may be descriptors. A program of its own, as the limit is the process's.

use futures_lite::future::block_on;
use ringwalk::aio::Dir;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const DIRECTORIES: usize = 10_000;

#[test]
fn ten_thousand_directories_and_few_descriptors() {
    let limit = Rlimit {
        current: Some(1000),
        ..getrlimit(Resource::Nofile)
    };
    setrlimit(Resource::Nofile, limit).unwrap();
    let tree = tempfile::tempdir().unwrap();
    for number in 0..DIRECTORIES {
        std::fs::create_dir(tree.path().join(number.to_string())).unwrap();
    }
    block_on(async {
        let root = Dir::open(tree.path()).await.unwrap();
        let mut waiting: Vec<_> = (0..DIRECTORIES).collect();
        let (mut seen, mut rounds) = (0, 0);
        while !waiting.is_empty() {
            rounds += 1;
            let (mut open, mut refused) = (Vec::new(), Vec::new());
            for number in waiting {
                let path = number.to_string();
                // With and without something to read along.
                let opening = root.open_at(&path);
                let opened = if number % 2 == 0 {
                    opening.read_ahead().await
                } else {
                    opening.await
                };
                match opened {
                    Ok(dir) => open.push(dir),
                    Err(error) => {
                        let said = error.to_string();
                        assert!(said.contains("Too many open files"), "{said}");
                        assert!(said.contains(&format!("/{path}\"")), "{said}");
                        refused.push(number);
                    }
                }
            }
            assert!((800..1000).contains(&open.len()) || refused.is_empty());
            for mut dir in open {
                assert!(dir.next().await.is_none(), "it is empty");
                dir.close().await.unwrap();
                seen += 1;
            }
            waiting = refused;
        }
        assert_eq!(seen, DIRECTORIES);
        assert!((10..14).contains(&rounds), "{rounds}");
    });
}
