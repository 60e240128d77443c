//! The file of the leftovers of a task: lines, in chunks that a driver gives to other tasks.

use super::files::{create_file, open_file};
use super::huge::Share;
use super::lines::LeftLine;
use super::task_error::TaskError;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The most lines of a chunk of leftovers.
const CHUNK_LINES: u32 = 64;

/// A range of lines in a file of leftovers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The path of the file, relative to the folder of the walk.
    pub file: PathBuf,
    /// The first byte.
    pub offset: u64,
    /// The number of bytes.
    pub length: usize,
}

/// A chunk of the leftovers that a task has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TodoChunk {
    /// The first byte.
    pub offset: u64,
    /// The number of bytes.
    pub length: u64,
    /// The number of lines.
    pub lines: u32,
    /// True if it is a share of a huge directory, to be given as a task of its own.
    pub big: bool,
}

/// Reads leftovers from files in the folder of a walk of so many roots.
///
/// # Errors
///
/// If a file cannot be read or a leftover is damaged.
pub(super) fn read_pieces(
    folder: &Path,
    pieces: &[Piece],
    roots: usize,
) -> Result<Vec<LeftLine>, TaskError> {
    let mut given = Vec::new();
    for piece in pieces {
        let path = folder.join(&piece.file);
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                TaskError::damaged(&path, "it ends before its last leftover")
            }
            _ => TaskError::io(&path, error),
        };
        let file = open_file(folder, &piece.file)?;
        // This comes before memory is allocated for it.
        let rest = file.metadata().map_err(failed)?.len();
        if rest.saturating_sub(piece.offset) < piece.length as u64 {
            return Err(failed(io::ErrorKind::UnexpectedEof.into()));
        }
        let mut bytes = vec![0; piece.length];
        file.read_exact_at(&mut bytes, piece.offset)
            .map_err(failed)?;
        let mut offset = piece.offset;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let read = line
                .strip_suffix(b"\n")
                .ok_or("it has no line break".to_owned());
            let read = read.and_then(|line| LeftLine::parse(line, roots));
            given.push(read.map_err(|why| {
                let what = format!("the leftover at byte {offset} is damaged: {why}");
                TaskError::damaged(&path, &what)
            })?);
            offset += line.len() as u64;
        }
    }
    Ok(given)
}

/// Writes the leftovers of a task. Returns their number and the chunks. Without leftovers there is
/// no file. `name` is its path below the folder of the walk.
pub(super) fn write_todo(
    folder: &Path,
    name: &Path,
    task: u32,
    mut shares: Vec<Share>,
) -> io::Result<(u32, Vec<TodoChunk>)> {
    if shares.is_empty() {
        return Ok((0, Vec::new()));
    }
    // Neighbours come in one chunk, so that a task has little to look up.
    shares.sort_by(|a, b| {
        let key = |share: &Share| (share.leftover.root, share.is_big);
        let by_key = key(a).cmp(&key(b));
        by_key.then_with(|| a.leftover.path.cmp(&b.leftover.path))
    });
    let mut out = BufWriter::new(create_file(folder, name)?);
    let mut chunks: Vec<TodoChunk> = Vec::new();
    let (mut index, mut offset) = (0, 0);
    for share in shares {
        let left = LeftLine {
            task,
            index,
            leftover: share.leftover,
        };
        let line = left.to_line();
        let length = line.len() as u64;
        out.write_all(line.as_bytes())?;
        match chunks.last_mut() {
            Some(chunk) if !chunk.big && !share.is_big && chunk.lines < CHUNK_LINES => {
                chunk.lines += 1;
                chunk.length += length;
            }
            _ => chunks.push(TodoChunk {
                offset,
                length,
                lines: 1,
                big: share.is_big,
            }),
        }
        offset += length;
        index += 1;
    }
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    Ok((index, chunks))
}
