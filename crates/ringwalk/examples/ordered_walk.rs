//! Counts a tree directory by directory, in order: `ordered_walk PATH [THREADS]`.

use ringwalk::OrderedWalk;
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    let path = arguments.next().expect("ordered_walk PATH [THREADS]");
    let threads = arguments.next().and_then(|n| n.to_str()?.parse().ok());
    for _ in 0..12 {
        let start = Instant::now();
        let mut walk = OrderedWalk::new(&path);
        if let Some(threads) = threads {
            walk = walk.threads(threads);
        }
        let (mut entries, mut directories) = (0, 0);
        while let Some(turn) = walk.next_directory() {
            match turn {
                Ok(turn) => {
                    entries += turn.listing().len();
                    directories += 1;
                }
                Err(error) => eprintln!("{error}"),
            }
        }
        drop(walk);
        println!(
            "{entries} entries, {directories} directories, {:?}",
            start.elapsed()
        );
    }
}
