//! The lines of `-ls`.

use super::number::plain;
use super::render::{foreign, group};
use super::{mode, time};
use crate::facts::Facts;
use ringwalk::{Fields, FileType, Metadata};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The metadata that [`write_ls`] needs.
pub const LS_FIELDS: Fields = Fields::TYPE
    .union(Fields::MODE)
    .union(Fields::NLINK)
    .union(Fields::UID)
    .union(Fields::GID)
    .union(Fields::MTIME)
    .union(Fields::INO)
    .union(Fields::SIZE)
    .union(Fields::BLOCKS);

/// The widths of columns. A value that is wider than its column widens the column for all later
/// lines, whichever action writes them: GNU find has one set of widths for all `-ls` and `-fls`.
struct Columns {
    inode: AtomicUsize,
    blocks: AtomicUsize,
    links: AtomicUsize,
    user: AtomicUsize,
    group: AtomicUsize,
    major: AtomicUsize,
    minor: AtomicUsize,
    size: AtomicUsize,
}

static COLUMNS: Columns = Columns::new();

impl Columns {
    const fn new() -> Self {
        Self {
            inode: AtomicUsize::new(9),
            blocks: AtomicUsize::new(6),
            links: AtomicUsize::new(3),
            user: AtomicUsize::new(8),
            group: AtomicUsize::new(8),
            major: AtomicUsize::new(3),
            minor: AtomicUsize::new(3),
            size: AtomicUsize::new(8),
        }
    }
}

/// The time of the first line, and the unit of blocks.
struct Terms {
    /// Seconds since 1970.
    now: i64,
    /// The unit is 512 bytes, not 1024.
    posix: bool,
}

fn terms() -> &'static Terms {
    static TERMS: OnceLock<Terms> = OnceLock::new();
    TERMS.get_or_init(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Terms {
            now: since.map_or(0, |since| since.as_secs().try_into().unwrap_or(i64::MAX)),
            posix: ringwalk_gnu::locale::posixly_correct(),
        }
    })
}

/// Appends the line of `-ls`. Appends nothing without the metadata in [`LS_FIELDS`].
///
/// A line allocates for names and the date. `POSIXLY_CORRECT`, `TZ` and the clock are read for the
/// first line.
pub fn write_ls(file: &impl Facts, out: &mut Vec<u8>) {
    write(file, &COLUMNS, terms(), false, out);
}

/// As [`write_ls`], for a terminal: names of accounts are made safe too.
pub fn write_ls_to_terminal(file: &impl Facts, out: &mut Vec<u8>) {
    write(file, &COLUMNS, terms(), true, out);
}

fn write(file: &impl Facts, columns: &Columns, terms: &Terms, terminal: bool, out: &mut Vec<u8>) {
    let Ok(metadata) = file.metadata() else {
        return;
    };
    let (Some(ino), Some(blocks), Some(size)) =
        (metadata.ino(), metadata.blocks(), metadata.size())
    else {
        return;
    };
    let (Some(mode), Some(links), Some(mtime)) =
        (metadata.mode(), metadata.nlink(), metadata.mtime())
    else {
        return;
    };
    let (Some(uid), Some(gid)) = (metadata.uid(), metadata.gid()) else {
        return;
    };
    let blocks = if terms.posix {
        blocks
    } else {
        blocks.div_ceil(2)
    };
    number(ino, &columns.inode, out);
    out.push(b' ');
    number(blocks, &columns.blocks, out);
    out.push(b' ');
    out.extend_from_slice(&mode::mode_letters(mode));
    out.push(b' ');
    number(links.into(), &columns.links, out);
    out.push(b' ');
    owner(file, uid, &columns.user, terminal, out);
    name(&columns.group, out, |out| {
        group(file, gid, terminal, out);
    });
    if is_device(metadata) {
        device(metadata.rdev(), columns, out);
    } else {
        number(size, &columns.size, out);
    }
    out.push(b' ');
    time::of_ls(mtime, terms.now, out);
    out.push(b' ');
    escape(file.path(), out);
    if let Some(target) = file.link_target() {
        out.extend_from_slice(b" -> ");
        escape(&target, out);
    }
    out.push(b'\n');
}

