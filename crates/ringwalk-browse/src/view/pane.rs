//! Largest files, groups, what could not be read, tiles of the treemap.

use super::listing::{key_of, narrow, size};
use super::{Cursor, Pace, Slot};
use crate::service::Matches;
use crate::tree::{Group, GroupKey, Id, Item, Order, Tree, Unreadable, Weight};
use std::cmp::Reverse;
use std::io;
use std::sync::Arc;

/// The number of largest files.
const MOST_FILES: usize = 1000;
/// The number of tiles. More of them would be smaller than a cell on most terminals.
const MOST_TILES: usize = 256;
/// The sizes of the entries without a tile are added up in groups of this many.
const GROUP: usize = 1024;

/// The state of the tree and of the matches that rows are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// The generation of the tree.
    pub(crate) generation: u64,
    /// The entries that the filter has looked at.
    pub(crate) filtered: u64,
    /// True if the filter has looked at all of them.
    pub(crate) is_filtered: bool,
}

/// What a pane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PaneKind {
    /// The largest files.
    Largest,
    /// Totals by a key.
    Groups(GroupKey),
    /// What could not be read.
    Unreadable,
    /// The treemap.
    Treemap,
}

/// A tile of the treemap.
#[derive(Clone, Debug)]
pub(crate) struct Tile {
    /// The entry; `None` for all smaller ones together.
    pub(crate) id: Option<Id>,
    /// The name.
    pub(crate) name: Vec<u8>,
    /// True for a directory.
    pub(crate) is_directory: bool,
    /// The size.
    pub(crate) size: u64,
}

/// The rows of a pane.
pub(crate) enum Content {
    /// Files, with their paths relative to the top.
    Files(Vec<(Item, Vec<u8>)>),
    /// Groups.
    Groups(Vec<Group>),
    /// What could not be read.
    Unreadable(Vec<Unreadable>),
    /// Tiles, the largest first.
    Tiles(Vec<Tile>),
}

/// Everything that a pane depends on.
pub(crate) struct PaneQuestion {
    pub(crate) tree: Arc<dyn Tree>,
    pub(crate) kind: PaneKind,
    pub(crate) directory: Id,
    /// The path of the directory, relative to the top.
    pub(crate) path: Vec<u8>,
    pub(crate) weight: Weight,
    pub(crate) matches: Option<Arc<dyn Matches>>,
}

/// A pane.
pub(crate) struct Pane {
    pub(crate) kind: PaneKind,
    pub(crate) cursor: Cursor,
    /// The rows; `None` until they are there.
    pub(crate) content: Option<Content>,
    /// The question for new rows.
    pub(crate) answer: Slot<io::Result<Content>>,
    /// When it is asked again.
    pub(crate) pace: Pace<State>,
}

impl Pane {
    /// Returns a pane whose rows are still to come.
    pub(crate) fn open(kind: PaneKind) -> Self {
        Self {
            kind,
            cursor: Cursor::default(),
            content: None,
            answer: Slot::default(),
            pace: Pace::default(),
        }
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        match &self.content {
            None => 0,
            Some(Content::Files(files)) => files.len(),
            Some(Content::Groups(groups)) => groups.len(),
            Some(Content::Unreadable(errors)) => errors.len(),
            Some(Content::Tiles(tiles)) => tiles.len(),
        }
    }

    /// Returns the entry under the cursor.
    pub(crate) fn current_id(&self) -> Option<Id> {
        self.content.as_ref()?.id(self.cursor.at)
    }

    /// Takes new rows. The cursor stays on its row by what the row is about.
    pub(crate) fn replace(&mut self, content: Content) {
        let row = self
            .content
            .as_ref()
            .and_then(|old| old.same_row(self.cursor.at, &content));
        self.content = Some(content);
        let count = self.len();
        match row {
            Some(row) => self.cursor.follow(row, count),
            None => self.cursor.limit(count),
        }
    }
}

impl Content {
    fn id(&self, row: usize) -> Option<Id> {
        match self {
            Self::Files(files) => Some(files.get(row)?.0.id),
            Self::Tiles(tiles) => tiles.get(row)?.id,
            Self::Groups(_) | Self::Unreadable(_) => None,
        }
    }

    /// Returns the row of other content that is about the same as a row of this one.
    fn same_row(&self, row: usize, other: &Self) -> Option<usize> {
        match (self, other) {
            (Self::Groups(old), Self::Groups(new)) => {
                let label = &old.get(row)?.label;
                new.iter().position(|group| group.label == *label)
            }
            (Self::Files(_), Self::Files(new)) => {
                let id = self.id(row)?;
                new.iter().position(|(item, _)| item.id == id)
            }
            (Self::Tiles(_), Self::Tiles(new)) => {
                let id = self.id(row)?;
                new.iter().position(|tile| tile.id == Some(id))
            }
            _ => None,
        }
    }
}

