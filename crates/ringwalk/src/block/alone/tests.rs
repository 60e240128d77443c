use super::*;
use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

fn request(offset: u64, len: u32) -> Request {
    Request {
        offset,
        len,
        tag: 0,
    }
}

#[test]
fn what_is_read_past_the_page_cache_too_is_what_was_written() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let bytes: Vec<u8> = (0..20_000_u32).map(|at| at.to_le_bytes()[1]).collect();
    file.write_all(&bytes).unwrap();
    file.as_file().sync_all().unwrap();
    for flags in [OFlags::empty(), OFlags::DIRECT] {
        let direct = !flags.is_empty();
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(flags.bits().cast_signed())
            .open(file.path());
        let Ok(opened) = opened else {
            println!("skipped: no O_DIRECT here");
            continue;
        };
        let mut alone = Alone::default();
        for (offset, len) in [(4096, 4096), (0, 16_384), (8192, 4096), (4096, 0)] {
            let from = usize::try_from(offset).unwrap();
            let found = alone.read(&opened, request(offset, len), direct);
            assert_eq!(
                found.unwrap(),
                &bytes[from..from + len as usize],
                "{direct}"
            );
        }
        // The file ends in the middle of the first, and before the second.
        for offset in [16_384, 20_480] {
            let found = alone.read(&opened, request(offset, 4096), direct);
            assert_eq!(found.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        }
    }
}
