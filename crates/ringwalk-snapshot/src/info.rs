//! What a snapshot says of itself: the key-value metadata of the footer.
//!
//! Each value is JSON. `docs/snapshot.md` describes the keys.

use crate::import_format::ImportFormat;
use crate::schema::{Contents, Shape, VERSION};
use crate::seal;
use ringwalk::Timestamp;
use ringwalk::identity::KnownFileSystem;
use ringwalk_text::{from_hex, hex};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The keys of the footer.
pub(crate) mod keys {
    pub(crate) const SCHEMA: &str = "ringwalk.schema";
    /// In parts only, which have no key `SCHEMA`.
    pub(crate) const PART: &str = "ringwalk.part";
    pub(crate) const TOOL: &str = "ringwalk.tool";
    pub(crate) const ROOTS: &str = "ringwalk.roots";
    pub(crate) const FILE_SYSTEMS: &str = "ringwalk.filesystems";
    pub(crate) const USERS: &str = "ringwalk.users";
    pub(crate) const GROUPS: &str = "ringwalk.groups";
    pub(crate) const VERDICT: &str = "ringwalk.verdict";
    pub(crate) const RUN: &str = "ringwalk.run";
    pub(crate) const COLUMNS: &str = "ringwalk.columns";
    pub(crate) const ROW_GROUPS: &str = "ringwalk.row_groups";
}

/// The program that wrote a Parquet file, in the form that the format of Parquet recommends.
pub const CREATED_BY: &str = concat!("ringwalk version ", env!("CARGO_PKG_VERSION"));

/// What a snapshot says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Info {
    /// The program that wrote the file.
    pub tool: Tool,
    /// The trees, in the order of the column `root`.
    pub roots: Vec<RootInfo>,
    /// The file systems, in the order of the column `fs`.
    pub file_systems: Vec<FileSystemInfo>,
    /// Names of owners.
    pub users: BTreeMap<u32, Text>,
    /// Names of groups.
    pub groups: BTreeMap<u32, Text>,
    /// Whether everything was read.
    pub verdict: Verdict,
    /// When and how the trees were read.
    pub run: Run,
}

/// The program that wrote a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Default for Tool {
    /// Returns this version of Ringwalk.
    fn default() -> Self {
        Self {
            name: "ringwalk".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// The root of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RootInfo {
    /// Absolute path, without symbolic links.
    pub path: Text,
}

impl RootInfo {
    /// Creates the root at an absolute path.
    pub fn new(path: &[u8]) -> Self {
        Self {
            path: Text::from(path),
        }
    }

    /// Returns the absolute path of a file whose path is relative to this root.
    pub fn absolute(&self, path: &[u8]) -> Vec<u8> {
        let mut absolute = self.path.0.clone();
        if !path.is_empty() && absolute.last() != Some(&b'/') {
            absolute.push(b'/');
        }
        absolute.extend_from_slice(path);
        absolute
    }
}

/// A file system that a tree lies on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FileSystemInfo {
    /// The UUID as the file system reports it, in lower case with hyphens; `None` without one.
    pub uuid: Option<String>,
    /// The type as in `/proc/self/mountinfo`; `None` if it is not known.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Where it was mounted; `None` if it is not known.
    pub mount_point: Option<Text>,
    /// The number of the subvolume of btrfs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subvolume: Option<u64>,
    /// Device number (`st_dev`) at that time. It may change at every mount.
    pub device: u64,
}

impl FileSystemInfo {
    /// Returns what names this file system.
    pub fn known(&self) -> KnownFileSystem<'_> {
        KnownFileSystem {
            kind: self.kind.as_deref(),
            uuid: self.uuid.as_deref(),
            subvolume: self.subvolume,
            mount_point: self.mount_point.as_ref().map(|point| &*point.0),
            device: self.device,
        }
    }
}

/// Whether a snapshot has everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verdict {
    /// True if every file could be read.
    pub complete: bool,
    /// The number of failures. Each is a row with an error, except failures of files that have no
    /// row.
    pub errors: u64,
    /// The number of rows.
    pub entries: u64,
}

