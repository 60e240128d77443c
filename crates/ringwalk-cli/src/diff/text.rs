//! Lines of text. On a terminal they are a table with a head and a total, for people. Elsewhere
//! they are lines with tabs and exact numbers.

use super::paint::{Paint, Path};
use super::{DiffArgs, TOP_ON_TERMINAL, by};
use ringwalk::FileType;
use ringwalk_answers::diff::{Diff, Group, GroupKey, Kind, Line, Version};
use ringwalk_snapshot::Column;
use std::fmt::Write as _;

/// Columns between two cells.
const GAP: &str = "  ";

/// How to see what the table of changes leaves out. Many small changes show little one by one.
const BY_CHANGE: &str = "--top shows more, --by dir the directories that grew";
/// How to see what a table of groups leaves out.
const BY_GROUP: &str = "--top shows more";

/// Returns the text for a terminal or for another output. `period` is the line above a table.
pub(super) fn text(diff: &Diff, args: &DiffArgs, period: &str, is_terminal: bool) -> Vec<u8> {
    let paint = Paint::of_output(is_terminal, args.sizes.format());
    let most = args.top.map(Into::into);
    let most = most.or(paint.is_terminal.then_some(TOP_ON_TERMINAL));
    let most = most.unwrap_or(usize::MAX);
    let mut out = Vec::new();
    if paint.is_terminal && !diff.is_same() {
        out.extend_from_slice(period.as_bytes());
    }
    out.append(&mut match by(args) {
        None => changes(diff, &diff.lines(), most, &paint),
        Some(by) => groups(diff, &diff.groups(by), most, &paint),
    });
    out
}

/// Returns the lines of changes.
fn changes(diff: &Diff, lines: &[Line<'_>], most: usize, paint: &Paint) -> Vec<u8> {
    let (shown, rest) = lines.split_at(most.min(lines.len()));
    let mut out = Vec::new();
    if !paint.is_terminal {
        for line in shown {
            let kind = line.change.kind.name();
            let _ = write_text(
                &mut out,
                format_args!("{}\t{kind}\t", paint.exact(line.growth)),
            );
            paths(diff, line, paint, "\t", &mut out);
            out.push(b'\n');
        }
        return out;
    }
    if lines.is_empty() {
        return if diff.is_certain() {
            b"No differences.\n".to_vec()
        } else {
            Vec::new()
        };
    }
    let cells = shown.iter().map(|line| {
        let size = line
            .change
            .new
            .as_ref()
            .and_then(|new| new.get(Column::Alloc));
        let size = size.map_or_else(
            || "-".to_owned(),
            // A new directory has grown from nothing: its growth is its size.
            |size| {
                let grown = if line.below > 0 { line.growth } else { size };
                paint.sizes.size(grown.unsigned_abs())
            },
        );
        [
            paint.sizes.growth(line.growth),
            size,
            line.change.kind.name().to_owned(),
        ]
    });
    let heads = ["growth", "size", "change"];
    let cells: Vec<_> = cells.collect();
    let widths = widths(&heads, &cells);
    head(&heads, &widths, "path", paint, &mut out);
    for (line, cells) in shown.iter().zip(&cells) {
        row(line.growth, cells, &widths, paint, &mut out);
        paths(diff, line, paint, " -> ", &mut out);
        if let Some(note) = note(line) {
            let _ = write_text(&mut out, format_args!("{GAP}({note})"));
        }
        out.push(b'\n');
    }
    let growth = rest
        .iter()
        .map(|line| line.growth)
        .fold(0, i64::saturating_add);
    more(rest.len(), "change", growth, BY_CHANGE, paint, &mut out);
    total(diff, paint, &mut out);
    out
}

/// Appends the path of a change. For a rename, the old path and the new one.
fn paths(diff: &Diff, line: &Line<'_>, paint: &Paint, between: &str, out: &mut Vec<u8>) {
    let change = line.change;
    let version = change.version();
    if let Some(from) = change.from() {
        // At a terminal as `ls -l` shows links; for programs the path comes first.
        let (first, second) = if paint.is_terminal {
            (from, version)
        } else {
            (version, from)
        };
        path_of(diff, first, paint, out);
        out.extend_from_slice(between.as_bytes());
        path_of(diff, second, paint, out);
        return;
    }
    path_of(diff, version, paint, out);
}

fn path_of(diff: &Diff, version: &Version, paint: &Paint, out: &mut Vec<u8>) {
    let path = diff.absolute(version.root, &version.path);
    let number = |field| {
        version
            .get(field)
            .and_then(|value| u32::try_from(value).ok())
    };
    let mode = number(Column::Mode).unwrap_or(0);
    let links = number(Column::Nlink).unwrap_or(1);
    paint.path(&Path::new(&path, version.file_type, mode, links), out);
}

/// Returns what else a person wants to know of a change.
fn note(line: &Line<'_>) -> Option<String> {
    let change = line.change;
    if line.below > 0 {
        let plural = if line.below == 1 { "y" } else { "ies" };
        return Some(format!("with {} entr{plural}", line.below));
    }
    if change.is_likely {
        return Some("likely: no lasting identity".to_owned());
    }
    match change.kind {
        Kind::LinkAdded | Kind::LinkRemoved => Some("has other names".to_owned()),
        Kind::Modified | Kind::Renamed if line.growth == 0 => {
            let names: Vec<_> = change.changed.iter().map(Column::name).collect();
            (!names.is_empty()).then(|| names.join(", "))
        }
        Kind::Retyped => {
            let name = |version: &Option<Version>| {
                version
                    .as_ref()
                    .map_or("unknown", |version| type_name(version.file_type))
            };
            Some(format!("{} -> {}", name(&change.old), name(&change.new)))
        }
        _ => None,
    }
}

fn type_name(file_type: FileType) -> &'static str {
    match file_type {
        FileType::BlockDevice => "block device",
        FileType::CharacterDevice => "character device",
        FileType::Directory => "directory",
        FileType::Fifo => "fifo",
        FileType::Regular => "file",
        FileType::Socket => "socket",
        FileType::Symlink => "link",
        FileType::Unknown => "unknown",
    }
}