fn is_device(metadata: &Metadata) -> bool {
    matches!(
        metadata.file_type(),
        FileType::BlockDevice | FileType::CharacterDevice
    )
}

/// Writes the numbers of a device. An imported snapshot does not know them.
fn device(device: Option<u64>, columns: &Columns, out: &mut Vec<u8>) {
    let Some(device) = device else {
        right(b"?", &columns.major, out);
        out.extend_from_slice(b", ");
        right(b"?", &columns.minor, out);
        return;
    };
    number(rustix::fs::major(device).into(), &columns.major, out);
    out.extend_from_slice(b", ");
    number(rustix::fs::minor(device).into(), &columns.minor, out);
}

/// Writes a number, right-aligned in its column.
fn number(number: u64, column: &AtomicUsize, out: &mut Vec<u8>) {
    right(itoa::Buffer::new().format(number).as_bytes(), column, out);
}

/// Writes text, right-aligned in its column.
fn right(text: &[u8], column: &AtomicUsize, out: &mut Vec<u8>) {
    let missing = missing(text.len(), column);
    out.resize(out.len() + missing, b' ');
    out.extend_from_slice(text);
}

/// Writes the owner's name. A number without a name stands in a column of eight. The space after it
/// counts when GNU find computes the width of its column.
fn owner(file: &impl Facts, uid: u32, column: &AtomicUsize, terminal: bool, out: &mut Vec<u8>) {
    if let Some(user) = file.user_name(uid) {
        return name(column, out, |out| foreign(&user, terminal, out));
    }
    let start = out.len();
    plain(uid.into(), out);
    let end = out.len().max(start + 8);
    out.resize(end, b' ');
    out.push(b' ');
    column.fetch_max(out.len() - start, Ordering::Relaxed);
}

/// Writes a name, left-aligned in its column, and a space.
fn name(column: &AtomicUsize, out: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    append(out);
    let missing = missing(out.len() - start, column);
    out.resize(out.len() + missing + 1, b' ');
}

/// Returns the bytes that are missing to the column's width. Widens a column that is too narrow.
fn missing(width: usize, column: &AtomicUsize) -> usize {
    let least = column.load(Ordering::Relaxed);
    if width > least {
        column.fetch_max(width, Ordering::Relaxed);
    }
    least.saturating_sub(width)
}

