//! The names of one directory, packed: what a thread reads ahead and the walk gives.

use super::moment::Moment;
use ringwalk_sys::RawFileType as FileType;
use std::ffi::CStr;
use std::sync::Arc;

/// One entry of a [`Listing`].
#[derive(Clone, Copy, Debug)]
struct Slot {
    ino: u64,
    /// Where its name begins.
    start: u32,
    /// Bytes of its name; a NUL follows.
    length: u16,
    file_type: FileType,
}

const _: () = assert!(size_of::<Slot>() == 16);

impl Default for Names {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// Names one behind the other, a NUL after each. Whether they are UTF-8 is found out once for all, by whoever reads them.
#[derive(Debug)]
enum Names {
    Text(String),
    Bytes(Vec<u8>),
}

/// The entries of one directory in the order in which they were read, `.` and `..` left out.
#[derive(Debug, Default)]
pub struct Listing {
    /// Path, a NUL behind it.
    path: Vec<u8>,
    names: Names,
    slots: Vec<Slot>,
    /// Entries that are listed as directories.
    directories: usize,
    /// Entries of which only stat(2) can tell whether they are (or lead to) directories.
    unsure: usize,
    depth: usize,
    /// 0 if the listing cannot be told from another one, nor what is below it.
    pub(super) dev: u64,
    pub(super) ino: u64,
    /// Taken before its first entry was read.
    pub(super) read_at: Moment,
}

impl Listing {
    /// Path of the directory, beginning with the root as it was given.
    pub fn path(&self) -> &[u8] {
        self.path.strip_suffix(&[0]).unwrap_or_default()
    }

    pub(super) fn c_path(&self) -> &CStr {
        CStr::from_bytes_with_nul(&self.path).unwrap_or_default()
    }

    /// How many directories are above it, up to the root, whose depth is 0.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Name of an entry.
    ///
    /// # Panics
    ///
    /// Like the others below, if there are not that many entries.
    #[inline]
    pub fn name(&self, index: usize) -> &[u8] {
        let slot = self.slots[index];
        let range = slot.start as usize..slot.start as usize + usize::from(slot.length);
        match &self.names {
            Names::Text(text) => &text.as_bytes()[range],
            Names::Bytes(bytes) => &bytes[range],
        }
    }

    /// Name of an entry, for the kernel.
    pub(super) fn c_name(&self, index: usize) -> &CStr {
        let slot = self.slots[index];
        let bytes = match &self.names {
            Names::Text(text) => text.as_bytes(),
            Names::Bytes(bytes) => bytes,
        };
        CStr::from_bytes_until_nul(&bytes[slot.start as usize..]).unwrap_or_default()
    }

    /// Name of an entry, if it is UTF-8.
    #[inline]
    pub fn text(&self, index: usize) -> Option<&str> {
        match &self.names {
            Names::Text(text) => {
                let slot = self.slots[index];
                let start = slot.start as usize;
                text.get(start..start + usize::from(slot.length))
            }
            Names::Bytes(_) => std::str::from_utf8(self.name(index)).ok(),
        }
    }

    /// Type as the directory lists it.
    #[inline]
    pub fn file_type(&self, index: usize) -> FileType {
        self.slots[index].file_type
    }

    /// Inode number as the directory lists it (`d_ino`).
    #[inline]
    pub fn ino(&self, index: usize) -> u64 {
        self.slots[index].ino
    }

    /// How many entries are listed as directories.
    pub(super) fn directories(&self) -> usize {
        self.directories
    }

    /// Whether stat(2) has to be asked for some entries.
    pub(super) fn has_unsure(&self) -> bool {
        self.unsure > 0
    }

    /// Whether it is known to lie where directories are read ahead.
    pub(super) fn is_trusted(&self) -> bool {
        self.dev != 0
    }

    /// Gives back what a large directory has left to a small one: what is held ahead is counted in entries, so their memory is to be in
    /// proportion.
    fn trim(&mut self) {
        if self.slots.capacity() > 4 * self.slots.len() + 64 {
            self.slots.shrink_to_fit();
        }
        match &mut self.names {
            Names::Text(text) if text.capacity() > 4 * text.len() + 1024 => text.shrink_to_fit(),
            Names::Bytes(bytes) if bytes.capacity() > 4 * bytes.len() + 1024 => {
                bytes.shrink_to_fit();
            }
            _ => {}
        }
    }

