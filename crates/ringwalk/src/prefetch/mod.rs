//! Brings the blocks that a walk will need into the page cache, in the order of the disk, before the walk asks for them one by one.
