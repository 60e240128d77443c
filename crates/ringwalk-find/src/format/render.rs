//! The output of a format for a file.

use super::directive::{Directive, EntryDirective, MetadataDirective, Segment, Shape};
use super::number::{decimal, general, octal, pad, plain};
use super::{Format, mode, path, time};
use crate::facts::Facts;
use ringwalk::{FileType, Metadata};
use ringwalk_gnu::terminal_safe;

/// Appends the output of `format` for `file`. Appends nothing if the format needs metadata that is
/// missing. With `terminal`, foreign text is made safe.
pub(super) fn write(format: &Format, file: &impl Facts, terminal: bool, out: &mut Vec<u8>) {
    let metadata = if format.fields.is_empty() {
        None
    } else {
        match file.metadata() {
            Ok(metadata) => Some(metadata),
            Err(_) => return,
        }
    };
    for segment in &format.segments {
        match segment {
            // A call to copy one byte takes longer than all other work for it here.
            Segment::Literal(text) => match text.as_slice() {
                [byte] => out.push(*byte),
                text => out.extend_from_slice(text),
            },
            Segment::Directive(Directive::Entry(directive), shape) => {
                entry(*directive, *shape, file, terminal, out);
            }
            Segment::Directive(Directive::Metadata(directive), shape) => {
                // Each of these asks for some field, so there is metadata.
                if let Some(metadata) = metadata {
                    known(*directive, *shape, file, metadata, terminal, out);
                }
            }
        }
    }
}

/// Appends text, cut to its precision and padded with spaces to its width.
fn text(shape: Shape, out: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    append(out);
    if let Some(most) = shape.precision {
        out.truncate(start.saturating_add(most));
    }
    if shape.width != 0 {
        pad(start, shape, out);
    }
}

/// Appends foreign text: names of files, accounts and file systems, security contexts.
pub(super) fn foreign(text: &[u8], terminal: bool, out: &mut Vec<u8>) {
    if terminal {
        terminal_safe(text, out);
    } else {
        out.extend_from_slice(text);
    }
}

/// Appends a directive that needs no metadata.
fn entry(
    directive: EntryDirective,
    shape: Shape,
    file: &impl Facts,
    terminal: bool,
    out: &mut Vec<u8>,
) {
    let name = |name: &[u8], out: &mut Vec<u8>| {
        text(shape, out, |out| foreign(name, terminal, out));
    };
    match directive {
        EntryDirective::Path => name(file.path(), out),
        EntryDirective::Base => name(path::base(file.path()), out),
        EntryDirective::Head => name(path::head(file.path()), out),
        EntryDirective::Below => name(path::below(file.path(), file.root_len()), out),
        EntryDirective::Target => name(&file.link_target().unwrap_or_default(), out),
        // GNU find writes `%H` unchanged even on a terminal, but `find *` has names of other users.
        EntryDirective::Root => {
            let whole = file.path();
            name(&whole[..file.root_len().min(whole.len())], out);
        }
        EntryDirective::Depth => {
            decimal(i64::try_from(file.depth()).unwrap_or(i64::MAX), shape, out);
        }
        EntryDirective::Type => text(shape, out, |out| {
            out.push(mode::type_letter(file.file_type()));
        }),
        EntryDirective::TargetType => text(shape, out, |out| out.push(target_type(file))),
        EntryDirective::Context => name(&file.context().unwrap_or_default(), out),
    }
}

