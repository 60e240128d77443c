//! Import: the format of a file, and the snapshot made from it.

use ringwalk_output::Unpublished;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::blocks::ANY_SIGNATURE;
use super::entries::Entries;
use super::error::{ImportError, Place};
use super::item::Header;
use super::{read_ncdu_binary, read_ncdu_json};
use ringwalk_snapshot::{ImportFormat, Info, Moment, Snapshot, TreeBuilder, WriteOptions};

/// First bytes of a zstd frame (RFC 8878), which ncdu -c writes.
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
/// First bytes of other files that somebody may try to import, and what they are.
const OTHERS: [(&[u8], &str); 4] = [
    (b"PAR1", "the file is in Parquet: it is a snapshot already"),
    (
        b"\x1f\x8b",
        "the file is compressed by gzip: decompress it first",
    ),
    (
        b"BZh",
        "the file is compressed by bzip2: decompress it first",
    ),
    (
        b"\xfd7zXZ",
        "the file is compressed by xz: decompress it first",
    ),
];

/// Returns true if a file with these first bytes (8 are enough) may be one of ncdu, which
/// [`import`] reads.
pub fn may_be_ncdu(first: &[u8]) -> bool {
    let is_json = first.trim_ascii_start().first() == Some(&b'[');
    is_json || first.starts_with(ZSTD) || first.starts_with(ANY_SIGNATURE)
}

/// Makes a snapshot at `output` from a file of ncdu. The contents of the file say which format it
/// has. JSON may come from a pipe, and may be compressed by zstd.
///
/// Returns what the snapshot says of itself.
///
/// # Errors
///
/// If the file cannot be read, is damaged, or is in no known format, or if the snapshot cannot be
/// written. `output` is as it was then.
pub fn import(
    file: File,
    options: WriteOptions,
    output: &Path,
) -> Result<Info, ImportError<io::Error>> {
    // A place that cannot be written is known before the work.
    drop(Unpublished::new(output).map_err(ImportError::Write)?);
    let (builder, info) = read(file, options)?;
    builder.finish(info, output).map_err(ImportError::Write)
}

/// As [`import`], into an unnamed temporary file in the folder `TMPDIR`, or `/tmp`. `name` is the
/// name of the snapshot in errors.
///
/// # Errors
///
/// The same as for [`import`].
pub fn import_unnamed(
    file: File,
    options: WriteOptions,
    name: &Path,
) -> Result<Snapshot, ImportError<io::Error>> {
    let (builder, info) = read(file, options)?;
    let file = builder.finish_unnamed(info).map_err(ImportError::Write)?;
    let opened = Snapshot::from_file(file, name);
    opened.map_err(|error| ImportError::Write(io::Error::other(error)))
}

/// Reads a file of ncdu. Returns its entries, and what its snapshot says of itself.
fn read(
    mut file: File,
    options: WriteOptions,
) -> Result<(TreeBuilder, Info), ImportError<io::Error>> {
    let modified = modified(&file);
    let first = first_bytes(&mut file)?;
    if let Some((_, message)) = OTHERS.iter().find(|(magic, _)| first.starts_with(magic)) {
        return Err(ImportError::content(Place::Byte(0), *message));
    }
    let mut entries = Entries::new(TreeBuilder::new(options));
    let format = if first.starts_with(ANY_SIGNATURE) {
        if file.stream_position().is_err() {
            let message = "ncdu's binary format cannot be read from a pipe: expected a file";
            return Err(ImportError::content(Place::Byte(0), message));
        }
        read_ncdu_binary(&file, &mut entries)?;
        ImportFormat::NcduBinary
    } else {
        let all = first.as_slice().chain(file);
        if first.starts_with(ZSTD) {
            let decoder = zstd::stream::read::Decoder::new(all).map_err(read_error)?;
            read_ncdu_json(decoder, &mut entries)?;
        } else {
            read_ncdu_json(all, &mut entries)?;
        }
        ImportFormat::NcduJson
    };
    let info = info(&entries.header, format, modified);
    Ok((entries.into_builder(), info))
}

/// Reads the first bytes of a file, by which formats differ.
fn first_bytes(file: &mut File) -> Result<Vec<u8>, ImportError<io::Error>> {
    let mut first = Vec::new();
    let read = file.take(8).read_to_end(&mut first);
    read.map_err(read_error)?;
    Ok(first)
}

/// Returns when a file was changed last.
fn modified(file: &File) -> Moment {
    // For a pipe the system has no useful time, and nothing else depends on this time.
    file.metadata().map_or_else(
        |_| Moment::default(),
        |metadata| Moment {
            seconds: metadata.mtime(),
            nanoseconds: u32::try_from(metadata.mtime_nsec()).unwrap_or(0),
        },
    )
}

/// Returns what a file says of itself. A file without a time was written when it was changed last.
fn info(header: &Header, format: ImportFormat, modified: Moment) -> Info {
    let moment = header.timestamp.map_or(modified, |seconds| Moment {
        seconds,
        nanoseconds: 0,
    });
    let mut info = Info::default();
    info.run.start = moment;
    info.run.end = moment;
    info.run.source = match (&header.program, &header.version) {
        (Some(program), Some(version)) => format!("{format} ({program} {version})"),
        (Some(program), None) => format!("{format} ({program})"),
        (None, _) => format.to_string(),
    };
    info
}

fn read_error(error: io::Error) -> ImportError<io::Error> {
    ImportError::Read {
        place: Place::Byte(0),
        error,
    }
}
