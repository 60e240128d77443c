//! What remains of huge directories, divided among several tasks.

use ringwalk::{Leftover, Remaining, Root, divide, list_names};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// If one task has read so many entries of a directory, the directory usually has many more. On a
/// server with 2 ms a request and 32 in flight, the first task reads 4000 in its quarter second.
const HUGE: u64 = 2000;
/// The parts of a directory whose positions can be divided.
const PARTS: NonZeroUsize = NonZeroUsize::new(8).unwrap();
/// The most names of one leftover, which is as much work as a directory with so many files.
const NAMES: NonZeroUsize = NonZeroUsize::new(1000).unwrap();
/// The most names that a task lists at its end. The rest is a leftover of its own.
const MOST_NAMES: usize = 1_000_000;

/// A leftover that is to be written.
pub(super) struct Share {
    pub(super) leftover: Leftover,
    /// True if it is a share of a huge directory, and work enough for a task.
    pub(super) is_big: bool,
}

/// Divides the leftovers of huge directories, and long lists of names. The others stay as they are.
pub(super) fn divided(roots: &[PathBuf], leftovers: Vec<Leftover>) -> Vec<Share> {
    let mut shares = Vec::with_capacity(leftovers.len());
    let mut names = MOST_NAMES;
    for leftover in leftovers {
        let is_rest = |leftover: &Leftover| matches!(leftover.remaining, Remaining::From { .. });
        let is_huge = is_rest(&leftover) && leftover.read >= HUGE;
        let several = if is_huge {
            let root = Root::from(roots[leftover.root].as_path());
            // If the directory cannot be divided, the next task goes on with all of it.
            parts(&root, &leftover, &mut names).unwrap_or_else(|| vec![leftover])
        } else {
            lists(leftover)
        };
        shares.extend(several.into_iter().map(|leftover| Share {
            is_big: is_huge && is_rest(&leftover),
            leftover,
        }));
    }
    shares
}

/// Divides a leftover that is a long list of names.
fn lists(mut leftover: Leftover) -> Vec<Leftover> {
    let Remaining::Names(names) = &mut leftover.remaining else {
        return vec![leftover];
    };
    let names = std::mem::take(names);
    let lists = names.chunks(NAMES.get()).map(|names| Leftover {
        remaining: Remaining::Names(names.to_vec()),
        ..leftover.clone()
    });
    lists.collect()
}

/// Returns the parts of one leftover; `None` if it cannot be divided. The reason does not matter
/// here: the task that goes on with the leftover reports what is wrong with it.
fn parts(root: &Root, leftover: &Leftover, names: &mut usize) -> Option<Vec<Leftover>> {
    if let Some(parts) = divide(root, leftover, PARTS).ok()? {
        return Some(parts);
    }
    let most = NonZeroUsize::new(*names)?;
    let listed = list_names(root, leftover, NAMES, most).ok()?;
    let number = |leftover: &Leftover| match &leftover.remaining {
        Remaining::Names(names) => names.len(),
        _ => 0,
    };
    *names = names.saturating_sub(listed.iter().map(number).sum());
    // An empty list: nothing remains.
    Some(listed)
}
