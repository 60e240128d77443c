//! Leftovers as lines of JSON, each with a checksum.
//!
//! A line that was damaged could name another directory, which would be missed without an error. So
//! each line ends with the CRC-32 of the bytes before it.

use crate::capture::visitor::{directory_of, is_below_mount, tag};
use crate::info::Text;
use crate::kind::{type_letter, type_of_letter};
use crate::schema::LONGEST_PATH;
use ringwalk::{Identity, Leftover, ListedName, Remaining};
use serde::{Deserialize, Serialize};

/// A leftover as a line has it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// The task that left it, and its number among the leftovers of that task.
    id: (u32, u32),
    /// The number of the directory.
    dir: u64,
    root: usize,
    /// Device and inode number of the root.
    root_id: (u64, u64),
    path: Text,
    depth: usize,
    /// Device and inode number of the directory, if they are known.
    file: Option<(u64, u64)>,
    /// True if a mount point is on the path.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    mount: bool,
    /// Entries of the directory that have been read.
    read: u64,
    rest: Rest,
}

/// What remains of a directory.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Rest {
    Whole,
    From {
        at: i64,
        to: Option<i64>,
    },
    /// Names, letters of types, and inode numbers.
    Names(Vec<(Text, String, u64)>),
}

/// A leftover that a task has left to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LeftLine {
    /// The task that left it.
    pub(super) task: u32,
    /// Its number among the leftovers of that task, from 0.
    pub(super) index: u32,
    pub(super) leftover: Leftover,
}

/// What follows the other fields of a line: the name of the last one.
const CHECKSUM: &str = ",\"crc\":\"";
/// Bytes of the last field of a line: its name, eight digits, and the end of the object.
const TAIL: usize = CHECKSUM.len() + 8 + 2;

impl LeftLine {
    /// Returns the line, with its line break.
    pub(super) fn to_line(&self) -> String {
        let leftover = &self.leftover;
        let pair = |identity: Identity| (identity.dev, identity.ino);
        let line = Line {
            id: (self.task, self.index),
            dir: directory_of(leftover.tag),
            root: leftover.root,
            root_id: pair(leftover.root_identity),
            path: Text(leftover.path.clone()),
            depth: leftover.depth,
            file: leftover.identity.map(pair),
            mount: is_below_mount(leftover.tag),
            read: leftover.read,
            rest: Rest::of(&leftover.remaining),
        };
        let mut text = crate::info::json(&line);
        // The brace at the end follows the checksum.
        text.pop();
        let checksum = crc32fast::hash(text.as_bytes());
        text + &format!("{CHECKSUM}{checksum:08x}\"}}\n")
    }

    /// Reads a line without its line break. `roots` is the number of roots.
    ///
    /// # Errors
    ///
    /// What is wrong with the line.
    pub(super) fn parse(line: &[u8], roots: usize) -> Result<Self, String> {
        let cut = line.len().checked_sub(TAIL).ok_or("it is too short")?;
        let (fields, tail) = line.split_at(cut);
        let checksum = crc32fast::hash(fields);
        if tail != format!("{CHECKSUM}{checksum:08x}\"}}").as_bytes() {
            return Err("its checksum is wrong".to_owned());
        }
        let object = [fields, b"}"].concat();
        let line: Line = serde_json::from_slice(&object).map_err(|error| error.to_string())?;
        line.into_left(roots)
    }
}

impl Line {
    fn into_left(self, roots: usize) -> Result<LeftLine, String> {
        let path = self.path.0;
        let depth = self.depth;
        if path.len() > LONGEST_PATH || Leftover::depth_of(&path) != Some(depth) {
            return Err("its path is invalid, too long, or does not match its depth".to_owned());
        }
        if self.root >= roots {
            return Err("the walk has no root with this index".to_owned());
        }
        let identity = |(dev, ino)| Identity { dev, ino };
        Ok(LeftLine {
            task: self.id.0,
            index: self.id.1,
            leftover: Leftover {
                root: self.root,
                root_identity: identity(self.root_id),
                path,
                depth,
                identity: self.file.map(identity),
                remaining: self.rest.into_remaining()?,
                read: self.read,
                tag: tag(self.dir, self.mount),
            },
        })
    }
}

