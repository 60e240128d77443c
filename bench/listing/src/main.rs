//! Reads one directory by an async interface, and prints how many entries it has and the bytes of their names.

use std::env;
use std::path::PathBuf;

async fn read_dir(path: PathBuf) -> std::io::Result<(u64, u64)> {
    let (mut entries, mut bytes) = (0, 0);
    let mut dir = tokio::fs::read_dir(path).await?;
    while let Some(entry) = dir.next_entry().await? {
        entries += 1;
        bytes += entry.file_name().len() as u64;
    }
    Ok((entries, bytes))
}

fn main() {
    let a: Vec<_> = env::args_os().skip(1).collect();
    let rt = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    let p = PathBuf::from(&a[1]);
    let got = if a[0] == "std" {
        let mut c = (0u64, 0u64);
        for e in std::fs::read_dir(p).unwrap() { c.0 += 1; c.1 += e.unwrap().file_name().len() as u64; }
        c
    } else {
        rt.block_on(async move { if a[0]=="spawned" {tokio::spawn(read_dir(p)).await.unwrap()} else {read_dir(p).await} }).unwrap()
    };
    println!("{} entries, {} bytes", got.0, got.1);
}
