//! The table of mounts, as `/proc/self/mountinfo` tells it (`proc_pid_mountinfo(5)`).

/// What is wanted of a line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    /// The id that statx(2) tells.
    pub(super) id: u64,
    /// The device in the form of `st_dev`.
    pub(super) device: u64,
    pub(super) file_system: Vec<u8>,
}

/// The table of this process; empty without `/proc`.
pub(super) fn read() -> Vec<Mount> {
    std::fs::read("/proc/self/mountinfo")
        .map(|table| parse(&table))
        .unwrap_or_default()
}

/// Lines that are not understood are left out.
fn parse(table: &[u8]) -> Vec<Mount> {
    table
        .split(|byte| *byte == b'\n')
        .filter_map(parse_line)
        .collect()
}

/// `36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/root rw`: any number of optional fields before the dash.
fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let id = text(fields.next()?)?.parse().ok()?;
    let _parent = fields.next()?;
    let (major, minor) = text(fields.next()?)?.split_once(':')?;
    let device = rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?);
    fields.find(|field| *field == b"-")?;
    let file_system = unescape(fields.next()?);
    Some(Mount {
        id,
        device,
        file_system,
    })
}

fn text(field: &[u8]) -> Option<&str> {
    std::str::from_utf8(field).ok()
}

/// Blanks, tabs, line breaks and backslashes are written as `\` and three octal digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, after)) = rest.split_first() {
        if let (b'\\', Some((&[a, b, c], tail))) = (first, after.split_first_chunk())
            && (b'0'..=b'3').contains(&a)
            && [b, c].iter().all(|digit| (b'0'..=b'7').contains(digit))
        {
            text.push(((a - b'0') << 6) | ((b - b'0') << 3) | (c - b'0'));
            rest = tail;
        } else {
            text.push(first);
            rest = after;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_and_without_optional_fields() {
        let table = br"22 1 0:21 / /proc rw,relatime shared:5 master:1 - proc proc rw
27 1 254:1 / / rw - ext4 /dev/root rw,discard
30 27 0:300 /s /mnt/a\040-\040b rw - fuse.my\040fs\134x host:/ rw
nonsense
31 27 8:2 / /mnt rw ext4 /dev/sdb rw
";
        let mount = |id, device, file_system: &[u8]| Mount {
            id,
            device,
            file_system: file_system.to_vec(),
        };
        let device = rustix::fs::makedev;
        assert_eq!(
            parse(table),
            [
                mount(22, device(0, 21), b"proc"),
                mount(27, device(254, 1), b"ext4"),
                mount(30, device(0, 300), b"fuse.my fs\\x"),
            ]
        );
    }

    #[test]
    fn escapes() {
        assert_eq!(unescape(br"a\040\011\012\134b"), b"a \t\n\\b");
        assert_eq!(unescape(br"\04\9\400\"), br"\04\9\400\");
        assert_eq!(unescape(br"\377"), b"\xff");
    }
}