impl Rest {
    fn of(remaining: &Remaining) -> Self {
        match remaining {
            Remaining::Whole => Self::Whole,
            Remaining::From { position, to } => Self::From {
                at: *position,
                to: *to,
            },
            Remaining::Names(names) => {
                let names = names.iter().map(|listed| {
                    let letter = type_letter(listed.file_type).unwrap_or_default();
                    (Text(listed.name.clone()), letter.to_owned(), listed.ino)
                });
                Self::Names(names.collect())
            }
        }
    }

    fn into_remaining(self) -> Result<Remaining, String> {
        Ok(match self {
            Self::Whole => Remaining::Whole,
            Self::From { at, to } => Remaining::From { position: at, to },
            Self::Names(names) => {
                // The path of a directory of one name.
                let is_name = |name: &Text| Leftover::depth_of(&name.0) == Some(1);
                if names.iter().any(|(name, _, _)| !is_name(name)) {
                    return Err("one of its names cannot be a file name".to_owned());
                }
                let names = names.into_iter().map(|(name, letter, ino)| ListedName {
                    name: name.0,
                    file_type: type_of_letter(Some(letter.as_bytes())),
                    ino,
                });
                Remaining::Names(names.collect())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringwalk::FileType;

    fn left(path: &[u8], depth: usize, remaining: Remaining) -> LeftLine {
        LeftLine {
            task: 3,
            index: 9,
            leftover: Leftover {
                root: 1,
                root_identity: Identity { dev: 1, ino: 2 },
                path: path.to_vec(),
                depth,
                identity: Some(Identity {
                    dev: u64::MAX,
                    ino: u64::MAX - 1,
                }),
                remaining,
                read: 17,
                tag: tag(3 << 32 | 5, true),
            },
        }
    }

    fn parse(line: &str) -> Result<LeftLine, String> {
        LeftLine::parse(line.strip_suffix('\n').unwrap().as_bytes(), 2)
    }

    #[test]
    fn lines_are_read_as_they_were_written() {
        let name = |name: &[u8], file_type| ListedName {
            name: name.to_vec(),
            file_type,
            ino: u64::MAX,
        };
        let names = vec![
            name(b"a\n\"\\", FileType::Regular),
            name(b"\xff", FileType::Unknown),
        ];
        let (position, to) = (i64::MAX, Some(i64::MIN));
        for remaining in [
            Remaining::Whole,
            Remaining::From { position, to },
            Remaining::Names(names),
        ] {
            for (path, depth) in [(&b""[..], 0), (b"a/\xff\xfe/c", 3), (b"\n", 1)] {
                let mut left = left(path, depth, remaining.clone());
                for identity in [left.leftover.identity, None] {
                    left.leftover.identity = identity;
                    assert_eq!(parse(&left.to_line()), Ok(left.clone()));
                }
            }
        }
    }

    #[test]
    fn any_change_of_a_line_is_noticed() {
        let line = left(b"a/b", 2, Remaining::Whole).to_line();
        for at in 0..line.len() - 1 {
            let mut bytes = line.clone().into_bytes();
            bytes.pop();
            bytes[at] ^= 1;
            assert!(LeftLine::parse(&bytes, 2).is_err(), "{at}");
            assert!(LeftLine::parse(&bytes[..at], 2).is_err(), "{at}");
        }
    }

    /// A sound line of another program must not lead out of the tree.
    #[test]
    fn paths_that_no_directory_has() {
        for (path, depth) in [
            (&b"/etc"[..], 2),
            (b"..", 1),
            (b"a/../b", 3),
            (b"a//b", 3),
            (b"a/", 2),
            (b".", 1),
            (b"a\0", 1),
            (b"a", 2),
            (b"", 1),
        ] {
            let error = parse(&left(path, depth, Remaining::Whole).to_line());
            assert!(error.is_err(), "{}", path.escape_ascii());
        }
        let mut other = left(b"a", 1, Remaining::Whole);
        other.leftover.root = 2;
        assert!(parse(&other.to_line()).unwrap_err().contains("root"));
        let names = vec![ListedName {
            name: b"a/b".to_vec(),
            file_type: FileType::Regular,
            ino: 1,
        }];
        let names = left(b"a", 1, Remaining::Names(names));
        assert!(parse(&names.to_line()).unwrap_err().contains("names"));
    }
}
