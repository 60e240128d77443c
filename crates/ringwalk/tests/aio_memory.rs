//! The memory of open directories. This is a program of its own, because it measures the whole
//! process.

use futures_lite::future::block_on;
use ringwalk::aio::Dir;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Returns the anonymous memory of this process in bytes.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.unwrap().parse::<usize>().unwrap() * 1024
}

#[test]
fn an_open_directory_costs_less_than_a_kibibyte() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum.or(limit.current),
        ..limit
    };
    setrlimit(Resource::Nofile, raised).unwrap();
    let most = raised.current.map_or(4000, |most| most.min(4000));
    let count = usize::try_from(most).unwrap() - 100;
    let tree = tempfile::tempdir().unwrap();
    for number in 0..100 {
        std::fs::write(tree.path().join(number.to_string()), "").unwrap();
    }
    block_on(async {
        let mut open = Vec::with_capacity(count);
        // The threads and their arenas exist after this.
        for _ in 0..count / 10 {
            open.push(Dir::open(tree.path()).await.unwrap());
        }
        let before = memory();
        while open.len() < count {
            open.push(Dir::open(tree.path()).await.unwrap());
        }
        let each = (memory() - before) / (count - count / 10);
        assert!(each < 1024, "{each} bytes");
        assert!(size_of::<Dir>() < 512, "{} bytes", size_of::<Dir>());
        // Directories that were read to their end keep no buffers.
        for dir in &mut open {
            while let Some(entry) = dir.next().await {
                entry.unwrap();
            }
        }
        let each = (memory() - before) / (count - count / 10);
        assert!(each < 1024, "{each} bytes after reading");
        // Directories with a read under way, or read ahead, have one buffer each, and no more.
        for dir in &mut open {
            dir.rewind();
            dir.next().await.unwrap().unwrap();
        }
        let each = (memory() - before) / (count - count / 10);
        assert!(each < 40 * 1024, "{each} bytes while reading");
    });
}
