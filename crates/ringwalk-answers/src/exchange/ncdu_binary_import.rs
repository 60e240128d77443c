//! ncdu's binary format, read (<https://dev.yorhel.nl/ncdu/binfmt>).
//!
//! An item is a map of CBOR. A directory refers to one of its entries, and each entry to the next
//! one. Unknown keys are ignored, as the format asks. Each item is read once: a second reference to
//! it is an error, so that no file makes the import go on for ever.

use std::fs::File;

use super::blocks::{Blocks, ItemRef};
use super::cbor::{Decoder, Head, Major};
use super::error::{ImportError, Place};
use super::item::{Events, Excluded, Fields, Header, NAME_MAX, check_name};

type Result<T, E> = std::result::Result<T, ImportError<E>>;

/// Reads all of `file` and passes its entries to `events`.
///
/// # Errors
///
/// If the file cannot be read, is not in this format, or is refused by `events`.
pub fn read<E: Events>(file: &File, events: &mut E) -> Result<(), E::Error> {
    let mut blocks = Blocks::open(file)?;
    events.header(Header::default());
    let root = blocks.root()?;
    let mut item = Item::default();
    item.read(&mut blocks, root, Place::Byte(0), true)?;
    if !item.directory {
        let message = "the entry at the top must be a directory";
        return Err(ImportError::content(blocks.place(root), message));
    }
    events
        .begin_directory(&item.name, &item.fields)
        .map_err(|refused| ImportError::refused(blocks.place(root), refused))?;
    // For each open directory, its next entry and the place of the reference to it.
    let mut open = vec![(item.first_entry, blocks.place(root))];
    while let Some((next, from)) = open.last_mut() {
        let Some(at) = next.take() else {
            let place = *from;
            open.pop();
            events
                .end_directory()
                .map_err(|refused| ImportError::refused(place, refused))?;
            continue;
        };
        item.read(&mut blocks, at, *from, false)?;
        let place = blocks.place(at);
        (*next, *from) = (item.next, place);
        if item.directory {
            events.begin_directory(&item.name, &item.fields)
        } else {
            events.file(&item.name, &item.fields)
        }
        .map_err(|refused| ImportError::refused(place, refused))?;
        if item.directory {
            open.push((item.first_entry, place));
        }
    }
    Ok(())
}

/// An item. It is read into the same memory each time.
#[derive(Default)]
struct Item {
    directory: bool,
    name: Vec<u8>,
    fields: Fields,
    /// The next entry of the same directory.
    next: Option<ItemRef>,
    /// The first entry of this directory.
    first_entry: Option<ItemRef>,
}

impl Item {
    /// Reads the item `at`. `from` is the place of the reference to it.
    fn read<W>(
        &mut self,
        blocks: &mut Blocks<'_, W>,
        at: ItemRef,
        from: Place,
        top: bool,
    ) -> Result<(), W> {
        let data = blocks.visit(at, from)?;
        let mut decoder = Decoder::new(data, at.offset as usize);
        let result = self.decode(&mut decoder, at, top);
        let end = decoder.at();
        result.map_err(|message| {
            let offset = u32::try_from(end).unwrap_or(at.offset);
            let place = blocks.place(ItemRef { offset, ..at });
            ImportError::content(place, message)
        })
    }

    fn decode(
        &mut self,
        decoder: &mut Decoder<'_>,
        at: ItemRef,
        top: bool,
    ) -> std::result::Result<(), String> {
        self.name.clear();
        (self.fields, self.directory) = (Fields::default(), false);
        (self.next, self.first_entry) = (None, None);
        let head = decoder.head()?;
        if head.major != Major::Map {
            return Err("expected an item, which is a map".into());
        }
        let mut left = head.argument;
        let mut typed = false;
        loop {
            if left == Some(0) {
                break;
            }
            left = left.map(|pairs| pairs - 1);
            let key = decoder.head()?;
            if key.is_break() && left.is_none() {
                break;
            }
            if key.major != Major::Positive {
                decoder.skip(key)?;
            }
            let value = decoder.head()?;
            match (key.major, key.argument) {
                (Major::Positive, Some(0)) => {
                    self.set_type(value)?;
                    typed = true;
                }
                (Major::Positive, Some(1)) => {
                    let name = decoder.string(value)?;
                    if !top && name.len() > NAME_MAX {
                        return Err(format!("the name has more than {NAME_MAX} bytes"));
                    }
                    self.name.clear();
                    self.name.extend_from_slice(name);
                }
                (Major::Positive, Some(2)) => self.next = Some(reference(value, at)?),
                (Major::Positive, Some(12)) => self.first_entry = Some(reference(value, at)?),
                (Major::Positive, Some(key)) => self.set_field(key, value, decoder)?,
                _ => decoder.skip(value)?,
            }
        }
        if !typed {
            return Err("the item has no type".into());
        }
        check_name(&self.name, top)
    }

