//! The search for files that have another path.
//!
//! A file is the same if its file system, inode number and time of birth are. Without times of
//! birth, an inode number may have been used again; some file systems give out new ones at each
//! mount. Then size and modification time must agree, too, and the answer is only likely.

use super::file_systems::Numbers;
use super::version::{Place, Version};
use ringwalk::FileType;
use ringwalk_snapshot::Column;
use std::collections::{HashMap, HashSet};

/// The row of the older snapshot that has arrived somewhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// Index among the departed rows.
    pub(super) departed: usize,
    /// Inode number and time of birth do not prove it.
    pub(super) is_likely: bool,
}

/// What must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a> {
    fs: i64,
    ino: i64,
    file_type: u8,
    /// The time of birth, if the file system keeps it.
    birth: Option<i64>,
    /// Size and modification time, if the others prove nothing.
    look: Option<(i64, i64)>,
    /// The name, if the others may agree by chance.
    name: Option<&'a [u8]>,
}

/// A departed or arrived row: key, true if it has arrived, index.
type Row<'a> = (Key<'a>, bool, usize);

/// The directories that have another path: from the new place to the old one.
pub(super) type Moves<'a> = HashMap<Place<'a>, Place<'a>>;

/// Returns the origin of each arrived row, if it is a departed one.
pub(super) fn pair(
    departed: &[Version],
    arrived: &[Version],
    numbers: &Numbers<'_>,
) -> Vec<Option<Origin>> {
    let mut keys = Keys {
        numbers,
        birthless: file_systems_without_births(departed.iter().chain(arrived)),
        crowds: HashSet::new(),
    };
    for versions in [departed, arrived] {
        keys.find_crowds(versions);
    }
    let mut rows: Vec<Row<'_>> = Vec::new();
    for (is_arrival, versions) in [(false, departed), (true, arrived)] {
        for (at, version) in versions.iter().enumerate() {
            if let Some(key) = keys.of(version) {
                rows.push((key, is_arrival, at));
            }
        }
    }
    rows.sort_unstable();
    let mut pairs = Pairs {
        departed,
        arrived,
        origins: vec![None; arrived.len()],
        is_taken: vec![false; departed.len()],
    };
    let mut groups = Vec::new();
    for group in rows.chunk_by(|a, b| a.0 == b.0) {
        let arrivals = group.partition_point(|row| !row.1);
        match group.split_at(arrivals) {
            ([], _) | (_, []) => {}
            ([old], [new]) => pairs.set(old.2, new),
            split => groups.push(split),
        }
    }
    pairs.pair_groups(groups);
    pairs.origins
}

/// Returns the file systems on which a time of birth is missing.
fn file_systems_without_births<'a>(versions: impl Iterator<Item = &'a Version>) -> HashSet<i64> {
    versions
        .filter(|version| version.get(Column::Btime).is_none())
        .filter_map(|version| Some(version.inode()?.0))
        .collect()
}

/// What rows look like: file system, type, size and modification time.
type Look = (i64, u8, (i64, i64));

/// The keys of departed and arrived rows.
struct Keys<'a> {
    numbers: &'a Numbers<'a>,
    /// The file systems on which a time of birth is missing.
    birthless: HashSet<i64>,
    /// What several rows of one snapshot look like, where inode numbers do not last.
    crowds: HashSet<Look>,
}

