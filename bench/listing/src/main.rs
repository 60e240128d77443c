//! Reads one directory by an asynchronous interface, for `bench/run async`.
//!
//! ```text
//! listing next-batch|next|tokio|std DIR                 prints the number of entries of DIR
//! listing idle-opened|idle-read|idle-ended DIR COUNT    prints the cost of COUNT open directories
//! ```
//!
//! All but `std` run on tokio's multi-thread runtime, each in the task that the program waits for.
//! Every name is looked at.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;
use std::{env, fs, io};

use ringwalk::EntryBuffer;
use ringwalk::aio::Dir;

/// How many entries there are; the length of the names is added up so that each is looked at.
#[derive(Default)]
struct Found {
    entries: u64,
    bytes: usize,
}

impl Found {
    fn add(&mut self, name: &OsStr) {
        self.add_bytes(name.as_encoded_bytes());
    }

    fn add_bytes(&mut self, name: &[u8]) {
        self.entries += 1;
        self.bytes += name.len();
    }
}

async fn next_batch(path: &OsStr) -> io::Result<Found> {
    let mut found = Found::default();
    let mut dir = Dir::open(path).await?;
    let mut batch = EntryBuffer::new();
    while dir.next_batch(&mut batch).await? > 0 {
        for entry in batch.iter() {
            found.add_bytes(entry.name());
        }
    }
    Ok(found)
}

async fn next(path: &OsStr) -> io::Result<Found> {
    let mut found = Found::default();
    let mut dir = Dir::open(path).await?;
    while let Some(entry) = dir.next().await {
        found.add(entry?.file_name());
    }
    Ok(found)
}

async fn tokio_read_dir(path: &OsStr) -> io::Result<Found> {
    let mut found = Found::default();
    let mut entries = tokio::fs::read_dir(path).await?;
    while let Some(entry) = entries.next_entry().await? {
        found.add(&entry.file_name());
    }
    Ok(found)
}

fn std_read_dir(path: &OsStr) -> io::Result<Found> {
    let mut found = Found::default();
    for entry in fs::read_dir(path)? {
        found.add(&entry?.file_name());
    }
    Ok(found)
}

/// Bytes of memory of this process that is its own.
fn memory() -> io::Result<u64> {
    let rollup = fs::read_to_string("/proc/self/smaps_rollup")?;
    let line = rollup.lines().find(|line| line.starts_with("Anonymous:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    Ok(kib.ok_or(io::ErrorKind::InvalidData)? * 1024)
}

/// How far a directory has been read.
#[derive(Clone, Copy)]
enum Read {
    /// Not at all: nothing but opened.
    Opened,
    /// The first entry has been taken.
    Begun,
    /// There is nothing left.
    Ended,
}

/// Opens the directory `count` times, reads it so far, and says what memory all of them take.
async fn idle(path: &OsStr, count: usize, read: Read) -> io::Result<String> {
    // Threads and what else comes with the first one.
    drop(opened(path, 16, read).await?);
    let before = memory()?;
    let dirs = opened(path, count, read).await?;
    let grown = memory()?.saturating_sub(before);
    let dirs = dirs.len();
    Ok(format!("{{\"dirs\": {dirs}, \"grown\": {grown}}}"))
}

async fn opened(path: &OsStr, count: usize, read: Read) -> io::Result<Vec<Dir>> {
    let mut dirs = Vec::with_capacity(count);
    for _ in 0..count {
        let mut dir = Dir::open(path).await?;
        match read {
            Read::Opened => {}
            Read::Begun => {
                dir.next().await.ok_or(io::ErrorKind::UnexpectedEof)??;
            }
            Read::Ended => while dir.next().await.transpose()?.is_some() {},
        }
        dirs.push(dir);
    }
    Ok(dirs)
}

async fn run(way: &str, path: &OsStr, count: usize) -> io::Result<String> {
    let found = match way {
        "next-batch" => next_batch(path).await?,
        "next" => next(path).await?,
        "tokio" => tokio_read_dir(path).await?,
        "std" => std_read_dir(path)?,
        "idle-opened" => return idle(path, count, Read::Opened).await,
        "idle-read" => return idle(path, count, Read::Begun).await,
        "idle-ended" => return idle(path, count, Read::Ended).await,
        _ => return Err(io::Error::other(format!("no such way: {way}"))),
    };
    std::hint::black_box(found.bytes);
    Ok(format!("{} entries", found.entries))
}

/// The way, the directory, and for the idle ones how many.
fn arguments() -> Option<(String, OsString, usize)> {
    let mut arguments = env::args_os().skip(1);
    let way = arguments.next()?.into_string().ok()?;
    let path = arguments.next()?;
    let count = if way.starts_with("idle") {
        arguments.next()?.to_str()?.parse().ok()?
    } else {
        0
    };
    arguments.next().is_none().then_some((way, path, count))
}

fn main() -> ExitCode {
    let Some((way, path, count)) = arguments() else {
        eprintln!(
            "usage: listing next-batch|next|tokio|std DIR, listing idle-opened|idle-read DIR COUNT"
        );
        return ExitCode::from(2);
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().build();
    match runtime.and_then(|runtime| runtime.block_on(run(&way, &path, count))) {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("listing: {}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}
