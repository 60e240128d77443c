//! The table of mounts in `/proc/self/mountinfo` (`proc_pid_mountinfo(5)`).

use crate::visit::metadata::Metadata;
use rustix::fs::StatxAttributes;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The table of the process that reads it.
const TABLE: &str = "/proc/self/mountinfo";

/// Bytes of a table of some hundred mounts.
const MOST_AT_ONCE: usize = 64 << 10;

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Mount id, as statx(2) reports it of files.
    pub id: u64,
    /// Id of the mount that this one is mounted on.
    pub parent: u64,
    /// Major number of the device, as `st_dev` has it.
    pub major: u32,
    /// Minor number of the device.
    pub minor: u32,
    /// The part of the file system that is mounted: `/` or, for bind mounts and containers, a
    /// directory in it.
    pub root: PathBuf,
    /// Where it is mounted.
    pub point: PathBuf,
    /// Options of the mount, such as `ro,noatime,idmapped`.
    pub options: String,
    /// Type of the file system, such as `ext4` or `fuse.sshfs`. A FUSE server chooses what follows
    /// the dot.
    pub file_system: OsString,
    /// The device, or what the file system names as its source.
    pub source: PathBuf,
    /// Options of the file system, which for a cgroup hierarchy name its controllers.
    pub super_options: String,
}

impl Mount {
    /// Returns true if the mount or its file system has this option.
    pub fn has_option(&self, option: &str) -> bool {
        let all = self.options.split(',').chain(self.super_options.split(','));
        all.into_iter().any(|found| found == option)
    }

    /// Returns true if the file system, not only this mount of it, is read-only.
    pub fn is_read_only(&self) -> bool {
        self.super_options.split(',').any(|option| option == "ro")
    }
}

/// Returns the mounts of a whole table.
///
/// # Errors
///
/// If a line is not understood, or the table ends within one. To leave a mount out would be a wrong
/// answer.
pub fn parse(table: &[u8]) -> io::Result<Vec<Mount>> {
    let failed =
        |why: String| io::Error::new(io::ErrorKind::InvalidData, format!("{TABLE}: {why}"));
    let Some(lines) = table.strip_suffix(b"\n") else {
        return Err(failed("it ends within a line".into()));
    };
    let understood = |line| {
        parse_line(line).ok_or_else(|| {
            let line = line.escape_ascii();
            failed(format!("this line is not understood: {line}"))
        })
    };
    lines.split(|byte| *byte == b'\n').map(understood).collect()
}

/// Reads the table of this process.
///
/// # Errors
///
/// If it cannot be read, as without `/proc` or without a free descriptor, or is not understood.
pub fn read() -> io::Result<Vec<Mount>> {
    // One read, if the table fits: for each further one the kernel looks for its place from the
    // beginning.
    let mut table = Vec::with_capacity(MOST_AT_ONCE);
    File::open(TABLE)
        .and_then(|mut file| file.read_to_end(&mut table))
        .map_err(|error| io::Error::new(error.kind(), format!("{TABLE}: {error}")))?;
    parse(&table)
}

/// Parses a line such as `36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/root rw`, with
/// any number of optional fields before the dash.
fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let id = text(fields.next()?)?.parse().ok()?;
    let parent = text(fields.next()?)?.parse().ok()?;
    let (major, minor) = text(fields.next()?)?.split_once(':')?;
    let (major, minor) = (major.parse().ok()?, minor.parse().ok()?);
    let root = unescape(fields.next()?);
    let point = unescape(fields.next()?);
    let options = String::from_utf8_lossy(fields.next()?).into_owned();
    fields.find(|field| *field == b"-")?;
    let file_system = unescape(fields.next()?).into_os_string();
    let source = unescape(fields.next()?);
    let super_options = String::from_utf8_lossy(fields.next()?).into_owned();
    Some(Mount {
        id,
        parent,
        major,
        minor,
        root,
        point,
        options,
        file_system,
        source,
        super_options,
    })
}

fn text(field: &[u8]) -> Option<&str> {
    std::str::from_utf8(field).ok()
}

/// Decodes blanks, tabs, line breaks and backslashes, which the table has as `\` and three octal
/// digits.
fn unescape(field: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, after)) = rest.split_first() {
        if let (b'\\', Some((&[a, b, c], tail))) = (first, after.split_first_chunk())
            && (b'0'..=b'3').contains(&a)
            && [b, c].iter().all(|digit| (b'0'..=b'7').contains(digit))
        {
            path.push(((a - b'0') << 6) | ((b - b'0') << 3) | (c - b'0'));
            rest = tail;
        } else {
            path.push(first);
            rest = after;
        }
    }
    PathBuf::from(OsString::from_vec(path))
}