impl PaneQuestion {
    /// Returns the rows. This takes a long time for a large tree.
    pub(crate) fn answer(self) -> io::Result<Content> {
        match self.kind {
            PaneKind::Largest => self.files(),
            PaneKind::Groups(key) => Ok(Content::Groups(self.tree.groups(self.directory, key)?)),
            PaneKind::Unreadable => Ok(Content::Unreadable(self.tree.unreadable())),
            PaneKind::Treemap => self.tiles(),
        }
    }

    fn files(&self) -> io::Result<Content> {
        let ids = self
            .tree
            .largest_files(self.directory, self.weight, MOST_FILES)?;
        let mut files = Vec::with_capacity(ids.len());
        for item in self.tree.items(&ids)? {
            // An entry that has gone meanwhile has no path.
            if let Ok(path) = self.tree.path(item.id) {
                files.push((item, path));
            }
        }
        Ok(Content::Files(files))
    }

    fn tiles(&self) -> io::Result<Content> {
        let order = Order {
            key: key_of(self.weight),
            ..Order::default()
        };
        let mut ids = self.tree.listing(self.directory, order)?;
        let mut tiles = Vec::new();
        if self.matches.is_none() && ids.len() > MOST_TILES {
            // The smaller entries need not be fetched: they are the rest of the directory.
            ids.truncate(MOST_TILES);
            let largest = self.tree.items(&ids)?;
            let largest = largest.iter().map(|item| size(item, self.weight)).sum();
            let directory = self.tree.items(&[self.directory])?;
            let all = directory.first().map_or(0, |item| size(item, self.weight));
            tiles.push(rest(all.saturating_sub(largest)));
        }
        for group in ids.chunks(GROUP) {
            for mut item in self.tree.items(group)? {
                if let Some(matches) = &self.matches
                    && !narrow(&mut item, &self.path, matches.as_ref())
                {
                    continue;
                }
                tiles.push(Tile {
                    id: Some(item.id),
                    is_directory: item.is_directory(),
                    size: size(&item, self.weight),
                    name: item.name,
                });
            }
            if tiles.len() > 2 * MOST_TILES {
                cut(&mut tiles);
            }
        }
        cut(&mut tiles);
        // All smaller entries together may be larger than the largest one.
        tiles.sort_by_key(|tile| Reverse(tile.size));
        Ok(Content::Tiles(tiles))
    }
}

/// Sorts tiles by size, and puts the smallest ones together if there are too many.
fn cut(tiles: &mut Vec<Tile>) {
    tiles.sort_by(|a, b| {
        b.id.is_some()
            .cmp(&a.id.is_some())
            .then(b.size.cmp(&a.size))
    });
    if tiles.iter().filter(|tile| tile.id.is_some()).count() <= MOST_TILES {
        return;
    }
    let size = tiles[MOST_TILES..].iter().map(|tile| tile.size).sum();
    tiles.truncate(MOST_TILES);
    tiles.push(rest(size));
}

/// Returns the tile of all smaller entries together.
fn rest(size: u64) -> Tile {
    Tile {
        id: None,
        name: b"smaller entries".to_vec(),
        is_directory: false,
        size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{FakeFilter, FakeTree};
    use crate::service::Filter;

    fn tiles(tree: &Arc<FakeTree>, matches: Option<Arc<dyn Matches>>) -> Vec<Tile> {
        let question = PaneQuestion {
            tree: Arc::clone(tree) as Arc<_>,
            kind: PaneKind::Treemap,
            directory: Id(0),
            path: Vec::new(),
            weight: Weight::Size,
            matches,
        };
        match question.answer().unwrap() {
            Content::Tiles(tiles) => tiles,
            _ => panic!("no tiles"),
        }
    }

    #[test]
    fn small_entries_share_a_tile() {
        let tree = Arc::new(FakeTree::new());
        for number in 0..2000 {
            let end = if number % 2 == 0 { "even" } else { "odd" };
            tree.file(Id(0), &format!("{number}.{end}"), 1000 + number);
        }
        let all = tiles(&tree, None);
        assert_eq!(all.len(), MOST_TILES + 1);
        assert_eq!(
            all.iter().map(|tile| tile.size).sum::<u64>(),
            (1000..3000).sum::<u64>()
        );
        assert_eq!(all[0].id, None);
        assert_eq!(all[1].name, b"1999.odd");
        let words = ["-name".to_owned(), "*even".to_owned()];
        let matches = FakeFilter(Arc::clone(&tree)).start(&words).unwrap();
        let even = tiles(&tree, Some(matches));
        assert_eq!(even.len(), MOST_TILES + 1);
        assert_eq!(
            even.iter().map(|tile| tile.size).sum::<u64>(),
            (1000..3000).step_by(2).sum::<u64>()
        );
    }
}