/// Returns the lines of groups.
fn groups(diff: &Diff, groups: &[Group], most: usize, paint: &Paint) -> Vec<u8> {
    let (shown, rest) = groups.split_at(most.min(groups.len()));
    let mut out = Vec::new();
    if !paint.is_terminal {
        for group in shown {
            let (growth, entries) = (paint.exact(group.growth), group.entries);
            let _ = write_text(&mut out, format_args!("{growth}\t{entries}\t"));
            name_of(diff, &group.key, paint, &mut out);
            out.push(b'\n');
        }
        return out;
    }
    if !groups.is_empty() {
        let cells: Vec<_> = shown
            .iter()
            .map(|group| {
                [
                    paint.sizes.growth(group.growth),
                    format!("{:+}", group.entries),
                ]
            })
            .collect();
        let heads = ["growth", "entries"];
        let widths = widths(&heads, &cells);
        let name = match groups[0].key {
            GroupKey::Directory(_) => "directory",
            GroupKey::Owner(_) => "owner",
            GroupKey::Extension(_) => "extension",
        };
        head(&heads, &widths, name, paint, &mut out);
        for (group, cells) in shown.iter().zip(&cells) {
            row(group.growth, cells, &widths, paint, &mut out);
            name_of(diff, &group.key, paint, &mut out);
            out.push(b'\n');
        }
        // Directories include each other, so their growth does not add up.
        let growth = match groups[0].key {
            GroupKey::Directory(_) => 0,
            _ => rest
                .iter()
                .map(|group| group.growth)
                .fold(0, i64::saturating_add),
        };
        more(rest.len(), "line", growth, BY_GROUP, paint, &mut out);
    }
    if !diff.is_same() {
        total(diff, paint, &mut out);
    } else if diff.is_certain() {
        out.extend_from_slice(b"No differences.\n");
    }
    out
}

fn name_of(diff: &Diff, key: &GroupKey, paint: &Paint, out: &mut Vec<u8>) {
    match key {
        GroupKey::Directory(location) => {
            let path = diff.absolute(location.root, &location.path);
            paint.path(&Path::new(&path, FileType::Directory, 0o755, 1), out);
        }
        GroupKey::Owner(Some(uid)) => match diff.owner_name(*uid) {
            Some(name) => paint.name(name, out),
            None => out.extend_from_slice(uid.to_string().as_bytes()),
        },
        GroupKey::Extension(Some(extension)) => {
            out.push(b'.');
            paint.name(extension.as_bytes(), out);
        }
        GroupKey::Extension(None) => out.extend_from_slice(b"(none)"),
        GroupKey::Owner(None) => out.extend_from_slice(b"-"),
    }
}

