//! Files and directories that could not be read when the snapshot was taken.

use super::SnapshotView;
use super::cells::number;
use crate::tree::Unreadable;
use ringwalk_snapshot::{Column, Cursor, ReadError};
use std::io;

/// Files that are listed.
const MOST: usize = 1000;

impl SnapshotView {
    /// Returns the rows with an error, at most [`MOST`], and what the snapshot does not say.
    pub(super) fn find_unreadable(&self) -> Vec<Unreadable> {
        let mut found = Vec::new();
        let mut cursor = Cursor::default();
        let name = |error: &ReadError| Unreadable {
            path: error.path().as_os_str().as_encoded_bytes().to_vec(),
            reason: error.reason(),
        };
        match self.rows_with_errors() {
            Ok(rows) => {
                for (row, errno) in rows {
                    let path = self.path_of_row(row, &mut cursor);
                    found.push(match path {
                        Ok(path) => Unreadable {
                            path: self.absolute(&path),
                            reason: ringwalk_gnu::reason(&io::Error::from_raw_os_error(errno)),
                        },
                        Err(error) => name(&error),
                    });
                }
            }
            Err(error) => found.push(name(&error)),
        }
        let known = self.errors_of_rows;
        let all = self.errors();
        if all > known && found.len() < MOST {
            let more = all - known;
            found.push(Unreadable {
                path: self
                    .snapshot()
                    .name()
                    .as_os_str()
                    .as_encoded_bytes()
                    .to_vec(),
                reason: format!("the snapshot is incomplete: {more} more errors, of no entry"),
            });
        }
        found
    }

    /// Returns the first rows with an error, and their error numbers.
    fn rows_with_errors(&self) -> Result<Vec<(u64, i32)>, ReadError> {
        let mut found = Vec::new();
        if self.errors_of_rows == 0 {
            return Ok(found);
        }
        let snapshot = self.snapshot();
        let mut scan = snapshot.scan(0..snapshot.rows(), &[Column::Errno])?;
        while let Some(chunk) = scan.next_chunk()? {
            for (at, errno) in chunk.integers(Column::Errno).iter().enumerate() {
                // Nulls are 0 here.
                if *errno != 0 {
                    let errno = i32::try_from(number(*errno)).unwrap_or(0);
                    found.push((chunk.first_row() + at as u64, errno));
                }
                if found.len() >= MOST {
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }
}
