//! The chain of slots that gives items their order.

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
    /// The slot of batch number `next_index`, and of all later batches until that one comes.
    pub(super) next: SlotIndex,
    next_index: u32,
    /// Numbers and slots of earlier batches, which later ones have overtaken.
    pub(super) overtaken: Vec<(u32, SlotIndex)>,
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
                next_index: 0,
                overtaken: Vec::new(),
            }),
        }
    }

    /// Returns the slot of batch `index` of a directory. It is asked for once.
    pub(super) fn slot_of_batch(&mut self, batches: &mut BatchSlots, index: u32) -> SlotIndex {
        if let Some(at) = batches.overtaken.iter().position(|o| o.0 == index) {
            return batches.overtaken.swap_remove(at).1;
        }
        while batches.next_index < index {
            batches.overtaken.push((batches.next_index, batches.next));
            batches.next = self.insert_after(batches.next);
            batches.next_index += 1;
        }
        let slot = batches.next;
        batches.next = self.insert_after(slot);
        batches.next_index += 1;
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