    fn set_type(&mut self, value: Head) -> std::result::Result<(), String> {
        let kind = match (value.major, value.argument) {
            (Major::Positive, Some(kind)) => i64::try_from(kind).unwrap_or(i64::MAX),
            (Major::Negative, Some(_)) => signed(value).unwrap_or(i64::MIN),
            _ => return Err("expected a number for the type".into()),
        };
        let fields = &mut self.fields;
        match kind {
            0 => self.directory = true,
            1 => {}
            3 => fields.hlnkc = true,
            -1 => fields.read_error = true,
            // ncdu shows entries that it did not enter as directories.
            -3 => {
                self.directory = true;
                fields.excluded = Some(Excluded::OtherFileSystem);
            }
            -4 => {
                self.directory = true;
                fields.excluded = Some(Excluded::KernelFileSystem);
            }
            // The format asks for this reading of unknown types.
            ..0 => fields.excluded = Some(Excluded::Pattern),
            2.. => fields.notreg = true,
        }
        Ok(())
    }

    fn set_field(
        &mut self,
        key: u64,
        value: Head,
        decoder: &mut Decoder<'_>,
    ) -> std::result::Result<(), String> {
        let fields = &mut self.fields;
        match key {
            3 => fields.asize = Some(number(value, u64::MAX >> 1)?),
            4 => fields.dsize = Some(number(value, u64::MAX >> 1)?),
            5 => fields.dev = Some(number(value, u64::MAX)?),
            // False says that there is an error somewhere below, which has an item of its own.
            6 if value.major == Major::Simple => fields.read_error |= value.argument == Some(21),
            13 => fields.ino = Some(number(value, u64::MAX)?),
            14 => fields.nlink = u32::try_from(number(value, u32::MAX.into())?).ok(),
            15 => fields.uid = u32::try_from(number(value, u32::MAX.into())?).ok(),
            16 => fields.gid = u32::try_from(number(value, u32::MAX.into())?).ok(),
            17 => fields.mode = u16::try_from(number(value, u16::MAX.into())?).ok(),
            // The format has no sign here. ncdu writes a time before 1970 as its two's complement.
            18 if value.major == Major::Negative => {
                let seconds = signed(value).ok_or("the time is too early")?;
                fields.mtime = Some((seconds, 0));
            }
            18 => fields.mtime = Some((number(value, u64::MAX)?.cast_signed(), 0)),
            _ => decoder.skip(value)?,
        }
        Ok(())
    }
}

fn number(value: Head, max: u64) -> std::result::Result<u64, String> {
    match (value.major, value.argument) {
        (Major::Positive, Some(number)) if number <= max => Ok(number),
        (Major::Positive, Some(_)) => Err(format!("the number is larger than {max}")),
        _ => Err("expected a whole number that is not negative".into()),
    }
}

/// Returns a negative number, which CBOR has as its distance from -1. `None` if it is too small.
fn signed(value: Head) -> Option<i64> {
    let distance = i64::try_from(value.argument?).ok()?;
    Some(-1 - distance)
}

/// Reads a reference in the item `at`. A negative number is relative to it, within its block.
fn reference(value: Head, at: ItemRef) -> std::result::Result<ItemRef, String> {
    let item = match (value.major, value.argument) {
        (Major::Positive, Some(number)) => ItemRef::new(number),
        (Major::Negative, Some(number)) => u32::try_from(number)
            .ok()
            .and_then(|number| at.offset.checked_sub(number)?.checked_sub(1))
            .map(|offset| ItemRef { offset, ..at }),
        _ => None,
    };
    item.ok_or_else(|| "the reference is invalid".into())
}

#[cfg(test)]
mod tests;
