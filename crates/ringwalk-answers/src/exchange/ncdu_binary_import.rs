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
mod tests {
    use super::super::blocks::SIGNATURE;
    use super::super::recorder::Recorder;
    use super::*;
    use std::io::Write as _;

    /// Returns the head of a CBOR value.
    fn head(major: u8, argument: u64) -> Vec<u8> {
        match u8::try_from(argument) {
            Ok(small @ 0..=23) => vec![major << 5 | small],
            _ => [&[major << 5 | 0x1b][..], &argument.to_be_bytes()].concat(),
        }
    }

    /// Returns a number of 32 bits as the format has it.
    fn four_bytes(number: usize) -> [u8; 4] {
        u32::try_from(number).unwrap().to_be_bytes()
    }

    fn string(bytes: &[u8]) -> Vec<u8> {
        [head(2, bytes.len() as u64), bytes.to_vec()].concat()
    }

    /// Returns an item: its type, its name and the encoded values of other keys.
    fn item(kind: i64, name: &[u8], more: &[(u64, Vec<u8>)]) -> Vec<u8> {
        let kind = match u64::try_from(kind) {
            Ok(kind) => head(0, kind),
            Err(_) => head(1, kind.unsigned_abs() - 1),
        };
        let mut out = vec![0xbf];
        for (key, value) in [(0, kind), (1, string(name))].iter().chain(more) {
            out.extend(head(0, *key));
            out.extend(value);
        }
        out.push(0xff);
        out
    }

    /// Returns a block: its type, its contents and both lengths.
    fn block(kind: usize, content: &[u8]) -> Vec<u8> {
        let ends = four_bytes(kind << 28 | (content.len() + 8));
        [&ends, content, &ends].concat()
    }

    /// Returns a file of data blocks with these contents and a reference to the root.
    fn file(blocks: &[Vec<u8>], root: u64) -> Vec<u8> {
        let mut out = SIGNATURE.to_vec();
        let mut index = Vec::new();
        for (number, data) in blocks.iter().enumerate() {
            let frame = zstd::bulk::compress(data, 1).unwrap();
            let block = block(0, &[&four_bytes(number)[..], &frame].concat());
            let entry = (out.len() as u64) << 24 | block.len() as u64;
            index.extend(entry.to_be_bytes());
            out.extend(block);
        }
        index.extend(root.to_be_bytes());
        out.extend(block(1, &index));
        out
    }