/// Returns the widths of columns. All cells are ASCII.
fn widths<const N: usize>(heads: &[&str; N], cells: &[[String; N]]) -> [usize; N] {
    std::array::from_fn(|at| {
        let widths = cells.iter().map(|cells| cells[at].len());
        widths.max().unwrap_or(0).max(heads[at].len())
    })
}

fn head<const N: usize>(
    heads: &[&str; N],
    widths: &[usize; N],
    last: &str,
    paint: &Paint,
    out: &mut Vec<u8>,
) {
    let mut line = String::new();
    for (at, head) in heads.iter().enumerate() {
        cell(at, head, widths[at], &mut line);
    }
    line.push_str(last);
    paint.strong(&line, out);
    out.push(b'\n');
}

fn row<const N: usize>(
    growth: i64,
    cells: &[String; N],
    widths: &[usize; N],
    paint: &Paint,
    out: &mut Vec<u8>,
) {
    for (at, text) in cells.iter().enumerate() {
        let mut line = String::new();
        cell(at, text, widths[at], &mut line);
        if at == 0 {
            paint.growth(growth, &line, out);
        } else {
            out.extend_from_slice(line.as_bytes());
        }
    }
}

/// Appends a cell: numbers, in the first two columns, to the right, text to the left.
fn cell(at: usize, text: &str, width: usize, out: &mut String) {
    let _ = if at < 2 {
        write!(out, "{text:>width$}{GAP}")
    } else {
        write!(out, "{text:<width$}{GAP}")
    };
}

/// Appends how many lines were left out, and how to see them.
fn more(lines: usize, what: &str, growth: i64, hint: &str, paint: &Paint, out: &mut Vec<u8>) {
    if lines == 0 {
        return;
    }
    let plural = if lines == 1 { "" } else { "s" };
    let _ = write_text(out, format_args!("... {lines} more {what}{plural}"));
    if growth != 0 {
        let _ = write_text(out, format_args!(", {} in all", paint.sizes.growth(growth)));
    }
    let _ = write_text(out, format_args!(" ({hint})\n"));
}

/// Appends the growth of everything, and how many changes there are of each kind.
fn total(diff: &Diff, paint: &Paint, out: &mut Vec<u8>) {
    let mut line = format!("total {}", paint.sizes.growth(diff.growth()));
    let mut separator = ": ";
    for kind in Kind::ALL {
        let count = diff.count(kind);
        if count > 0 {
            let name = match (kind, count) {
                (Kind::LinkAdded, 1) => "link added",
                (Kind::LinkAdded, _) => "links added",
                (Kind::LinkRemoved, 1) => "link removed",
                (Kind::LinkRemoved, _) => "links removed",
                (kind, _) => kind.name(),
            };
            let _ = write!(line, "{separator}{count} {name}");
            separator = ", ";
        }
    }
    paint.strong(&line, out);
    out.push(b'\n');
}