/// Appends a directive that is written from metadata. What is not known is empty text.
fn known(
    directive: MetadataDirective,
    shape: Shape,
    file: &impl Facts,
    metadata: &Metadata,
    terminal: bool,
    out: &mut Vec<u8>,
) {
    use MetadataDirective as M;
    let number = |number: Option<u64>, out: &mut Vec<u8>| {
        text(shape, out, |out| {
            if let Some(number) = number {
                plain(number, out);
            }
        });
    };
    match directive {
        M::Size => number(metadata.size(), out),
        M::Blocks => number(metadata.blocks(), out),
        M::Kilobytes => number(metadata.blocks().map(|blocks| blocks.div_ceil(2)), out),
        M::Device => number(metadata.dev(), out),
        M::Inode => number(metadata.ino(), out),
        M::Links => number(metadata.nlink().map(u64::from), out),
        M::UserNumber => number(metadata.uid().map(u64::from), out),
        M::GroupNumber => number(metadata.gid().map(u64::from), out),
        M::Strftime(which, letter) => text(shape, out, |out| {
            if let Some(time) = which.of(metadata) {
                time::by_letter(letter, time, out);
            }
        }),
        M::Ctime(which) => text(shape, out, |out| {
            if let Some(time) = which.of(metadata) {
                time::ctime(time, out);
            }
        }),
        M::User => text(shape, out, |out| {
            if let Some(uid) = metadata.uid() {
                user(file, uid, terminal, out);
            }
        }),
        M::Group => text(shape, out, |out| {
            if let Some(gid) = metadata.gid() {
                group(file, gid, terminal, out);
            }
        }),
        M::Mode => text(shape, out, |out| {
            if let Some(mode) = metadata.mode() {
                out.extend_from_slice(&mode::mode_letters(mode));
            }
        }),
        M::Permissions => match metadata.permissions() {
            Some(permissions) => octal(permissions, shape, out),
            None => text(shape, out, |_| {}),
        },
        M::Sparseness => match sparseness(metadata) {
            Some(sparseness) => general(sparseness, shape, out),
            None => text(shape, out, |_| {}),
        },
        M::FileSystem => text(shape, out, |out| {
            foreign(&file.file_system(), terminal, out);
        }),
    }
}

/// Appends the name of an account, or its number.
pub(super) fn user(file: &impl Facts, uid: u32, terminal: bool, out: &mut Vec<u8>) {
    match file.user_name(uid) {
        Some(name) => foreign(&name, terminal, out),
        None => plain(uid.into(), out),
    }
}

/// Appends the name of a group, or its number.
pub(super) fn group(file: &impl Facts, gid: u32, terminal: bool, out: &mut Vec<u8>) {
    match file.group_name(gid) {
        Some(name) => foreign(&name, terminal, out),
        None => plain(gid.into(), out),
    }
}

fn target_type(file: &impl Facts) -> u8 {
    match file.file_type() {
        FileType::Symlink => mode::target_letter(file.target()),
        other => mode::type_letter(other),
    }
}

