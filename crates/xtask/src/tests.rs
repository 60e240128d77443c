//! Unit tests of `main.rs`.

use super::*;

#[test]
fn every_asset_is_written_and_not_empty() {
    let directory = std::env::temp_dir().join(format!("ringwalk-assets-{}", std::process::id()));
    assets(&directory).unwrap();
    let names = [
        "man/ringwalk.1",
        "man/ringwalk-browse.1",
        "man/ringwalk-count.1",
        "man/ringwalk-diff.1",
        "man/ringwalk-du.1",
        "man/ringwalk-doctor.1",
        "man/ringwalk-report.1",
        "man/ringwalk-sql.1",
        "man/ringwalk-snapshot.1",
        "man/ringwalk-export.1",
        "man/ringwalk-import.1",
        "man/ringwalk-find.1",
        "man/ringwalk.3",
        "man/ringwalk_open.3",
        "man/ringwalk_next_batch.3",
        "completions/ringwalk.bash",
        "completions/_ringwalk",
        "completions/ringwalk.fish",
    ];
    let sizes =
        names.map(|name| std::fs::metadata(directory.join(name)).map_or(0, |file| file.len()));
    std::fs::remove_dir_all(&directory).unwrap();
    for (name, size) in names.iter().zip(sizes) {
        assert!(size > 500, "{name} has {size} bytes");
    }
}
