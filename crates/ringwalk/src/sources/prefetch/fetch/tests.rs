//! Unit tests of `fetch.rs`.

use super::*;

const PLENTY: PrefetchBounds = PrefetchBounds {
    bytes: u64::MAX,
    inodes: u64::MAX,
};

/// Returns the byte at `offset`: the number of its block.
fn number_of(offset: u64) -> u8 {
    (offset / 4096).to_le_bytes()[0]
}

fn file_of(length: u64) -> File {
    let file = tempfile::tempfile().unwrap();
    let bytes: Vec<u8> = (0..length).map(number_of).collect();
    file.write_all_at(&bytes, 0).unwrap();
    file
}

fn fetched(fetcher: &mut Fetcher<'_>, ranges: &[(u64, u64)]) -> (Vec<(u64, u64)>, bool) {
    let ranges: Vec<_> = ranges.iter().map(|&(s, l)| ByteRange::new(s, l)).collect();
    let mut pieces = Vec::new();
    let all = fetcher.fetch(&ranges, BlockKind::Inodes, |offset, bytes| {
        assert!(
            (offset..)
                .zip(bytes)
                .all(|(at, byte)| *byte == number_of(at))
        );
        pieces.push((offset, bytes.len() as u64));
    });
    (pieces, all.is_ok())
}

#[test]
fn pieces_come_in_order_without_those_that_cannot_be_read() {
    let file = file_of(1 << 20);
    let stop = AtomicBool::new(false);
    let mut fetcher = Fetcher::new(&file, &stop, PLENTY, 256);
    let ranges = [(4096, 4096), (PIECE, 2 * PIECE + 8192), (9 << 20, 4096)];
    let expected = [
        (4096, 4096),
        (PIECE, PIECE),
        (2 * PIECE, PIECE),
        (3 * PIECE, 8192),
    ];
    let (pieces, all) = fetched(&mut fetcher, &ranges);
    assert_eq!((pieces.as_slice(), all), (expected.as_slice(), true));
    assert_eq!(fetcher.inode_bytes, 4096 + 2 * PIECE + 8192 + 4096);
    assert!(!fetcher.bounded);
    // More pieces than are advised at a time.
    let many: Vec<_> = (0..1000).map(|at| (at % 250 * 4096, 4096)).collect();
    assert_eq!(fetched(&mut fetcher, &many), (many.clone(), true));
}

#[test]
fn bounds_end_it() {
    let file = file_of(1 << 20);
    let stop = AtomicBool::new(false);
    let ranges = [(0, 4096), (8192, 4096), (16384, 4096)];
    let bounds = PrefetchBounds {
        bytes: 8192,
        inodes: u64::MAX,
    };
    let mut fetcher = Fetcher::new(&file, &stop, bounds, 256);
    let expected = (vec![(0, 4096), (8192, 4096)], false);
    assert_eq!(fetched(&mut fetcher, &ranges), expected);
    assert!(fetcher.bounded);
    let bounds = PrefetchBounds {
        bytes: u64::MAX,
        inodes: 33,
    };
    let mut fetcher = Fetcher::new(&file, &stop, bounds, 256);
    assert_eq!(fetched(&mut fetcher, &ranges), expected);
    stop.store(true, Ordering::Relaxed);
    let mut fetcher = Fetcher::new(&file, &stop, PLENTY, 256);
    assert_eq!(fetched(&mut fetcher, &ranges), (vec![], false));
    assert!(!fetcher.bounded);
}
