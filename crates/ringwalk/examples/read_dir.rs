//! Lists a directory without blocking the task: what `ls -U` prints, hidden names too.
//!
//! ```text
//! $ cargo run -p ringwalk --features async --example read_dir -- /usr
//! ```
//!
//! Any executor does; this is the smallest.

use futures_lite::future::block_on;
use ringwalk::aio::Dir;

fn main() -> std::io::Result<()> {
    let path = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    block_on(async {
        let mut dir = Dir::open(&path).await?;
        while let Some(entry) = dir.next().await {
            println!("{}", entry?.file_name().display());
        }
        Ok(())
    })
}