    /// Path of an entry: what Python's `os.path.join` makes of it.
    pub(super) fn path_of(&self, index: usize, path: &mut Vec<u8>) {
        path.clear();
        path.extend_from_slice(self.path());
        join(path, self.name(index));
    }
}

/// Whether only stat(2) can tell if an entry of this type is, or leads to, a directory.
pub(super) fn is_unsure(file_type: FileType) -> bool {
    matches!(file_type, FileType::Symlink | FileType::Unknown)
}

/// Adds a name to a path with one slash between them.
pub(super) fn join(path: &mut Vec<u8>, name: &[u8]) {
    if !matches!(path.last(), None | Some(b'/')) {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

/// Listings that are kept for their memory. A walk makes and drops thousands; made by one thread and dropped by another, their memory
/// would go through the allocator's slow ways.
#[derive(Debug, Default)]
pub(super) struct Spares(Vec<Arc<Listing>>);

impl Spares {
    /// So many are kept at a time,
    const MOST: usize = 64;

    /// of directories with no more entries than this.
    const LARGEST: usize = 512;

    /// Keeps a listing, unless somebody has it still.
    pub(super) fn put(&mut self, listing: Arc<Listing>) {
        let fits = self.0.len() < Self::MOST && listing.slots.capacity() <= Self::LARGEST;
        if fits && Arc::strong_count(&listing) == 1 {
            self.0.push(listing);
        }
    }

    pub(super) fn get(&mut self) -> Option<Arc<Listing>> {
        self.0.pop()
    }

    /// Gives most of them to another place that is short of them.
    pub(super) fn share(&mut self, with: &mut Spares) {
        if with.0.len() < Self::MOST / 2 && self.0.len() > 1 {
            with.0.extend(self.0.drain(1..));
        }
    }
}

/// A listing that is being made. Its memory is used again for the next.
#[derive(Debug, Default)]
pub(super) struct Packer {
    names: Vec<u8>,
    slots: Vec<Slot>,
    directories: usize,
    unsure: usize,
}

impl Packer {
    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.slots.clear();
        self.directories = 0;
        self.unsure = 0;
    }

    /// Adds an entry.
    #[inline]
    pub(super) fn push(&mut self, name: &[u8], file_type: FileType, ino: u64) {
        self.directories += usize::from(file_type == FileType::Directory);
        self.unsure += usize::from(is_unsure(file_type));
        self.slots.push(Slot {
            ino,
            // A directory of 4 GiB of names does not come with less than 8 GiB of records.
            start: u32::try_from(self.names.len()).unwrap_or(u32::MAX),
            length: u16::try_from(name.len()).unwrap_or(u16::MAX),
            file_type,
        });
        self.names.extend_from_slice(name);
        self.names.push(0);
    }

    /// Whether more can be kept: places are told with 32 bits.
    pub(super) fn has_room(&self) -> bool {
        self.names.len() < (u32::MAX as usize) / 2
    }

    pub(super) fn has_directories(&self) -> bool {
        self.directories > 0
    }

    /// What was put in, in the memory of a listing that is no longer wanted, if there is one.
    pub(super) fn finish(
        &mut self,
        spare: Option<Arc<Listing>>,
        path: &[u8],
        depth: usize,
        (dev, ino): (u64, u64),
        read_at: Moment,
    ) -> Arc<Listing> {
        let mut whole = spare.unwrap_or_default();
        let Some(listing) = Arc::get_mut(&mut whole) else {
            return self.finish(None, path, depth, (dev, ino), read_at);
        };
        listing.path.clear();
        listing.path.reserve_exact(path.len() + 1);
        listing.path.extend_from_slice(path);
        listing.path.push(0);
        match (std::str::from_utf8(&self.names), &mut listing.names) {
            (Ok(text), Names::Text(names)) => {
                names.clear();
                names.reserve_exact(text.len());
                names.push_str(text);
            }
            (Ok(text), names) => *names = Names::Text(text.to_owned()),
            (Err(_), names) => *names = Names::Bytes(self.names.clone()),
        }
        listing.slots.clear();
        listing.slots.reserve_exact(self.slots.len());
        listing.slots.extend_from_slice(&self.slots);
        listing.directories = self.directories;
        listing.unsure = self.unsure;
        listing.depth = depth;
        (listing.dev, listing.ino) = (dev, ino);
        listing.read_at = read_at;
        listing.trim();
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(names: &[&[u8]]) -> Listing {
        let mut packer = Packer::default();
        for name in names {
            packer.push(name, FileType::Regular, 7);
        }
        Arc::into_inner(packer.finish(None, b"/top", 1, (1, 2), Moment::now())).unwrap()
    }

    #[test]
    fn names_of_every_kind_are_kept() {
        // Joined without a byte between them the two in the middle would be UTF-8.
        let names: [&[u8]; 5] = [
            b"plain",
            "\u{e9}".as_bytes(),
            b"\xc3",
            b"\xa9",
            &[b'x'; 255],
        ];
        let listing = listing(&names);
        for (index, name) in names.iter().enumerate() {
            assert_eq!(listing.name(index), *name);
            assert_eq!(listing.text(index), std::str::from_utf8(name).ok());
        }
        assert_eq!((listing.len(), listing.ino(3)), (5, 7));
    }

    #[test]
    fn text_is_text() {
        let names: [&[u8]; 2] = [b"plain", "\u{e9}\u{4e00}".as_bytes()];
        let listing = listing(&names);
        assert!(matches!(listing.names, Names::Text(_)));
        assert_eq!(listing.text(1), Some("\u{e9}\u{4e00}"));
        assert_eq!(listing.c_path(), c"/top");
        let mut path = Vec::new();
        listing.path_of(0, &mut path);
        assert_eq!(path, b"/top/plain");
    }

    #[test]
    fn memory_is_used_again() {
        let mut packer = Packer::default();
        let mut spares = Spares::default();
        packer.push(b"a name that is long", FileType::Directory, 1);
        let first = packer.finish(None, b"/some/path", 3, (1, 2), Moment::now());
        let held = Arc::clone(&first);
        spares.put(first);
        assert!(spares.get().is_none(), "it is held");
        let place = Arc::as_ptr(&held);
        spares.put(held);
        packer.clear();
        packer.push(b"\xff", FileType::Symlink, 1);
        let second = packer.finish(spares.get(), b"/", 0, (3, 4), Moment::now());
        assert_eq!(Arc::as_ptr(&second), place);
        assert_eq!(
            (second.path(), second.name(0), second.len()),
            (&b"/"[..], &b"\xff"[..], 1)
        );
        assert_eq!(
            (second.directories(), second.has_unsure(), second.dev),
            (0, true, 3)
        );
    }

    #[test]
    fn a_small_directory_does_not_hold_the_memory_of_a_large_one() {
        let mut packer = Packer::default();
        for number in 0..400 {
            packer.push(format!("{number:0>20}").as_bytes(), FileType::Regular, 7);
        }
        let large = packer.finish(None, b"/large", 1, (1, 2), Moment::now());
        packer.clear();
        packer.push(b"one", FileType::Regular, 7);
        let small = packer.finish(Some(large), b"/small", 1, (1, 2), Moment::now());
        assert_eq!((small.len(), small.name(0)), (1, &b"one"[..]));
        assert!(small.slots.capacity() < 70, "{}", small.slots.capacity());
        let Names::Text(text) = &small.names else {
            panic!("it is text");
        };
        assert!(text.capacity() < 1100, "{}", text.capacity());
    }

    #[test]
    fn one_slash_between_path_and_name() {
        for (path, joined) in [("", "n"), ("/", "/n"), ("a", "a/n"), ("a/", "a/n")] {
            let mut path = path.as_bytes().to_vec();
            join(&mut path, b"n");
            assert_eq!(path, joined.as_bytes());
        }
    }
}
