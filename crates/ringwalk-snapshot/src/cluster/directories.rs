//! The directories of all parts, as numbers of the stage.

use super::part::{PartFacts, split_number};
use crate::write::stage::Stage;
use std::collections::BTreeMap;

/// The directories of all tasks.
#[derive(Debug, Default)]
pub(super) struct Directories {
    /// For each task the number of its first directory in the stage, and how many there are.
    tasks: BTreeMap<u32, (u64, u32)>,
    /// The directories whose row has been seen.
    found: Bits,
    /// The directories that have an entry that was seen.
    listed: Bits,
}

impl Directories {
    /// Adds the directories of a part.
    pub(super) fn add(&mut self, part: &PartFacts, stage: &Stage) {
        let first = stage.new_directories(part.directories.into());
        self.tasks.insert(part.task, (first, part.directories));
    }

    /// Returns the number that a directory has in the stage. A row is an entry of the directory.
    pub(super) fn listing(&mut self, number: u64) -> Result<u64, String> {
        let directory = self.number(number)?;
        self.listed.set(directory);
        Ok(directory)
    }

    /// Returns the number in the stage of a directory whose row this is.
    pub(super) fn found(&mut self, number: u64) -> Result<u64, String> {
        let directory = self.number(number)?;
        if !self.found.set(directory) {
            return Err(format!("directory {number} is there twice"));
        }
        Ok(directory)
    }

    fn number(&self, number: u64) -> Result<u64, String> {
        let (task, local) = split_number(number);
        let known = self.tasks.get(&task);
        let (first, count) = known.ok_or_else(|| format!("the part of task {task} is missing"))?;
        if local == 0 || local > *count {
            return Err(format!("task {task} has no directory {local}"));
        }
        Ok(first + u64::from(local) - 1)
    }

    /// Returns what is wrong if entries have been seen of a directory that has no row.
    pub(super) fn check(&self) -> Result<(), String> {
        let missing = |(_, (first, count)): &(&u32, &(u64, u32))| {
            let mut all = *first..*first + u64::from(*count);
            all.any(|directory| self.listed.has(directory) && !self.found.has(directory))
        };
        match self.tasks.iter().find(missing) {
            Some((task, _)) => Err(format!("a directory of task {task} has entries and no row")),
            None => Ok(()),
        }
    }
}

/// A set of numbers, a bit for each.
#[derive(Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    /// Adds a number. Returns false if the set had it.
    fn set(&mut self, number: u64) -> bool {
        let (word, bit) = Self::place(number);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let had = self.0[word] & bit != 0;
        self.0[word] |= bit;
        !had
    }

    fn has(&self, number: u64) -> bool {
        let (word, bit) = Self::place(number);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }

    fn place(number: u64) -> (usize, u64) {
        // As many bits as there are directories fit in memory.
        let word = usize::try_from(number / 64).unwrap_or(usize::MAX);
        (word, 1 << (number % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::super::part::directory_number;
    use super::*;
    use crate::schema::Contents;

    fn part(task: u32, directories: u32) -> PartFacts {
        PartFacts {
            version: 1,
            task,
            host: String::new(),
            root_devices: Vec::new(),
            directories,
            left: 0,
            resumed: None,
            failures: 0,
            contents: Contents::default(),
        }
    }

    #[test]
    fn directories_of_all_tasks_have_different_numbers() {
        let stage = Stage::new(0);
        stage.new_directory();
        let mut all = Directories::default();
        all.add(&part(5, 2), &stage);
        all.add(&part(1, 1), &stage);
        let number = directory_number;
        assert_eq!(all.found(number(5, 1)), Ok(1));
        assert_eq!(all.found(number(5, 2)), Ok(2));
        assert_eq!(all.listing(number(5, 2)), Ok(2));
        assert_eq!(all.check(), Ok(()));
        assert_eq!(all.listing(number(1, 1)), Ok(3));
        assert!(all.check().unwrap_err().contains("of task 1"));
        assert!(all.found(number(5, 2)).unwrap_err().contains("twice"));
        for wrong in [number(5, 3), number(1, 0), number(2, 1), 0] {
            assert!(all.found(wrong).is_err(), "{wrong}");
        }
    }
}