/// When and how the trees were read. This is the only part that may differ between two snapshots of
/// the same trees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Run {
    /// When reading began.
    pub start: Moment,
    /// When reading ended.
    pub end: Moment,
    /// The source of the entries: `syscall`, `ext4`, ..., or the format of an imported file.
    pub source: String,
    /// True if the name of an owner could not be looked up. Without it, numbers that have no name
    /// here have none at all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub names_missing: bool,
    /// For each file system of type btrfs the last transaction that was committed before reading
    /// began. An update relies on them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transactions: Vec<Transaction>,
}

/// What is written of a run, with a place for the checksum of the footer (`seal.rs`).
#[derive(Serialize)]
struct OpenRun<'r> {
    #[serde(flatten)]
    run: &'r Run,
    footer_crc32: &'static str,
}

impl<'r> OpenRun<'r> {
    fn new(run: &'r Run) -> Self {
        Self {
            run,
            footer_crc32: seal::OPEN,
        }
    }
}

/// A transaction of a file system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Transaction {
    /// The UUID of the file system.
    pub uuid: String,
    /// The number of the transaction.
    pub transaction: u64,
}

/// A point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Moment {
    /// Seconds since 1970-01-01 00:00 UTC.
    pub seconds: i64,
    /// Nanoseconds after that second.
    pub nanoseconds: u32,
}

impl From<Timestamp> for Moment {
    fn from(time: Timestamp) -> Self {
        Self {
            seconds: time.secs,
            nanoseconds: time.nanos,
        }
    }
}

impl From<Moment> for Timestamp {
    fn from(moment: Moment) -> Self {
        Self {
            secs: moment.seconds,
            nanos: moment.nanoseconds,
        }
    }
}

/// Bytes that are text as a rule: UTF-8 as a JSON string, other bytes as `{"hex": "…"}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "TextForm", into = "TextForm")]
pub struct Text(pub Vec<u8>);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum TextForm {
    Text(String),
    Hex { hex: String },
}

impl From<&[u8]> for Text {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl TryFrom<TextForm> for Text {
    type Error = &'static str;

    fn try_from(form: TextForm) -> Result<Self, Self::Error> {
        match form {
            TextForm::Text(text) => Ok(Self(text.into_bytes())),
            TextForm::Hex { hex } => from_hex(hex.as_bytes())
                .map(Self)
                .ok_or("expected pairs of hexadecimal digits"),
        }
    }
}

impl From<Text> for TextForm {
    fn from(text: Text) -> Self {
        match String::from_utf8(text.0) {
            Ok(text) => Self::Text(text),
            Err(error) => Self::Hex {
                hex: hex(error.as_bytes()),
            },
        }
    }
}

/// The description of a column in the footer.
#[derive(Serialize)]
struct ColumnDescription {
    description: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    unit: &'static str,
}

impl Info {
    /// Returns the keys and values of the footer, except the ones that only the writer knows.
    pub(crate) fn to_pairs(&self, contents: Contents) -> Vec<(&'static str, String)> {
        vec![
            (keys::SCHEMA, json(&VERSION)),
            (keys::TOOL, json(&self.tool)),
            (keys::ROOTS, json(&self.roots)),
            (keys::FILE_SYSTEMS, json(&self.file_systems)),
            (keys::USERS, json(&self.users)),
            (keys::GROUPS, json(&self.groups)),
            (keys::VERDICT, json(&self.verdict)),
            (keys::COLUMNS, columns(contents, Shape::Snapshot)),
            (keys::RUN, json(&OpenRun::new(&self.run))),
        ]
    }

    /// Returns the keys and values of the footer of a part. `part` has the values that only parts
    /// have.
    pub(crate) fn to_part_pairs<P: Serialize>(
        &self,
        contents: Contents,
        part: &P,
    ) -> Vec<(&'static str, String)> {
        vec![
            (keys::PART, json(part)),
            (keys::TOOL, json(&self.tool)),
            (keys::ROOTS, json(&self.roots)),
            (keys::FILE_SYSTEMS, json(&self.file_systems)),
            (keys::COLUMNS, columns(contents, Shape::Part)),
            (keys::RUN, json(&OpenRun::new(&self.run))),
        ]
    }