/// Writes a name with C's escapes for spaces, quotes, backslashes and all bytes that are not plain
/// ASCII, whatever the locale.
fn escape(name: &[u8], out: &mut Vec<u8>) {
    for byte in name {
        let letter = match byte {
            8 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            12 => b'f',
            b'\r' => b'r',
            b' ' | b'"' | b'\\' => *byte,
            b'!'..=b'~' => {
                out.push(*byte);
                continue;
            }
            _ => {
                let digit = |shift: u8| b'0' + (byte >> shift & 7);
                out.extend_from_slice(&[b'\\', digit(6), digit(3), digit(0)]);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', letter]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;
    use rustix::io::Errno;

    const TERMS: Terms = Terms {
        now: 1_800_000_000,
        posix: false,
    };

    fn line(file: &Fake, columns: &Columns) -> String {
        let mut out = Vec::new();
        write(file, columns, &TERMS, false, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn fake(change: impl FnOnce(&mut Metadata)) -> Fake {
        let mut file = Fake {
            path: b"o/1".to_vec(),
            ..Fake::default()
        };
        change(file.metadata.as_mut().unwrap());
        file
    }

    fn device(rdev: u64) -> Fake {
        fake(|metadata| {
            metadata.set_file_type(FileType::CharacterDevice);
            metadata.set_rdev(rdev);
        })
    }

    #[test]
    fn a_file() {
        let file = fake(|metadata| metadata.set_gid(0));
        assert_eq!(
            line(&file, &Columns::new()),
            "  1401217      2 -rw-r--r--   1 root     root            6 Nov 10  2020 o/1\n"
        );
        let mut out = Vec::new();
        let posix = Terms {
            posix: true,
            ..TERMS
        };
        write(&file, &Columns::new(), &posix, false, &mut out);
        assert!(out.starts_with(b"  1401217      3 -"));
    }

    #[test]
    fn columns_grow() {
        let columns = Columns::new();
        let wide = fake(|metadata| {
            metadata.set_ino(12_345_678_901);
            metadata.set_blocks(99_999_999);
            metadata.set_nlink(54_321);
            metadata.set_uid(4_294_967_290);
            metadata.set_gid(4_294_967_291);
            metadata.set_size(123_456_789_012);
        });
        assert_eq!(
            line(&wide, &columns),
            "12345678901 50000000 -rw-r--r-- 54321 4294967290 4294967291 123456789012 Nov 10  2020 o/1\n"
        );
        assert_eq!(
            line(&fake(|_| ()), &columns),
            "    1401217        2 -rw-r--r--     1 root        12                    6 Nov 10  2020 o/1\n"
        );
    }

    #[test]
    fn owners_without_names_have_a_column_of_their_own() {
        let columns = Columns::new();
        let owned = |uid| line(&fake(|metadata| metadata.set_uid(uid)), &columns)[32..].to_owned();
        assert_eq!(owned(7777), "7777     12              6 Nov 10  2020 o/1\n");
        assert_eq!(owned(0), "root      12              6 Nov 10  2020 o/1\n");
        assert_eq!(owned(7777), "7777     12              6 Nov 10  2020 o/1\n");
        assert_eq!(
            owned(4_294_967_290),
            "4294967290 12              6 Nov 10  2020 o/1\n"
        );
        assert_eq!(owned(0), "root        12              6 Nov 10  2020 o/1\n");
    }

    #[test]
    fn devices_have_columns_of_their_own() {
        let columns = Columns::new();
        let numbers = |file: &Fake| line(file, &columns)[50..].to_owned();
        assert_eq!(numbers(&device(0x801)), "  8,   1 Nov 10  2020 o/1\n");
        assert_eq!(numbers(&device(0x40_0001)), "  0, 1025 Nov 10  2020 o/1\n");
        assert_eq!(numbers(&device(0x801)), "  8,    1 Nov 10  2020 o/1\n");
        assert_eq!(numbers(&fake(|_| ())), "       6 Nov 10  2020 o/1\n");
        let unknown = fake(|metadata| metadata.set_file_type(FileType::BlockDevice));
        assert_eq!(numbers(&unknown), "  ?,    ? Nov 10  2020 o/1\n");
    }

    #[test]
    fn names() {
        let mut file = fake(|_| ());
        file.path = b"a b\"c\\d'\n\t\x07\x0b\x7f\xc3\xa9".to_vec();
        file.link_target = Some(b"to\rwards".to_vec());
        let line = line(&file, &Columns::new());
        let expected = " a\\ b\\\"c\\\\d'\\n\\t\\007\\013\\177\\303\\251 -> to\\rwards\n";
        assert!(line.ends_with(expected), "{line}");
    }

    #[test]
    fn names_of_accounts_do_not_command_a_terminal() {
        let mut file = fake(|metadata| metadata.set_gid(0));
        file.account = b"u\x1b".to_vec();
        let owners = |terminal| {
            let mut out = Vec::new();
            write(&file, &Columns::new(), &TERMS, terminal, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert!(owners(true).contains(" u?       u?       "));
        assert!(owners(false).contains(" u\u{1b}       u\u{1b}       "));
    }

    #[test]
    fn without_metadata() {
        let file = Fake {
            metadata: Err(Errno::NOENT),
            ..Fake::default()
        };
        let mut out = Vec::new();
        write_ls(&file, &mut out);
        assert_eq!(out, b"");
    }
}