impl Keys<'_> {
    /// Finds rows that look the same. After a mount, such files can have exchanged their numbers:
    /// empty files of one moment, for example.
    fn find_crowds(&mut self, versions: &[Version]) {
        let mut seen = HashSet::new();
        for version in versions {
            if let Some((fs, _)) = version.inode()
                && !self.numbers.trust(fs).keeps_inode
                && let Some(look) = version.look()
            {
                let look = (fs, version.file_type as u8, look);
                if !seen.insert(look) {
                    self.crowds.insert(look);
                }
            }
        }
    }

    fn of<'v>(&self, version: &'v Version) -> Option<Key<'v>> {
        let (fs, ino) = version.inode()?;
        let trust = self.numbers.trust(fs);
        let file_type = version.file_type as u8;
        let birth = if trust.keeps_birth && !self.birthless.contains(&fs) {
            version.get(Column::Btime)
        } else {
            None
        };
        let is_proof = trust.keeps_inode && birth.is_some();
        let look = if is_proof {
            None
        } else {
            Some(version.look()?)
        };
        let is_crowd = look.is_some_and(|look| self.crowds.contains(&(fs, file_type, look)));
        let is_known = version.file_type != FileType::Unknown;
        is_known.then_some(Key {
            fs,
            ino,
            file_type,
            birth,
            look,
            name: is_crowd.then(|| version.name()),
        })
    }
}

/// Returns the directories that have another path.
pub(super) fn moves<'a>(
    departed: &'a [Version],
    arrived: &'a [Version],
    origins: &[Option<Origin>],
) -> Moves<'a> {
    let pairs = arrived.iter().zip(origins);
    let directories = pairs.filter(|(new, _)| new.file_type == FileType::Directory);
    directories
        .filter_map(|(new, origin)| Some((new.place(), departed[(*origin)?.departed].place())))
        .collect()
}

/// Returns true if the file has its new path because its directory was moved.
pub(super) fn is_implied(moves: &Moves<'_>, old: &Version, new: &Version) -> bool {
    let came_from = new.parent().and_then(|parent| moves.get(&parent).copied());
    came_from.is_some() && came_from == old.parent() && old.name() == new.name()
}

/// Departed and arrived rows of one inode.
type Group<'r> = (&'r [Row<'r>], &'r [Row<'r>]);

struct Pairs<'a> {
    departed: &'a [Version],
    arrived: &'a [Version],
    origins: Vec<Option<Origin>>,
    is_taken: Vec<bool>,
}

impl<'a> Pairs<'a> {
    fn set(&mut self, departed: usize, arrival: &Row<'_>) {
        self.is_taken[departed] = true;
        self.origins[arrival.2] = Some(Origin {
            departed,
            is_likely: arrival.0.look.is_some(),
        });
    }

    /// Pairs names of inodes that have several departed or arrived names. A name that only follows
    /// its directory comes first, then an equal name in another directory.
    fn pair_groups(&mut self, groups: Vec<Group<'_>>) {
        let is_directory = |group: &Group<'_>| group.0[0].0.file_type == FileType::Directory as u8;
        let (directories, files): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_directory);
        for groups in [directories, files] {
            let (departed, arrived) = (self.departed, self.arrived);
            let moves = moves(departed, arrived, &self.origins);
            for group in groups {
                self.pair_by(
                    group,
                    |old| Some((old.parent()?, old.name())),
                    |new| Some((*moves.get(&new.parent()?)?, new.name())),
                );
                self.pair_by(group, |old| Some(old.name()), |new| Some(new.name()));
                self.pair_by(group, |_| Some(()), |_| Some(()));
            }
        }
    }

    /// Pairs the rows of a group for which both functions return the same, in their order.
    fn pair_by<K: std::hash::Hash + Eq>(
        &mut self,
        (departed, arrived): Group<'_>,
        old: impl Fn(&'a Version) -> Option<K>,
        new: impl Fn(&'a Version) -> Option<K>,
    ) {
        let mut waiting: HashMap<K, Vec<usize>> = HashMap::new();
        for row in departed.iter().rev().filter(|row| !self.is_taken[row.2]) {
            if let Some(key) = old(&self.departed[row.2]) {
                waiting.entry(key).or_default().push(row.2);
            }
        }
        for arrival in arrived {
            if self.origins[arrival.2].is_none()
                && let Some(key) = new(&self.arrived[arrival.2])
                && let Some(departed) = waiting.get_mut(&key).and_then(Vec::pop)
            {
                self.set(departed, arrival);
            }
        }
    }
}