    /// Reads the keys and values of the footer of a part.
    ///
    /// # Errors
    ///
    /// As [`from_pairs`](Self::from_pairs).
    pub(crate) fn from_part_pairs(pairs: &BTreeMap<String, String>) -> Result<Self, String> {
        Ok(Self {
            tool: value(pairs, keys::TOOL)?,
            roots: value(pairs, keys::ROOTS)?,
            file_systems: value(pairs, keys::FILE_SYSTEMS)?,
            run: value(pairs, keys::RUN)?,
            ..Self::default()
        })
    }

    /// Returns true if each user and group has its name here, if it has one. An imported snapshot
    /// has no names.
    pub fn has_all_names(&self) -> bool {
        self.is_captured() && !self.run.names_missing
    }

    /// Returns true if the trees were live; false if they come from a file of another program.
    fn is_captured(&self) -> bool {
        let source = &self.run.source;
        !source.is_empty() && !ImportFormat::is_source(source)
    }

    /// Returns true if the type of each file system is known.
    pub fn has_all_file_system_types(&self) -> bool {
        self.is_captured() && self.file_systems.iter().all(|each| each.kind.is_some())
    }

    /// Reads the keys and values of a footer.
    ///
    /// # Errors
    ///
    /// The key that is missing or has a value of another form.
    pub(crate) fn from_pairs(pairs: &BTreeMap<String, String>) -> Result<Self, String> {
        Ok(Self {
            tool: value(pairs, keys::TOOL)?,
            roots: value(pairs, keys::ROOTS)?,
            file_systems: value(pairs, keys::FILE_SYSTEMS)?,
            users: value(pairs, keys::USERS)?,
            groups: value(pairs, keys::GROUPS)?,
            verdict: value(pairs, keys::VERDICT)?,
            run: value(pairs, keys::RUN)?,
        })
    }
}

/// Returns the descriptions of the columns of a file.
fn columns(contents: Contents, shape: Shape) -> String {
    let columns = contents.columns(shape).map(|facts| {
        let description = ColumnDescription {
            description: facts.description,
            unit: facts.unit,
        };
        (facts.name, description)
    });
    json(&columns.collect::<BTreeMap<_, _>>())
}

/// Returns the value of a key.
pub(crate) fn value<T: for<'t> Deserialize<'t>>(
    pairs: &BTreeMap<String, String>,
    key: &str,
) -> Result<T, String> {
    let text = pairs
        .get(key)
        .ok_or_else(|| format!("its footer has no key {key}"))?;
    serde_json::from_str(text).map_err(|error| format!("the value of {key} is damaged: {error}"))
}

pub(crate) fn json<T: Serialize>(value: &T) -> String {
    // Maps with keys of text, numbers and text always serialize.
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info() -> Info {
        Info {
            roots: vec![RootInfo::new(b"/home"), RootInfo::new(b"/b\xff\\")],
            file_systems: vec![FileSystemInfo {
                uuid: Some("7d".to_owned()),
                kind: Some("ext4".to_owned()),
                mount_point: Some(Text::from(&b"/"[..])),
                subvolume: None,
                device: 64,
            }],
            users: [(0, Text::from(&b"root"[..]))].into(),
            ..Info::default()
        }
    }

    #[test]
    fn a_footer_is_read_again() {
        let pairs = info().to_pairs(Contents::default());
        let pairs = pairs
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect();
        assert_eq!(Info::from_pairs(&pairs).unwrap(), info());
    }

    #[test]
    fn missing_and_damaged_keys_are_named() {
        let pairs = info().to_pairs(Contents::default());
        let pairs: BTreeMap<_, _> = pairs
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect();
        for key in [keys::ROOTS, keys::VERDICT, keys::RUN] {
            let mut without = pairs.clone();
            without.remove(key);
            assert!(Info::from_pairs(&without).unwrap_err().contains(key));
            without.insert(key.to_owned(), "[1".to_owned());
            assert!(Info::from_pairs(&without).unwrap_err().contains(key));
        }
    }
}