/// Returns the allocated bytes for each byte of size. 1 for empty files without blocks.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_wrap,
    reason = "GNU find divides a double by an off_t too"
)]
fn sparseness(metadata: &Metadata) -> Option<f64> {
    Some(match (metadata.size()?, metadata.blocks()?) {
        (0, 0) => 1.0,
        (0, _) => f64::INFINITY,
        (size, blocks) => blocks as f64 * 512.0 / (size as i64) as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;
    use ringwalk::Fields;
    use rustix::io::Errno;

    fn written(format: &str, file: &Fake) -> String {
        let mut warnings = Vec::new();
        let format = Format::parse(format.as_bytes(), &mut warnings).unwrap();
        assert_eq!(warnings, [""; 0]);
        let mut out = b"before ".to_vec();
        format.write(file, &mut out);
        String::from_utf8(out[7..].to_vec()).unwrap()
    }

    #[test]
    fn everything_of_a_file() {
        let file = Fake::default();
        for (format, expected) in [
            (
                "%p|%f|%h|%P|%H|%d",
                "tree/dir/file|file|tree/dir|dir/file|tree|2",
            ),
            ("%s %T@ %p\\n", "6 1605000000.1234567890 tree/dir/file\n"),
            ("%b %k %S %n %i %D", "3 2 256 1 1401217 65024"),
            ("%m %#m %05m %M", "644 0644 00644 -rw-r--r--"),
            ("%u %U %g %G %F %Z", "root 0 12 12 ext4 label"),
            ("%y%Y[%l]", "ff[]"),
            ("%-6s|%6s|%.0s|%06s", "6     |     6||     6"),
            ("%10.2p|%-10.2p|%.0y", "        tr|tr        |"),
            ("%+d % 4d %.3d %-4d|", "+2    2 002 2   |"),
            ("%.12T@|%25A@", "1605000000.1|             0.0000000000"),
        ] {
            assert_eq!(written(format, &file), expected, "{format}");
        }
    }

    #[test]
    fn links() {
        let mut link = Fake {
            file_type: FileType::Symlink,
            link_target: Some(b"there".to_vec()),
            target_type: Ok(FileType::Directory),
            ..Fake::default()
        };
        assert_eq!(written("%y%Y %l %.2l", &link), "ld there th");
        link.target_type = Err(Errno::NOENT);
        assert_eq!(written("%y%Y", &link), "lN");
        link.target_type = Err(Errno::LOOP);
        assert_eq!(written("%Y%3Y", &link), "L  L");
    }

    #[test]
    fn without_metadata_nothing_that_needs_it_is_written() {
        let file = Fake {
            metadata: Err(Errno::ACCESS),
            ..Fake::default()
        };
        assert_eq!(written("a%p%s%%", &file), "");
        assert_eq!(written("%p %y", &file), "tree/dir/file f");
    }

    #[test]
    fn odd_sizes() {
        let sized = |size, blocks| {
            let mut file = Fake::default();
            let metadata = file.metadata.as_mut().unwrap();
            metadata.set_size(size);
            metadata.set_blocks(blocks);
            written("%S %.2S", &file)
        };
        assert_eq!(sized(0, 0), "1 1");
        assert_eq!(sized(0, 5), "inf inf");
        assert_eq!(sized(12_288_004_096, 8), "3.33333e-07 3.3e-07");
        assert_eq!(sized(1 << 63, 8), "-4.44089e-16 -4.4e-16");
    }

    #[test]
    fn birth_where_it_is_known() {
        let mut file = Fake::default();
        assert_eq!(written("%B@", &file), "7.0000000000");
        let metadata = file.metadata.as_mut().unwrap();
        metadata.retain(Fields::all() - Fields::BTIME);
        assert_eq!(written("[%B@%3BY]", &file), "[   ]");
    }

    #[test]
    fn terminals_get_no_escapes_from_names() {
        let file = Fake {
            path: b"t\x1b/\x07x".to_vec(),
            root_len: 2,
            file_type: FileType::Symlink,
            link_target: Some(b"\x01".to_vec()),
            ..Fake::default()
        };
        let format = Format::parse(b"%p %f %h %P %l %4f|\\7", &mut Vec::new()).unwrap();
        let mut out = Vec::new();
        format.write_to_terminal(&file, &mut out);
        assert_eq!(out, b"t?/?x ?x t? ?x ?   ?x|\x07");
        out.clear();
        format.write(&file, &mut out);
        assert!(out.starts_with(b"t\x1b/\x07x "));
        out.clear();
        let root = Format::parse(b"%H", &mut Vec::new()).unwrap();
        root.write_to_terminal(&file, &mut out);
        assert_eq!(out, b"t?");
    }

    #[test]
    fn terminals_get_no_escapes_from_file_systems_and_accounts() {
        let mut file = Fake {
            file_system: b"fuse.\x1b]0;x\x07\x7f\xc2\x9b".to_vec(),
            context: b"c\x1b".to_vec(),
            account: b"u\x1b\xff".to_vec(),
            ..Fake::default()
        };
        file.metadata.as_mut().unwrap().set_gid(0);
        let format = Format::parse(b"%F|%Z|%u|%5g", &mut Vec::new()).unwrap();
        let mut out = Vec::new();
        format.write_to_terminal(&file, &mut out);
        assert!(out.starts_with(b"fuse.?]0;x???"), "{}", out.escape_ascii());
        assert!(out.ends_with(b"|c?|u??|  u??"), "{}", out.escape_ascii());
        out.clear();
        format.write(&file, &mut out);
        assert!(out.starts_with(b"fuse.\x1b]0;x\x07\x7f\xc2\x9b|c\x1b|u\x1b\xff|"));
    }
}
