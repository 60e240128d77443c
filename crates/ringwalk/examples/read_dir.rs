//! Lists a directory without blocking the task: opens it, awaits each entry and its metadata, and
//! closes it. Prints size and name, also of hidden files, in the order of the directory.
//!
//! ```text
//! $ cargo run -p ringwalk --features async --example read_dir -- /usr
//! 57344 bin
//! 4096 games
//! ```
//!
//! `Dir::metadata` is one request for each call, right for some of the entries. A program that
//! needs the metadata of all asks for it beforehand, by `Dir::read_plus`: the example `traverse`.

use ringwalk::aio::Dir;
use std::ffi::OsString;
use std::process::ExitCode;

async fn list(path: OsString) -> std::io::Result<()> {
    let mut dir = Dir::open(path).await?;
    while let Some(entry) = dir.next().await {
        let entry = entry?;
        let metadata = dir.metadata(&entry).await?;
        let size = metadata.size().expect("every file has a size");
        println!("{size} {}", entry.file_name().display());
    }
    dir.close().await
}

fn main() -> ExitCode {
    let path = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    // Any executor will do; this is the smallest.
    match futures_lite::future::block_on(list(path)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("read_dir: {error}");
            ExitCode::FAILURE
        }
    }
}
