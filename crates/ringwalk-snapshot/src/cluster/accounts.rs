//! Which leftovers have been read: each by exactly one task.

use super::part::PartFacts;
use std::collections::BTreeMap;
use std::ops::Range;

/// The leftovers of all tasks.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    /// The number of leftovers of each task.
    left: BTreeMap<u32, u32>,
    /// What was read: task, first leftover, number.
    read: Vec<(u32, u32, u32)>,
    /// The number of tasks that have visited the roots.
    roots: usize,
}

/// Leftovers of a task that no part has read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unread {
    pub(super) task: u32,
    pub(super) leftovers: Range<u32>,
}

impl Accounts {
    /// Adds a part.
    ///
    /// # Errors
    ///
    /// If there is another part of its task.
    pub(super) fn add(&mut self, part: &PartFacts) -> Result<(), String> {
        if self.left.insert(part.task, part.left).is_some() {
            return Err(format!("there is another part of task {}", part.task));
        }
        match &part.resumed {
            Some(read) => self.read.extend(read),
            None => self.roots += 1,
        }
        Ok(())
    }

    /// Returns the leftovers that no part has read.
    ///
    /// # Errors
    ///
    /// If a leftover was read twice, a task is missing that left some, or the roots were not
    /// visited once.
    pub(super) fn unread(mut self) -> Result<Vec<Unread>, String> {
        if self.roots != 1 {
            let roots = self.roots;
            return Err(format!(
                "{roots} parts have visited the roots, and one must have"
            ));
        }
        self.read.sort_unstable();
        let mut unread = Vec::new();
        let mut read = self.read.into_iter().peekable();
        for (&task, &left) in &self.left {
            if let Some((of, _, _)) = read.next_if(|(of, _, _)| *of < task) {
                return Err(format!("the part of task {of} is missing"));
            }
            let mut end = 0;
            let mut gap = |leftovers: Range<u32>| {
                if !leftovers.is_empty() {
                    unread.push(Unread { task, leftovers });
                }
            };
            while let Some((_, first, count)) = read.next_if(|(of, _, _)| *of == task) {
                if first < end {
                    return Err(format!("leftover {first} of task {task} was read twice"));
                }
                gap(end..first);
                end = first.saturating_add(count);
            }
            if end > left {
                return Err(format!(
                    "task {task} has left {left} leftovers, and {end} were read"
                ));
            }
            gap(end..left);
        }
        match read.next() {
            Some((task, _, _)) => Err(format!("the part of task {task} is missing")),
            None => Ok(unread),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Contents;

    fn part(task: u32, left: u32, resumed: Option<&[(u32, u32, u32)]>) -> PartFacts {
        PartFacts {
            version: 1,
            task,
            host: String::new(),
            root_devices: Vec::new(),
            directories: 0,
            left,
            resumed: resumed.map(<[_]>::to_vec),
            failures: 0,
            contents: Contents::default(),
        }
    }

    fn unread(parts: &[PartFacts]) -> Result<Vec<Unread>, String> {
        let mut accounts = Accounts::default();
        for part in parts {
            accounts.add(part)?;
        }
        accounts.unread()
    }

    #[test]
    fn each_leftover_is_read_once() {
        let all = [
            part(1, 5, None),
            part(2, 1, Some(&[(1, 0, 2), (1, 4, 1)])),
            part(7, 0, Some(&[(1, 2, 2), (2, 0, 1)])),
        ];
        assert_eq!(unread(&all), Ok(Vec::new()));
    }

    #[test]
    fn leftovers_that_nobody_has_read() {
        let all = [part(1, 5, None), part(2, 1, Some(&[(1, 1, 2)]))];
        let expected = [(1, 0..1), (1, 3..5), (2, 0..1)];
        let expected = expected.map(|(task, leftovers)| Unread { task, leftovers });
        assert_eq!(unread(&all).unwrap(), expected);
    }

    #[test]
    fn what_cannot_be() {
        let twice = part(2, 0, Some(&[(1, 0, 2), (1, 1, 1)]));
        let beyond = part(2, 0, Some(&[(1, 0, 3)]));
        let unknown = part(3, 0, Some(&[(2, 0, 1)]));
        let behind = part(3, 0, Some(&[(9, 0, 1)]));
        for (other, expected) in [
            (twice, "leftover 1 of task 1 was read twice"),
            (beyond, "task 1 has left 2 leftovers, and 3 were read"),
            (unknown, "the part of task 2 is missing"),
            (behind, "the part of task 9 is missing"),
            (part(1, 0, None), "there is another part of task 1"),
            (
                part(2, 0, None),
                "2 parts have visited the roots, and one must have",
            ),
        ] {
            assert_eq!(unread(&[part(1, 2, None), other]).unwrap_err(), expected);
        }
    }
}
