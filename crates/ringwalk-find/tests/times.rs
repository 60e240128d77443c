//! Times as GNU find's `-printf` writes them, letter by letter.
//!
//! Where there is no such find the test says so and does nothing. File systems differ in how far from the present a
//! file's time may be; what is compared is what they kept.

use ringwalk::Timestamp;
use ringwalk_find::date::{write_ctime, write_letter};
use ringwalk_gnu::civil::Zone;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Seconds and nanoseconds before or after 1970.
const TIMES: [(i64, u32); 10] = [
    (1_706_933_106, 70_000_001),
    (1_720_000_000, 0),
    (0, 999_999_999),
    (-1, 500_000_000),
    (-315_619_200, 0),
    (1_104_537_600, 5),
    (5_000_000_000, 100),
    (-60_000_000_000, 0),
    (-100_000_000_000, 1),
    (99_999_999_999_999, 123_456_789),
];

/// All letters but those that find would take for the end of the string or that are no letters of their own.
fn letters() -> Vec<u8> {
    (1..=u8::MAX).filter(|letter| letter.is_ascii()).collect()
}

fn is_gnu() -> bool {
    let output = Command::new("find").arg("--version").output();
    let gnu = output.is_ok_and(|output| {
        String::from_utf8_lossy(&output.stdout).starts_with("find (GNU findutils)")
    });
    if !gnu {
        println!("skipped: find is not the one of GNU's findutils");
    }
    gnu
}

/// What find writes of the file, each letter on its own between slashes.
fn theirs(path: &Path, zone: &str) -> Vec<u8> {
    let mut format = b"%t".to_vec();
    for letter in letters() {
        format.extend(b"/%T");
        format.push(letter);
        // A backslash would make an escape of the slash behind it.
        if letter == b'\\' {
            format.push(b'\\');
        }
    }
    let output = Command::new("find")
        .arg(path)
        .arg("-printf")
        .arg(std::ffi::OsString::from(String::from_utf8(format).unwrap()))
        .env("TZ", zone)
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    output.stdout
}

fn ours(time: Timestamp, zone: &str) -> Vec<u8> {
    let zone = Zone::named(zone);
    let mut out = Vec::new();
    write_ctime(time, &zone, &mut out);
    for letter in letters() {
        out.push(b'/');
        write_letter(letter, time, &zone, &mut out);
        if letter == b'\\' {
            out.push(b'\\');
        }
    }
    out
}

#[test]
fn every_letter() {
    if !is_gnu() {
        return;
    }
    // Of all file systems tmpfs keeps the widest range of times.
    let shared = Path::new("/dev/shm");
    let file = if shared.is_dir() {
        tempfile::NamedTempFile::new_in(shared).unwrap()
    } else {
        tempfile::NamedTempFile::new().unwrap()
    };
    let zones = [
        "UTC0",
        "Asia/Kolkata",
        "Europe/Berlin",
        "America/St_Johns",
        "nonsense",
        "<+0130>-1:30",
    ];
    for (secs, nanos) in TIMES {
        file.as_file()
            .set_modified(system_time(secs, nanos))
            .unwrap();
        let kept = file.as_file().metadata().unwrap();
        let time = Timestamp {
            secs: kept.mtime(),
            nanos: kept.mtime_nsec().try_into().unwrap(),
        };
        for zone in zones {
            let theirs = theirs(file.path(), zone);
            let ours = ours(time, zone);
            assert_eq!(
                String::from_utf8_lossy(&ours),
                String::from_utf8_lossy(&theirs),
                "{time:?} in {zone}"
            );
        }
    }
}

fn system_time(secs: i64, nanos: u32) -> SystemTime {
    let whole = Duration::from_secs(secs.unsigned_abs());
    let base = if secs < 0 {
        UNIX_EPOCH - whole
    } else {
        UNIX_EPOCH + whole
    };
    base + Duration::from_nanos(nanos.into())
}
