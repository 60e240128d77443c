//! Merging the appended records into the sorted section.

use super::appended::{Index, Reader};
use super::record::{BLOCK, FileSystem, PER_BLOCK, Record, encode_block};
use super::sorted::{Records, Sorted};
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

/// Writes the sorted section of a new file. Returns the number of its blocks. Of two records of one
/// file, the appended one is kept.
pub(super) fn merge(
    old: &File,
    sorted: &Sorted,
    start: u64,
    index: &Index,
    new: &File,
) -> io::Result<u64> {
    let mut out = Blocks::new(new)?;
    let mut records = Records::new(sorted, old);
    let mut reader = Reader::new(old, start);
    let mut next = records.next()?;
    let files = index.files.iter();
    let appended = files.flat_map(|(file_system, files)| {
        files
            .iter()
            .map(|(ino, number)| ((*file_system, *ino), *number))
    });
    for (key, number) in appended {
        while let Some((file_system, record)) = next
            && (file_system, record.version.ino) < key
        {
            out.push(file_system, record)?;
            next = records.next()?;
        }
        let Some(record) = reader.read(number, key)? else {
            continue;
        };
        out.push(key.0, record)?;
        if next.is_some_and(|(file_system, record)| (file_system, record.version.ino) == key) {
            next = records.next()?;
        }
    }
    while let Some((file_system, record)) = next {
        out.push(file_system, record)?;
        next = records.next()?;
    }
    out.finish()
}

/// Writes records in blocks.
struct Blocks<'f> {
    out: BufWriter<&'f File>,
    file_system: Option<FileSystem>,
    records: Vec<Record>,
    written: u64,
}

impl<'f> Blocks<'f> {
    fn new(mut file: &'f File) -> io::Result<Self> {
        file.seek(SeekFrom::Start(BLOCK as u64))?;
        Ok(Self {
            out: BufWriter::with_capacity(64 << 10, file),
            file_system: None,
            records: Vec::with_capacity(PER_BLOCK),
            written: 0,
        })
    }

    fn push(&mut self, file_system: FileSystem, record: Record) -> io::Result<()> {
        if self.records.len() == PER_BLOCK || self.file_system != Some(file_system) {
            self.write()?;
            self.file_system = Some(file_system);
        }
        self.records.push(record);
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        let Some(file_system) = self.file_system else {
            return Ok(());
        };
        if !self.records.is_empty() {
            let block = encode_block(file_system, &self.records);
            self.out.write_all(&block)?;
            self.records.clear();
            self.written += 1;
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<u64> {
        self.write()?;
        self.out.flush()?;
        Ok(self.written)
    }
}
