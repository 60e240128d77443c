//! Reads all inodes of an image into memory and decodes them: how long that takes, without reading.
//!
//! ```text
//! cargo run --release -p ringwalk-ext4 --example sweep -- IMAGE
//! ```

use ringwalk_ext4::{Error, FileSystem, ReadAt};
use std::fs::File;
use std::time::{Duration, Instant};

fn main() -> Result<(), Error> {
    let image = std::env::args_os().nth(1).unwrap_or_default();
    let device = File::open(image)?;
    let file_system = FileSystem::open(&device)?;
    let size = usize::from(file_system.superblock().inode_size);
    let mut tables = Vec::new();
    for table in file_system.inode_tables(&device)? {
        let mut bytes = vec![0; table.count as usize * size];
        device.read_exact_at(&mut bytes, table.offset)?;
        tables.push((table.first, bytes));
    }
    let (mut best, mut inodes, mut blocks) = (Duration::MAX, 0_u64, 0);
    for _ in 0..15 {
        let start = Instant::now();
        (inodes, blocks) = (0, 0);
        for (first, bytes) in &tables {
            for (ino, raw) in (*first..).zip(bytes.chunks_exact(size)) {
                if let Some(inode) = file_system.inode(ino, raw)?
                    && !file_system.is_hidden(&inode)
                {
                    inodes += 1;
                    blocks += inode.blocks();
                }
            }
        }
        best = best.min(start.elapsed());
    }
    println!("{inodes} inodes, {blocks} blocks of 512 bytes: {best:?} (the shortest of 15)");
    Ok(())
}
