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
mod tests;
