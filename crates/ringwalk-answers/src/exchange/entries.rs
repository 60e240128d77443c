//! The entries of ncdu's formats as entries of a snapshot.

use std::collections::HashSet;
use std::io;

use ringwalk::{Errno, FileType, Timestamp};

use super::error::Refused;
use super::item::{Events, Excluded, Fields, Header};
use super::totals::Totals;
use ringwalk_snapshot::{Attributes, Entry, FailedOperation, Failure, Skipped, TreeBuilder};

/// Type bits of `st_mode` (inode(7)).
const TYPE: u16 = 0o170_000;

/// Most device numbers of a file. Each becomes a file system of the snapshot, and every command
/// that reads it has all of them in memory.
const DEVICES_MAX: usize = 100_000;

/// Passes entries to the builder of a snapshot.
pub(crate) struct Entries {
    builder: TreeBuilder,
    pub(crate) header: Header,
    /// The directories that are open, with the length of their paths and the device numbers that
    /// entries without one have.
    open: Vec<(usize, Option<u64>)>,
    path: Vec<u8>,
    /// A directory that was left out, until it is known to be empty.
    left_out: Option<(Vec<u8>, Fields)>,
    devices: HashSet<u64>,
    /// The sizes of directories, if gdu wrote the file.
    totals: Option<Totals>,
}

type Result<T> = std::result::Result<T, Refused<io::Error>>;

impl Entries {
    pub(crate) fn new(builder: TreeBuilder) -> Self {
        Self {
            builder,
            header: Header::default(),
            open: Vec::new(),
            path: Vec::new(),
            left_out: None,
            devices: HashSet::new(),
            totals: None,
        }
    }

    pub(crate) fn into_builder(self) -> TreeBuilder {
        self.builder
    }

    /// Returns the device number of an entry without one.
    fn device(&self) -> Option<u64> {
        self.open.last().and_then(|(_, device)| *device)
    }

    fn begin(&mut self, name: &[u8], fields: &Fields) -> Result<()> {
        if let Some(totals) = &mut self.totals {
            totals.begin(fields);
        }
        let device = fields.dev.or_else(|| self.device());
        let entry = entry(name, FileType::Directory, fields, device);
        let begun = if self.open.is_empty() {
            self.builder.begin_root(name, &entry)
        } else {
            self.builder.begin_directory(&entry)
        };
        self.check(begun)?;
        self.open.push((self.path.len(), device));
        if !self.path.is_empty() && self.path.last() != Some(&b'/') {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name);
        Ok(())
    }

    /// Begins the directory that was left out, since it has entries.
    fn begin_left_out(&mut self) -> Result<()> {
        match self.left_out.take() {
            Some((name, fields)) => self.begin(&name, &fields),
            None => Ok(()),
        }
    }

    /// Counts the device number of an entry.
    fn count_device(&mut self, fields: &Fields) -> Result<()> {
        let is_new = fields.dev.is_some_and(|device| self.devices.insert(device));
        if is_new && self.devices.len() > DEVICES_MAX {
            let message = format!("the file has more than {DEVICES_MAX} device numbers");
            return Err(Refused::Entry(message));
        }
        Ok(())
    }

    /// Turns an error of the builder into an answer. If the builder refuses an entry, the file is
    /// wrong.
    fn check(&self, result: io::Result<()>) -> Result<()> {
        result.map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => {
                let path = self.path.escape_ascii();
                Refused::Entry(format!("in directory \"{path}\": {error}"))
            }
            _ => Refused::Write(error),
        })
    }
}

impl Events for Entries {
    type Error = io::Error;

    fn header(&mut self, header: Header) {
        self.totals = (header.program.as_deref() == Some("gdu")).then(Totals::default);
        self.header = header;
    }

    fn begin_directory(&mut self, name: &[u8], fields: &Fields) -> Result<()> {
        self.begin_left_out()?;
        self.count_device(fields)?;
        if fields.excluded.is_some() && !self.open.is_empty() {
            self.left_out = Some((name.to_vec(), *fields));
            return Ok(());
        }
        self.begin(name, fields)
    }

