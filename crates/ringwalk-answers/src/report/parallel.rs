//! Reading pieces of rows concurrently, and taking the results in the order of the rows.
//!
//! Pieces are row groups. They are read in waves, and the results of a wave are taken in their
//! order before the next wave begins. So the results do not depend on the number of threads, and
//! only the results of one wave are in memory.

use ringwalk_snapshot::{ReadError, Snapshot};
use ringwalk_sys::sync::lock;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Pieces of a wave for each thread. More of them keep the threads busier at the end of a wave.
const PIECES: usize = 8;

/// Calls `read` with each piece of `ranges`, by several threads, and `take` with the results in the
/// order of the rows.
///
/// # Errors
///
/// The first error of `read`.
pub(super) fn for_each_wave<T: Send>(
    snapshot: &Snapshot,
    ranges: &[Range<u64>],
    threads: NonZeroUsize,
    read: impl Fn(Range<u64>) -> Result<T, ReadError> + Sync,
    mut take: impl FnMut(T),
) -> Result<(), ReadError> {
    let pieces = pieces(snapshot, ranges);
    for wave in pieces.chunks(threads.get() * PIECES) {
        for result in read_wave(wave, threads, &read) {
            take(result?);
        }
    }
    Ok(())
}

/// Returns the ranges, divided at the row groups.
fn pieces(snapshot: &Snapshot, ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let groups = snapshot.row_groups();
    let mut pieces = Vec::new();
    for range in ranges {
        for group in groups {
            let piece = range.start.max(group.start)..range.end.min(group.end);
            if !piece.is_empty() {
                pieces.push(piece);
            }
        }
    }
    pieces
}

fn read_wave<T: Send>(
    wave: &[Range<u64>],
    threads: NonZeroUsize,
    read: &(impl Fn(Range<u64>) -> Result<T, ReadError> + Sync),
) -> Vec<Result<T, ReadError>> {
    let threads = threads.get().min(wave.len());
    if threads <= 1 {
        return wave.iter().cloned().map(read).collect();
    }
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<_>> = Mutex::new(Vec::with_capacity(wave.len()));
    let work = || {
        while let Some(piece) = wave.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = read(piece.clone());
            lock(&results).push((piece.start, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // If no thread can be started, the others do its work.
            let _ = std::thread::Builder::new()
                .name("report".to_owned())
                .spawn_scoped(scope, work);
        }
        work();
    });
    let mut results = std::mem::take(&mut *lock(&results));
    results.sort_unstable_by_key(|(start, _)| *start);
    results.into_iter().map(|(_, result)| result).collect()
}
