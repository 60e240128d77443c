//! Sizes of directories in files of gdu.
//!
//! Since August 2026 gdu gives a directory the sum of its whole tree as its size (its pull request
//! 603, <https://github.com/dundee/gdu/pull/603>); before, it gave none. A snapshot needs the part
//! of that sum that is not in the listed entries: the directory's own size, and the files that gdu
//! did not list (`--depth`, `--summarize`).
//!
//! gdu counts a file with several names in the sum of one directory that has one of the names.
//! gdu's file does not say in which directory. Here the file counts in the directory that ends
//! first. So the sum of that directory may be too small for its entries, and the sum of a later
//! directory is larger by the same amount. The missing bytes are taken from later directories, so
//! the sum of the whole tree is always the same as in gdu's file.

use std::collections::HashSet;

use super::item::Fields;

/// `asize` and `dsize`.
type Both<T> = [T; 2];

/// Finds the own sizes of directories, which are given depth first.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    open: Vec<Open>,
    /// Inode numbers of files with several names that were counted.
    counted: HashSet<u64>,
    /// The bytes by which sums of directories were too small, and which no later directory has
    /// compensated.
    lacking: Both<u64>,
}

#[derive(Debug)]
struct Open {
    given: Both<Option<u64>>,
    /// The sum of what the directory lists, without files with several names.
    listed: Both<u64>,
    /// The files with several names: inode number and sizes.
    links: Vec<(u64, Both<u64>)>,
}

impl Totals {
    /// Begins a directory.
    pub(crate) fn begin(&mut self, fields: &Fields) {
        self.open.push(Open {
            given: [fields.asize, fields.dsize],
            listed: [0; 2],
            links: Vec::new(),
        });
    }

    /// Adds a file to the directory that began last.
    pub(crate) fn file(&mut self, fields: &Fields) {
        let Some(directory) = self.open.last_mut() else {
            return;
        };
        let sizes = [fields.asize, fields.dsize].map(Option::unwrap_or_default);
        match fields.ino {
            Some(ino) if fields.hlnkc => directory.links.push((ino, sizes)),
            _ => add(&mut directory.listed, sizes),
        }
    }

    /// Ends a directory. Returns its own sizes.
    pub(crate) fn end(&mut self) -> Both<u64> {
        let Some(mut directory) = self.open.pop() else {
            return [0; 2];
        };
        for (ino, sizes) in directory.links {
            if self.counted.insert(ino) {
                add(&mut directory.listed, sizes);
            }
        }
        let (mut own, mut whole) = ([0; 2], directory.listed);
        for (at, total) in directory.given.into_iter().enumerate() {
            let Some(total) = total else { continue };
            whole[at] = total;
            let needed = directory.listed[at].saturating_add(self.lacking[at]);
            own[at] = total.saturating_sub(needed);
            self.lacking[at] = needed.saturating_sub(total);
        }
        if let Some(parent) = self.open.last_mut() {
            add(&mut parent.listed, whole);
        }
        own
    }
}

fn add(sum: &mut Both<u64>, sizes: Both<u64>) {
    for (sum, size) in sum.iter_mut().zip(sizes) {
        *sum = sum.saturating_add(size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(size: u64) -> Fields {
        Fields {
            asize: Some(size),
            dsize: Some(2 * size),
            ..Fields::default()
        }
    }

    fn link(ino: u64, size: u64) -> Fields {
        Fields {
            ino: Some(ino),
            hlnkc: true,
            ..fields(size)
        }
    }

    #[test]
    fn the_own_size_is_what_the_entries_leave() {
        let mut totals = Totals::default();
        totals.begin(&fields(100));
        totals.file(&fields(20));
        totals.begin(&fields(70));
        totals.file(&fields(60));
        assert_eq!(totals.end(), [10, 20]);
        assert_eq!(totals.end(), [10, 20]);
    }

    #[test]
    fn a_directory_without_its_entries_keeps_the_sum() {
        let mut totals = Totals::default();
        totals.begin(&fields(100));
        totals.begin(&fields(70));
        assert_eq!(totals.end(), [70, 140]);
        assert_eq!(totals.end(), [30, 60]);
    }

    #[test]
    fn a_directory_without_a_sum_has_no_size() {
        let mut totals = Totals::default();
        totals.begin(&Fields {
            dsize: None,
            ..fields(100)
        });
        totals.begin(&Fields::default());
        totals.file(&fields(60));
        assert_eq!(totals.end(), [0, 0]);
        assert_eq!(totals.end(), [40, 0]);
    }

    /// Each directory has both links and 4096 bytes of its own. gdu counts a link in any of them.
    #[test]
    fn a_file_with_several_names_counts_once_wherever_gdu_counted_it() {
        let (one, other) = (1_000, 1_000_000);
        for counted in [[0, 0], [0, 1], [1, 0], [1, 1]] {
            let mut totals = Totals::default();
            totals.begin(&fields(3 * 4096 + one + other));
            let mut own = 0;
            for directory in 0..2 {
                let sizes = [one, other].into_iter().zip(counted);
                let inside = sizes.filter(|(_, at)| *at == directory);
                totals.begin(&fields(4096 + inside.map(|(size, _)| size).sum::<u64>()));
                totals.file(&link(1, one));
                totals.file(&link(2, other));
                own += totals.end()[0];
            }
            own += totals.end()[0];
            assert_eq!(own, 3 * 4096, "{counted:?}");
        }
    }

    #[test]
    fn sums_that_cannot_be_are_no_panic() {
        let mut totals = Totals::default();
        totals.begin(&fields(5));
        totals.file(&fields(u64::MAX / 2));
        totals.file(&fields(u64::MAX / 2));
        assert_eq!(totals.end(), [0, 0]);
        assert_eq!(totals.end(), [0, 0]);
        totals.file(&fields(1));
    }
}