/// Returns the mount with this id, or else the mount with the longest mount point above `path`. If
/// several mounts have the same mount point, the last one covers the others.
pub fn find<'m>(mounts: &'m [Mount], id: Option<u64>, path: &Path) -> Option<&'m Mount> {
    if let Some(mount) = id.and_then(|id| mounts.iter().find(|mount| mount.id == id)) {
        return Some(mount);
    }
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    above.max_by_key(|mount| mount.point.as_os_str().as_bytes().len())
}

/// The bit of [`Metadata::attributes`] for the root of a mount (`STATX_ATTR_MOUNT_ROOT`).
pub(crate) const MOUNT_ROOT: u64 = StatxAttributes::MOUNT_ROOT.bits();

/// Returns true if the kernel reports a directory as the root of a mount
/// (`STATX_ATTR_MOUNT_ROOT`, since Linux 5.8).
pub fn is_mount_root(metadata: &Metadata) -> bool {
    metadata.attributes & MOUNT_ROOT != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = br"22 1 0:21 / /proc rw,relatime shared:5 master:1 - proc proc rw
27 1 254:0 / / rw - ext4 /dev/root rw,discard
30 27 8:1 /sub /mnt/a\040b rw - xfs /dev/sda1 rw
31 27 8:2 / /mnt/a rw - btrfs /dev/sdb rw
32 31 0:50 / /mnt/a rw - tmpfs tmpfs rw
";

    #[test]
    fn lines_with_and_without_optional_fields() {
        let mounts = parse(TABLE).unwrap();
        assert_eq!(mounts.len(), 5);
        assert_eq!(mounts[0].id, 22);
        assert_eq!(mounts[0].file_system, "proc");
        assert_eq!(
            (mounts[0].parent, mounts[0].options.as_str()),
            (1, "rw,relatime")
        );
        let xfs = &mounts[2];
        assert_eq!(xfs.point, Path::new("/mnt/a b"));
        assert_eq!(
            (xfs.major, xfs.minor, xfs.root.as_path()),
            (8, 1, Path::new("/sub"))
        );
        assert_eq!(xfs.source, Path::new("/dev/sda1"));
        assert_eq!(mounts[1].super_options, "rw,discard");
        assert!(mounts[1].has_option("discard") && !mounts[1].has_option("disc"));
    }

    #[test]
    fn a_type_may_have_blanks_and_bytes_that_are_no_text() {
        let line = b"30 27 0:300 /s /mnt rw - fuse.my\\040fs\\134\xff host:/ rw\n";
        let mounts = parse(line).unwrap();
        assert_eq!(mounts[0].file_system.as_bytes(), b"fuse.my fs\\\xff");
    }

    #[test]
    fn escapes() {
        let unescape = |field| unescape(field).into_os_string().into_vec();
        assert_eq!(unescape(br"a\040\011\012\134b"), b"a \t\n\\b");
        assert_eq!(unescape(br"\04\9\400\"), br"\04\9\400\");
        assert_eq!(unescape(br"\377"), b"\xff");
    }

    #[test]
    fn lines_that_are_not_understood_are_errors() {
        let good = "27 1 254:0 / / rw - ext4 /dev/root rw\n";
        for bad in [
            "nonsense\n",
            "\n",
            "x 1 254:0 / / rw - ext4 /dev/root rw\n",
            "27 1 254 / / rw - ext4 /dev/root rw\n",
            "27 1 254:0 / / rw ext4 /dev/root rw\n",
            "27 1 254:0 / / rw - ext4 /dev/root\n",
        ] {
            let table = format!("{good}{bad}");
            let error = parse(table.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("not understood"), "{bad}: {error}");
        }
        let cut = &good[..good.len() - 1];
        for table in ["", cut] {
            let error = parse(table.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("ends within"), "{error}");
        }
    }

    #[test]
    fn the_id_decides_then_the_longest_and_last_point() {
        let mounts = parse(TABLE).unwrap();
        let id = |found: Option<&Mount>| found.map(|mount| mount.id);
        assert_eq!(
            id(find(&mounts, Some(31), Path::new("/elsewhere"))),
            Some(31)
        );
        assert_eq!(id(find(&mounts, None, Path::new("/mnt/a/deep"))), Some(32));
        assert_eq!(
            id(find(&mounts, Some(999), Path::new("/mnt/ab"))),
            Some(27),
            "not a component"
        );
        assert_eq!(id(find(&[], None, Path::new("/"))), None);
    }
}
