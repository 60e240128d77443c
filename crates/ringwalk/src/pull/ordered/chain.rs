//! The chain of slots that gives items their order.

use std::ops::Range;
use std::sync::Mutex;

/// Index of a slot in the chain.
pub(super) type SlotIndex = u32;

/// No slot.
pub(super) const NONE: SlotIndex = u32::MAX;

/// The place of one directory in the order. A visitor keeps it in the directory's
/// [state](crate::Dir::state).
#[derive(Debug)]
pub struct Place {
    pub(super) end: SlotIndex,
    pub(super) batches: Mutex<BatchSlots>,
}

/// The slots of a directory that wait for batches.
#[derive(Debug)]
pub(super) struct BatchSlots {
    /// The slot of the batch that begins with `next_number`, and of all later batches until that
    /// one comes.
    pub(super) next: SlotIndex,
    next_number: u64,
    /// Gaps before `next_number`, in order: batches that later ones have overtaken.
    pub(super) overtaken: Vec<Gap>,
}

/// Numbers of batches that have not come yet, and the slot where they will come out.
#[derive(Debug)]
pub(super) struct Gap {
    numbers: Range<u64>,
    pub(super) slot: SlotIndex,
}

#[derive(Debug)]
struct ChainSlot<T> {
    next: SlotIndex,
    items: Vec<T>,
    filled: bool,
}

/// The chain, and the free list of its slots.
#[derive(Debug)]
pub(super) struct Chain<T> {
    slots: Vec<ChainSlot<T>>,
    free: SlotIndex,
    head: SlotIndex,
    /// A worker is the consumer now.
    pub(super) consuming: bool,
    /// Workers that wait for the consumer.
    pub(super) waiting: usize,
}

impl<T> Chain<T> {
    /// Creates a chain whose only slot is empty and filled, and returns that slot, too.
    pub(super) fn new() -> (Self, SlotIndex) {
        let chain = Self {
            slots: vec![ChainSlot {
                next: NONE,
                items: Vec::new(),
                filled: true,
            }],
            free: NONE,
            head: 0,
            consuming: false,
            waiting: 0,
        };
        (chain, 0)
    }

    /// Inserts a new empty slot after `before`.
    pub(super) fn insert_after(&mut self, before: SlotIndex) -> SlotIndex {
        let next = self.slots[before as usize].next;
        let slot = ChainSlot {
            next,
            items: Vec::new(),
            filled: false,
        };
        let index = if self.free == NONE {
            self.slots.push(slot);
            u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 directories in flight")
        } else {
            let index = self.free;
            self.free = self.slots[index as usize].next;
            self.slots[index as usize] = slot;
            index
        };
        self.slots[before as usize].next = index;
        index
    }

    /// Inserts the two slots of a new directory after `before`.
    pub(super) fn insert_directory(&mut self, before: SlotIndex) -> Place {
        let next = self.insert_after(before);
        let end = self.insert_after(next);
        Place {
            end,
            batches: Mutex::new(BatchSlots {
                next,
                next_number: 0,
                overtaken: Vec::new(),
            }),
        }
    }

    /// Returns the slot of the batch with these numbers of a directory. It is asked for once.
    pub(super) fn slot_of_batch(
        &mut self,
        batches: &mut BatchSlots,
        numbers: Range<u64>,
    ) -> SlotIndex {
        if numbers.start < batches.next_number {
            return self.slot_in_gap(batches, numbers);
        }
        let mut slot = batches.next;
        if numbers.start > batches.next_number {
            batches.overtaken.push(Gap {
                numbers: batches.next_number..numbers.start,
                slot,
            });
            slot = self.insert_after(slot);
        }
        batches.next = self.insert_after(slot);
        batches.next_number = numbers.end;
        slot
    }

    /// Returns the slot of a batch that others have overtaken. The rest of the gap before it and
    /// behind it stays open.
    fn slot_in_gap(&mut self, batches: &mut BatchSlots, numbers: Range<u64>) -> SlotIndex {
        let gaps = &mut batches.overtaken;
        let at = gaps.partition_point(|gap| gap.numbers.end <= numbers.start);
        let gap = gaps
            .get_mut(at)
            .filter(|gap| gap.numbers.start <= numbers.start)
            .expect("numbers of a batch come once");
        let (end, mut slot) = (gap.numbers.end, gap.slot);
        let mut behind = at;
        if gap.numbers.start < numbers.start {
            gap.numbers.end = numbers.start;
            slot = self.insert_after(slot);
            behind += 1;
        } else {
            gaps.remove(at);
        }
        if numbers.end < end {
            let gap = Gap {
                numbers: numbers.end..end,
                slot: self.insert_after(slot),
            };
            gaps.insert(behind, gap);
        }
        slot
    }

    /// Puts items into a slot. An empty list fills the slot, too.
    pub(super) fn fill(&mut self, index: SlotIndex, items: Vec<T>) {
        let slot = &mut self.slots[index as usize];
        slot.items = items;
        slot.filled = true;
    }

    /// Returns true if the first slot is filled.
    pub(super) fn is_head_filled(&self) -> bool {
        self.head != NONE && self.slots[self.head as usize].filled
    }

    /// Takes the first slot out of the chain, and returns its items. `None` if it is not filled.
    pub(super) fn take_head(&mut self) -> Option<Vec<T>> {
        if !self.is_head_filled() {
            return None;
        }
        let index = self.head;
        let slot = &mut self.slots[index as usize];
        let items = std::mem::take(&mut slot.items);
        self.head = slot.next;
        slot.next = self.free;
        self.free = index;
        Some(items)
    }

    /// Returns how many slots the chain has memory for.
    #[cfg(test)]
    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }
}
