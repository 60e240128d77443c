//! Lists a directory without blocking the task. Prints the same as `ls -U`, and hidden names.
//!
//! ```text
//! $ cargo run -p ringwalk --features async --example read_dir -- /usr
//! ```

use ringwalk::aio::Dir;
use std::ffi::OsString;
use std::process::ExitCode;

async fn list(path: OsString) -> std::io::Result<()> {
    let mut dir = Dir::open(path).await?;
    while let Some(entry) = dir.next().await {
        println!("{}", entry?.file_name().display());
    }
    Ok(())
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