    fn file(&mut self, name: &[u8], fields: &Fields) -> Result<()> {
        self.begin_left_out()?;
        self.count_device(fields)?;
        if let Some(totals) = &mut self.totals {
            totals.file(fields);
        }
        let entry = entry(name, file_type(fields), fields, self.device());
        let added = self.builder.file(&entry);
        self.check(added)
    }

    fn end_directory(&mut self) -> Result<()> {
        if let Some((name, fields)) = self.left_out.take() {
            let entry = entry(&name, FileType::Directory, &fields, self.device());
            let added = self.builder.file(&entry);
            return self.check(added);
        }
        if let Some(totals) = &mut self.totals {
            let [size, alloc] = totals.end();
            let set = self.builder.set_sizes(size, alloc);
            self.check(set)?;
        }
        let ended = self.builder.end_directory();
        self.check(ended)?;
        if let Some((length, _)) = self.open.pop() {
            self.path.truncate(length);
        }
        Ok(())
    }
}

/// Returns the type of an entry that is not given as a directory.
///
/// ncdu gives a directory that it did not enter or could not examine as a file.
fn file_type(fields: &Fields) -> FileType {
    let of_mode = fields.mode.map_or(FileType::Unknown, type_of_mode);
    if of_mode != FileType::Unknown {
        return of_mode;
    }
    if fields.notreg || fields.read_error || fields.excluded.is_some() {
        return FileType::Unknown;
    }
    FileType::Regular
}

fn type_of_mode(mode: u16) -> FileType {
    match mode & TYPE {
        0o010_000 => FileType::Fifo,
        0o020_000 => FileType::CharacterDevice,
        0o040_000 => FileType::Directory,
        0o060_000 => FileType::BlockDevice,
        0o100_000 => FileType::Regular,
        0o120_000 => FileType::Symlink,
        0o140_000 => FileType::Socket,
        _ => FileType::Unknown,
    }
}

/// Returns the entry of a snapshot. `device` is the device of the directory.
fn entry<'a>(
    name: &'a [u8],
    file_type: FileType,
    fields: &Fields,
    device: Option<u64>,
) -> Entry<'a> {
    let is_directory = file_type == FileType::Directory;
    let unexamined = fields.excluded.is_some() || (fields.read_error && !is_directory);
    // The formats leave out zeros, and the device of the directory. About a file that was not
    // examined, nothing else is known.
    let default = |value: Option<u64>| value.or((!unexamined).then_some(0));
    let links = fields
        .nlink
        .or((!unexamined && !is_directory && !fields.hlnkc).then_some(1));
    let has_links = fields.hlnkc || fields.nlink.is_some_and(|links| links > 1);
    Entry {
        attributes: Attributes {
            ino: fields.ino,
            dev: fields.dev.or(device.filter(|_| !unexamined)),
            mode: fields.mode.map(|mode| mode & !TYPE),
            nlink: links,
            uid: fields.uid,
            gid: fields.gid,
            size: default(fields.asize),
            alloc: default(fields.dsize),
            mtime: fields.mtime.map(|(secs, nanos)| Timestamp { secs, nanos }),
            charged_once: has_links && !is_directory,
            ..Attributes::default()
        },
        // The formats do not say which error it was.
        failure: fields.read_error.then_some(Failure {
            operation: if is_directory {
                FailedOperation::Read
            } else {
                FailedOperation::Stat
            },
            errno: Errno::IO,
        }),
        skipped: fields.excluded.map(|excluded| match excluded {
            Excluded::Pattern => Skipped::Pattern,
            Excluded::OtherFileSystem => Skipped::OtherFs,
            Excluded::KernelFileSystem => Skipped::KernFs,
            Excluded::Firmlink => Skipped::FirmLink,
        }),
        ..Entry::new(name, file_type)
    }
}