    fn import(bytes: &[u8]) -> std::result::Result<Recorder, String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let mut recorder = Recorder::default();
        match read(&file, &mut recorder) {
            Ok(()) => Ok(recorder),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Returns a file of one block with a root and these items, each the only entry of the one
    /// before.
    fn chain(items: &[(i64, &[u8])]) -> Vec<u8> {
        let mut data = Vec::new();
        let mut last = None;
        for (kind, name) in items.iter().rev() {
            let at = data.len() as u64;
            let more = last.map(|last| (12, head(1, at - last - 1)));
            data.extend(item(*kind, name, more.as_slice()));
            last = Some(at);
        }
        file(&[data], last.unwrap())
    }

    /// A tree in two blocks: `/r` with `a`, `d`, `e`; `d` with `b`.
    fn tree() -> Vec<u8> {
        let mut first = item(
            1,
            b"b",
            &[(3, head(0, 5)), (13, head(0, 7)), (14, head(0, 2))],
        );
        let d = first.len() as u64;
        first.extend(item(0, b"d", &[(12, head(1, d - 1)), (5, head(0, 9))]));
        let a = item(1, b"a", &[(2, head(0, d))]);
        let mut second = a;
        let e = second.len() as u64;
        second.extend(item(
            2,
            b"e\xff",
            &[(2, head(1, e - 1)), (99, vec![0x81, 0x9f, 0xff])],
        ));
        let root = second.len() as u64;
        let mut more = vec![
            (12, head(1, root - e - 1)),
            (15, head(0, 1000)),
            (17, head(0, 0o40755)),
        ];
        more.push((18, head(0, 1_700_000_000)));
        second.extend(item(0, b"/r", &more));
        file(&[first, second], 1 << 24 | root)
    }

    #[test]
    fn the_tree_comes_in_preorder() {
        let recorder = import(&tree()).unwrap();
        assert_eq!(recorder.lines, ["+/r", r" -e\xff", " -a", " +d", "  -b"]);
        let expected = Fields {
            uid: Some(1000),
            mode: Some(0o40755),
            mtime: Some((1_700_000_000, 0)),
            ..Fields::default()
        };
        assert_eq!(recorder.fields[0], expected);
        assert!(recorder.fields[1].notreg);
        assert_eq!(recorder.fields[3].dev, Some(9));
        let b = recorder.fields[4];
        assert_eq!((b.asize, b.ino, b.nlink), (Some(5), Some(7), Some(2)));
    }

    #[test]
    fn a_time_before_1970_may_have_either_form() {
        for time in [head(1, 86_399), head(0, 0u64.wrapping_sub(86_400))] {
            let mut block = item(1, b"f", &[(18, time)]);
            let root = block.len() as u64;
            block.extend(item(0, b"/r", &[(12, head(1, root - 1))]));
            let recorder = import(&file(&[block], root)).unwrap();
            assert_eq!(recorder.fields[1].mtime, Some((-86_400, 0)));
        }
    }

    #[test]
    fn types_below_0_are_exclusions_and_errors() {
        for (kind, expected) in [
            (-2, Excluded::Pattern),
            (-3, Excluded::OtherFileSystem),
            (-4, Excluded::KernelFileSystem),
            (-9, Excluded::Pattern),
        ] {
            let recorder = import(&chain(&[(0, b"/r"), (kind, b"x")])).unwrap();
            assert_eq!(recorder.fields[1].excluded, Some(expected), "{kind}");
        }
        assert!(import(&chain(&[(0, b"/r"), (-1, b"x")])).unwrap().fields[1].read_error);
        assert!(import(&chain(&[(0, b"/r"), (3, b"x")])).unwrap().fields[1].hlnkc);
        assert!(import(&chain(&[(0, b"/r"), (77, b"x")])).unwrap().fields[1].notreg);
    }

    #[test]
    fn a_read_error_of_a_directory_is_its_own() {
        for (simple, expected) in [(21, true), (20, false)] {
            let data = item(0, b"/r", &[(6, head(7, simple))]);
            let recorder = import(&file(&[data], 0)).unwrap();
            assert_eq!(recorder.fields[0].read_error, expected);
        }
    }

    #[test]
    fn names_that_cannot_be_are_refused_with_their_place() {
        for (name, expected) in [
            (&b"."[..], "'.' or '..'"),
            (b"a/b", "slash"),
            (b"a\0b", "NUL"),
            (b"", "empty"),
        ] {
            let error = import(&chain(&[(0, b"/r"), (1, name)])).err().unwrap();
            assert!(
                error.contains("of data block 0 (which begins at byte 8)"),
                "{error}"
            );
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_second_reference_to_an_item_is_refused() {
        // The entry refers to its directory as its own next one.
        let root = item(0, b"/r", &[(12, head(0, 40))]);
        let mut data = root;
        data.resize(40, 0);
        data.extend(item(0, b"d", &[(2, head(0, 0))]));
        let error = import(&file(&[data], 0)).err().unwrap();
        assert!(error.contains("a second reference"), "{error}");
    }

    #[test]
    fn references_to_nowhere_are_refused() {
        for (reference, expected) in [
            (head(0, 5 << 24), "data block 5, which is missing"),
            (head(0, 60_000), "which is shorter"),
            (head(0, u64::MAX), "the reference is invalid"),
            (head(1, 0), "the reference is invalid"),
            (string(b"x"), "the reference is invalid"),
        ] {
            let error = import(&file(&[item(0, b"/r", &[(12, reference)])], 0))
                .err()
                .unwrap();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        let good = tree();
        let error = import(&[b"\xbfncduEX2", &good[8..]].concat())
            .err()
            .unwrap();
        assert!(
            error.contains("version of ncdu's binary format is unknown"),
            "{error}"
        );
        let error = import(b"PAR1 and so on").err().unwrap();
        assert!(error.contains("not in ncdu's binary format"), "{error}");
        let error = import(&chain(&[(1, b"/r")])).err().unwrap();
        assert!(error.contains("top must be a directory"), "{error}");
    }

    #[test]
    fn a_file_that_was_cut_off_is_refused_at_every_byte() {
        let good = tree();
        for end in 0..good.len() {
            let error = import(&good[..end]).err().unwrap();
            assert!(error.starts_with("byte "), "{error}");
            assert!(error.contains("cut off"), "{end}: {error}");
        }
    }

    /// Changes of a byte inside of a frame may be valid. None may panic.
    #[test]
    fn damage_is_no_panic() {
        let good = tree();
        for at in 0..good.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut bytes = good.clone();
                bytes[at] ^= change;
                let _ = import(&bytes);
            }
        }
    }
}