fn write_text(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) -> std::io::Result<()> {
    // Writing to memory does not fail.
    std::io::Write::write_fmt(out, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringwalk::Timestamp;
    use ringwalk_answers::diff::{By, DiffOptions, diff};
    use ringwalk_snapshot::{
        Attributes, Entry, FileSystemInfo, Info, Snapshot, TreeBuilder, WriteOptions,
    };

    /// A file or directory: depth, name, inode number, type, blocks of 4096 bytes.
    type Row<'a> = (usize, &'a [u8], u64, FileType, u64);

    const DIRECTORY: FileType = FileType::Directory;
    const FILE: FileType = FileType::Regular;

    /// Returns a snapshot of a tree that is given depth first.
    fn snapshot(rows: &[Row<'_>]) -> Snapshot {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("snapshot");
        let mut tree = TreeBuilder::new(WriteOptions::default());
        let mut open = 0;
        for (depth, name, ino, file_type, blocks) in rows {
            while open > *depth {
                tree.end_directory().unwrap();
                open -= 1;
            }
            let mut entry = Entry::new(name, *file_type);
            let time = Timestamp {
                secs: 5,
                nanos: u32::try_from(*ino).unwrap(),
            };
            entry.attributes = Attributes {
                ino: Some(*ino),
                dev: Some(1),
                uid: Some(42),
                nlink: Some(1),
                size: Some(blocks * 4096),
                alloc: Some(blocks * 4096),
                btime: Some(time),
                ..Attributes::default()
            };
            if *depth == 0 {
                tree.begin_root(b"/r", &entry).unwrap();
            } else if *file_type == DIRECTORY {
                tree.begin_directory(&entry).unwrap();
            } else {
                tree.file(&entry).unwrap();
                continue;
            }
            open += 1;
        }
        for _ in 0..open {
            tree.end_directory().unwrap();
        }
        let mut disk = FileSystemInfo::default();
        (disk.kind, disk.device) = (Some("ext4".to_owned()), 1);
        let mut info = Info::default();
        info.file_systems.push(disk);
        info.users
            .insert(42, ringwalk_snapshot::Text::from(&b"ann"[..]));
        tree.finish(info, &path).unwrap();
        Snapshot::open(&path).unwrap()
    }

    /// Two trees that differ in every way.
    fn differences() -> Diff {
        let old = snapshot(&[
            (0, b"", 1, DIRECTORY, 1),
            (1, b"gone", 2, DIRECTORY, 1),
            (2, b"x", 3, FILE, 2),
            (1, b"grows.log", 4, FILE, 10),
            (1, b"moves", 5, FILE, 3),
            (1, b"turns", 6, FILE, 1),
        ]);
        let new = snapshot(&[
            (0, b"", 1, DIRECTORY, 1),
            (1, b"grows.log", 4, FILE, 300),
            (1, b"moved\x1b[2J", 5, FILE, 3),
            (1, b"new", 7, DIRECTORY, 1),
            (2, b"y", 8, FILE, 4),
            (2, b"z", 9, FILE, 5),
            (1, b"turns", 10, DIRECTORY, 1),
        ]);
        diff(&old, &new, &DiffOptions::default()).unwrap()
    }

    #[test]
    fn people_see_a_table_with_the_largest_growth_first() {
        let diff = differences();
        let table = changes(&diff, &diff.lines(), 20, &Paint::plain(true));
        let expected = "\
growth  size  change    path
 +1.2M  1.2M  modified  /r/grows.log
  +40K   40K  added     /r/new  (with 2 entries)
     0   12K  renamed   /r/moves -> /r/moved?[2J
     0  4.0K  retyped   /r/turns  (file -> directory)
  -12K     -  removed   /r/gone  (with 1 entry)
total +1.2M: 3 added, 2 removed, 1 modified, 1 retyped, 1 renamed
";
        assert_eq!(String::from_utf8_lossy(&table), expected);
    }

    #[test]
    fn a_short_table_says_what_it_leaves_out() {
        let diff = differences();
        let table = changes(&diff, &diff.lines(), 1, &Paint::plain(true));
        let text = String::from_utf8_lossy(&table);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert_eq!(
            lines[2],
            "... 4 more changes, +28K in all (--top shows more, --by dir the directories that grew)"
        );
    }

    #[test]
    fn programs_get_exact_numbers_and_bytes() {
        let diff = differences();
        let lines = changes(&diff, &diff.lines(), usize::MAX, &Paint::plain(false));
        let expected = "\
1187840\tmodified\t/r/grows.log
40960\tadded\t/r/new
0\trenamed\t/r/moved\x1b[2J\t/r/moves
0\tretyped\t/r/turns
-12288\tremoved\t/r/gone
";
        assert_eq!(String::from_utf8_lossy(&lines), expected);
    }

    #[test]
    fn groups_have_growth_names_and_labels() {
        let diff = differences();
        let table = |by| {
            let table = groups(&diff, &diff.groups(by), 20, &Paint::plain(true));
            String::from_utf8_lossy(&table).into_owned()
        };
        let owner = table(By::Owner);
        assert!(
            owner.starts_with("growth  entries  owner\n +1.2M       +1  ann\n"),
            "{owner}"
        );
        let directories = table(By::Directory { depth: 1 });
        let lines: Vec<_> = directories.lines().collect();
        assert_eq!(lines[0], "growth  entries  directory");
        assert_eq!(lines[1], " +1.2M       +1  /r");
        assert_eq!(lines[2], "  +40K       +3  /r/new");
        let extensions = table(By::Extension);
        assert!(
            extensions.contains(" +1.2M       +0  .log\n") && extensions.contains("  (none)\n"),
            "{extensions}"
        );
    }

    #[test]
    fn equal_snapshots_say_so() {
        let rows = [(0, &b""[..], 1, DIRECTORY, 1)];
        let same = diff(&snapshot(&rows), &snapshot(&rows), &DiffOptions::default()).unwrap();
        let table = changes(&same, &same.lines(), 20, &Paint::plain(true));
        assert_eq!(table, b"No differences.\n");
        assert_eq!(changes(&same, &same.lines(), 20, &Paint::plain(false)), b"");
    }
}
