//! The changes as people read them: a directory that was added or removed as a whole is one line.

use super::Diff;
use super::change::{Change, Kind};
use super::version::{Place, Version};
use ringwalk::FileType;
use std::collections::{HashMap, HashSet};

/// A change, or a directory that was added or removed with files below it.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// The change of the file, or of the directory.
    pub change: &'a Change,
    /// Growth, also of the files below the directory.
    pub growth: i64,
    /// The files below the directory that were added or removed with it.
    pub below: u64,
}

impl Diff {
    /// Returns the changes, largest growth first, then by path.
    pub fn by_growth(&self) -> Vec<&Change> {
        let mut changes: Vec<&Change> = self.changes.iter().collect();
        changes.sort_by(|a, b| {
            let by_growth = b.growth.cmp(&a.growth);
            by_growth.then_with(|| a.version().place().cmp(&b.version().place()))
        });
        changes
    }

    /// Returns the lines for people, largest growth first, then by path.
    pub fn lines(&self) -> Vec<Line<'_>> {
        let mut lines: Vec<Line<'_>> = Vec::new();
        let whole = [self.whole(Kind::Added), self.whole(Kind::Removed)];
        let mut at: HashMap<(Kind, Place<'_>), usize> = HashMap::new();
        // A directory comes after its contents, so the order is reversed.
        for change in self.changes.iter().rev() {
            let whole = match change.kind {
                Kind::Added => &whole[0],
                Kind::Removed => &whole[1],
                _ => &HashSet::new(),
            };
            let version = change.version();
            let top = top(version, whole).and_then(|top| at.get(&(change.kind, top)));
            if let Some(line) = top {
                let line = &mut lines[*line];
                line.growth = line.growth.saturating_add(change.growth);
                line.below += 1;
                continue;
            }
            at.insert((change.kind, version.place()), lines.len());
            lines.push(Line {
                change,
                growth: change.growth,
                below: 0,
            });
        }
        lines.sort_by(|a, b| {
            let (x, y) = (a.change.version(), b.change.version());
            b.growth
                .cmp(&a.growth)
                .then_with(|| x.place().cmp(&y.place()))
        });
        lines
    }

    /// Returns the directories that were added, or removed.
    fn whole(&self, kind: Kind) -> HashSet<Place<'_>> {
        let changes = self.changes.iter().filter(|change| change.kind == kind);
        let versions = changes.map(Change::version);
        versions
            .filter(|version| version.file_type == FileType::Directory)
            .map(Version::place)
            .collect()
    }
}

/// Returns the topmost of these directories that holds the file, with only such directories on the
/// way.
fn top<'a>(version: &'a Version, directories: &HashSet<Place<'a>>) -> Option<Place<'a>> {
    let above = super::version::ancestors(&version.path);
    let places = above.map(|path| (version.root, path));
    places
        .take_while(|place| directories.contains(place))
        .last()
}
