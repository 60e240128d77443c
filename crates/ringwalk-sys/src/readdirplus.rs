//! The records of READDIRPLUS, from the kernel module and from `io_uring`: names with metadata.
//! They are checked and read in place.
//!
//! ```text
//! offset  0        8        16        20          24      28         30       31      32
//!         | d_ino  | d_off  | reclen  | xattr_len | error | name_len | d_type | flags | stat | name, NUL, padding | xattrs |
//!           u64      u64      u32       u32         i32     u16        u8       u8
//! ```
//!
//! The metadata (`struct ringwalk_stat` of [`uapi`]) is there if `ENTRY_STAT` is set.
//! It takes 80 bytes, followed by one group for each of some fields that were asked for. So its
//! length is the same in all records of a request ([`PlusLayout`]). A name may come from a server
//! of the file system, as with `getdents64`, so nothing here trusts a length.

use std::ffi::CStr;
use std::mem::size_of;

use rustix::io::Errno;

use crate::dirent::{ALIGN, DirentError, RawFileType, name_from};
use crate::getdents::errno_of;
use crate::uapi;

/// Bytes before the metadata or, without metadata, before the name.
const HEADER: usize = size_of::<uapi::Entry>();
const HEADER_WORDS: usize = HEADER / ALIGN;
const STAT_WORDS: usize = size_of::<uapi::Stat>() / ALIGN;

/// The fields that have a group after the fixed part of the metadata, in the order of the groups,
/// and the words of each. `STATX_MNT_ID` and `STATX_MNT_ID_UNIQUE` share one, which is handled
/// below.
const GROUPS: [(u32, usize); 4] = [
    (libc::STATX_ATIME, 2),
    (libc::STATX_MTIME, 2),
    (libc::STATX_CTIME, 2),
    (libc::STATX_BTIME, 2),
];
const GROUPED: u32 = libc::STATX_ATIME
    | libc::STATX_MTIME
    | libc::STATX_CTIME
    | libc::STATX_BTIME
    | libc::STATX_MNT_ID;
/// The fields that a [`PlusLayout`] can hold.
const KNOWN: u32 = libc::STATX_BASIC_STATS | libc::STATX_BTIME | libc::STATX_MNT_ID;

/// Where the fields are in the metadata of a record, for a mask that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlusLayout {
    mask: u32,
    /// Words of the metadata.
    words: usize,
    /// The first word of each of the times, and of the mount id; 0 for a field that was not asked
    /// for.
    groups: [u8; 5],
}

impl PlusLayout {
    /// Returns the layout for a request with this mask of `STATX_*` bits. Leaves out bits other
    /// than the basic ones, `STATX_BTIME` and `STATX_MNT_ID`: [`mask`](Self::mask) returns the bits
    /// to ask for.
    pub fn new(mask: u32) -> Self {
        let mask = mask & KNOWN;
        let mut layout = Self {
            mask,
            words: STAT_WORDS,
            groups: [0; 5],
        };
        let groups = GROUPS.into_iter().chain([(libc::STATX_MNT_ID, 1)]);
        for (place, (field, words)) in layout.groups.iter_mut().zip(groups) {
            if mask & field != 0 {
                *place = u8::try_from(layout.words).unwrap_or_default();
                layout.words += words;
            }
        }
        layout
    }

    /// Returns the mask to ask for.
    pub const fn mask(&self) -> u32 {
        self.mask
    }

    /// Returns whether the metadata has times or a mount id.
    #[inline]
    fn has_groups(&self) -> bool {
        self.words > STAT_WORDS
    }

    /// Returns the largest size in bytes of a record whose name has `name` bytes.
    pub fn record_size(&self, name: usize) -> usize {
        (HEADER + self.words * ALIGN + name + 1).next_multiple_of(ALIGN)
    }
}

/// An entry, borrowed from the buffer that the kernel filled.
#[derive(Clone, Copy, Debug)]
pub struct PlusEntry<'a> {
    header: uapi::Entry,
    /// The whole record. The name begins at word `name` and ends within the record.
    record: &'a [[u8; ALIGN]],
    name: usize,
    layout: &'a PlusLayout,
}

impl<'a> PlusEntry<'a> {
    /// Parses the record at the beginning of `words`.
    #[inline]
    pub(crate) fn parse(
        words: &'a [[u8; ALIGN]],
        layout: &'a PlusLayout,
    ) -> Result<Self, DirentError> {
        let header: &[[u8; ALIGN]; HEADER_WORDS] =
            words.first_chunk().ok_or(DirentError::Truncated)?;
        let header = read_entry(header);
        let length = header.reclen as usize;
        if !length.is_multiple_of(ALIGN) {
            return Err(DirentError::BadLength);
        }
        let record = words.get(..length / ALIGN);
        let record = record.ok_or(DirentError::BadLength)?;
        let mut name = HEADER;
        if header.flags & uapi::ENTRY_STAT != 0 {
            name += layout.words * ALIGN;
        }
        let bytes = record.as_flattened();
        let end = name + usize::from(header.name_len);
        let fits = end as u64 + u64::from(header.xattr_len) < length as u64;
        match (fits, bytes.get(name), bytes.get(end)) {
            (true, Some(0), _) => Err(DirentError::EmptyName),
            (true, Some(_), Some(0)) => Ok(Self {
                header,
                record,
                name,
                layout,
            }),
            (true, ..) => Err(DirentError::UnterminatedName),
            (false, ..) => Err(DirentError::BadLength),
        }
    }

    /// Returns the length of the record in words.
    #[inline]
    pub(crate) fn words(&self) -> usize {
        self.record.len()
    }

    /// Returns the offset of the name in the record, in bytes.
    #[inline]
    pub(crate) fn name_offset(&self) -> usize {
        self.name
    }

    /// Returns the inode number in the directory's entry.
    #[inline]
    pub fn ino(&self) -> u64 {
        self.header.d_ino
    }

    /// Returns the position of the next entry, which is opaque and valid only for the open file
    /// that it came from.
    #[inline]
    pub fn cookie(&self) -> i64 {
        self.header.d_off.cast_signed()
    }

    /// Returns the type in the directory's entry. The type in the metadata is in
    /// [`PlusStat::fixed`].
    #[inline]
    pub fn file_type(&self) -> RawFileType {
        RawFileType::from_d_type(self.header.d_type)
    }

    /// Returns the name: any bytes except NUL and `/`, which the kernel rejects.
    pub fn name(&self) -> &'a CStr {
        name_from(self.record, self.name).unwrap_or_default()
    }

    /// Returns whether this is `.` or `..`.
    #[inline]
    pub fn is_dot(&self) -> bool {
        // The name begins a word, which holds both `.` and `..`.
        let [first, second, third, ..] = self.record[self.name / ALIGN];
        first == b'.' && (second == 0 || second == b'.' && third == 0)
    }

    /// Returns the metadata; `None` for `..`, and if none was asked for.
    ///
    /// # Errors
    ///
    /// The error that `statx` would have returned; `EIO` for a number that is not an errno.
    #[inline]
    pub fn stat(&self) -> Result<Option<PlusStat<'a>>, Errno> {
        if self.header.error != 0 {
            return Err(errno_of(self.header.error));
        }
        if self.header.flags & uapi::ENTRY_STAT == 0 {
            return Ok(None);
        }
        // `parse` has checked that a name follows the metadata.
        Ok(Some(PlusStat {
            words: &self.record[HEADER_WORDS..],
            layout: self.layout,
        }))
    }
}

/// The metadata of an entry.
#[derive(Clone, Copy, Debug)]
pub struct PlusStat<'a> {
    words: &'a [[u8; ALIGN]],
    layout: &'a PlusLayout,
}

impl PlusStat<'_> {
    /// Returns the fixed part, which every record has.
    #[inline]
    pub fn fixed(&self) -> uapi::Stat {
        match self.words.first_chunk() {
            Some(words) => read_stat(words),
            None => uapi::Stat::default(),
        }
    }

    /// Returns the bits of the mask that this metadata can hold: times and mount id only if they
    /// were asked for.
    #[inline]
    pub fn available(&self) -> u32 {
        self.layout.mask | !GROUPED
    }

    /// Returns whether times or the mount id were asked for. Otherwise all of them are zero.
    #[inline]
    pub fn has_groups(&self) -> bool {
        self.layout.has_groups()
    }

    /// Returns the time of last access.
    #[inline]
    pub fn atime(&self) -> uapi::Time {
        self.time(0)
    }

    /// Returns the time of last modification of the contents.
    #[inline]
    pub fn mtime(&self) -> uapi::Time {
        self.time(1)
    }

    /// Returns the time of last change of the inode.
    #[inline]
    pub fn ctime(&self) -> uapi::Time {
        self.time(2)
    }

    /// Returns the time of birth.
    #[inline]
    pub fn btime(&self) -> uapi::Time {
        self.time(3)
    }

    /// Returns the mount id.
    #[inline]
    pub fn mnt_id(&self) -> u64 {
        let group = self.group(4);
        group.map_or(0, |words| u64::from_ne_bytes(words[0]))
    }

    #[inline]
    fn time(&self, group: usize) -> uapi::Time {
        let words = self.group(group).and_then(|words| words.first_chunk());
        let Some([sec, [a, b, c, d, ..]]) = words else {
            return uapi::Time::default();
        };
        uapi::Time {
            sec: i64::from_ne_bytes(*sec),
            nsec: u32::from_ne_bytes([*a, *b, *c, *d]),
            reserved: 0,
        }
    }

    /// Returns the words from the beginning of a group on; `None` if it was not asked for.
    #[inline]
    fn group(&self, group: usize) -> Option<&[[u8; ALIGN]]> {
        match self.layout.groups[group] {
            0 => None,
            place => self
                .words
                .get(usize::from(place)..)
                .filter(|w| !w.is_empty()),
        }
    }
}

/// Returns the entry structure in these bytes.
#[inline]
fn read_entry(words: &[[u8; ALIGN]; HEADER_WORDS]) -> uapi::Entry {
    // SAFETY: as many bytes as the structure has (asserted by the type, whose length is made of its
    // size), read at any alignment; it consists of integers without padding, for which any bytes
    // are valid.
    unsafe { words.as_ptr().cast::<uapi::Entry>().read_unaligned() }
}

/// Returns the metadata structure in these bytes.
#[inline]
fn read_stat(words: &[[u8; ALIGN]; STAT_WORDS]) -> uapi::Stat {
    // SAFETY: as above.
    unsafe { words.as_ptr().cast::<uapi::Stat>().read_unaligned() }
}

/// An iterator over the records in a buffer, in order. It ends after an error.
#[derive(Clone, Debug)]
pub struct PlusEntries<'a> {
    words: &'a [[u8; ALIGN]],
    layout: &'a PlusLayout,
    at: usize,
    ragged: bool,
}

impl<'a> PlusEntries<'a> {
    /// Creates an iterator over the records of `buffer`. The request has written all its bytes.
    pub fn new(buffer: &'a [u8], layout: &'a PlusLayout) -> Self {
        let (words, rest) = buffer.as_chunks();
        Self {
            words,
            layout,
            at: 0,
            ragged: !rest.is_empty(),
        }
    }

    /// Returns the offset in bytes of the next record.
    #[inline]
    pub fn offset(&self) -> usize {
        self.at * ALIGN
    }
}

impl<'a> Iterator for PlusEntries<'a> {
    type Item = Result<PlusEntry<'a>, DirentError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.words.len() && !std::mem::take(&mut self.ragged) {
            return None;
        }
        let parsed = PlusEntry::parse(&self.words[self.at..], self.layout);
        if let Ok(entry) = &parsed {
            self.at += entry.words();
        } else {
            self.at = self.words.len();
            self.ragged = false;
        }
        Some(parsed)
    }
}

impl std::iter::FusedIterator for PlusEntries<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The parts of a record.
    #[derive(Clone, Debug)]
    pub(crate) struct Made {
        pub(crate) ino: u64,
        pub(crate) cookie: u64,
        pub(crate) error: i32,
        pub(crate) d_type: u8,
        pub(crate) name: Vec<u8>,
        /// Words of metadata, if the record has metadata.
        pub(crate) stat: Option<Vec<u64>>,
        pub(crate) xattrs: usize,
    }

    fn made() -> Made {
        Made {
            ino: 1,
            cookie: 2,
            error: 0,
            d_type: 8,
            name: b"name".to_vec(),
            stat: None,
            xattrs: 0,
        }
    }

    fn record(made: &Made) -> Vec<u8> {
        let mut record = vec![0; HEADER];
        for word in made.stat.iter().flatten() {
            record.extend(word.to_ne_bytes());
        }
        record.extend(&made.name);
        record.push(0);
        record.resize(
            record.len().next_multiple_of(ALIGN) + made.xattrs * ALIGN,
            0,
        );
        let reclen = u32::try_from(record.len()).unwrap();
        let xattrs = u32::try_from(made.xattrs * ALIGN).unwrap();
        record[..8].copy_from_slice(&made.ino.to_ne_bytes());
        record[8..16].copy_from_slice(&made.cookie.to_ne_bytes());
        record[16..20].copy_from_slice(&reclen.to_ne_bytes());
        record[20..24].copy_from_slice(&xattrs.to_ne_bytes());
        record[24..28].copy_from_slice(&made.error.to_ne_bytes());
        let length = u16::try_from(made.name.len()).unwrap();
        record[28..30].copy_from_slice(&length.to_ne_bytes());
        record[30] = made.d_type;
        record[31] = u8::from(made.stat.is_some());
        record
    }

    fn only(bytes: &[u8], mask: u32) -> Result<(), DirentError> {
        let layout = PlusLayout::new(mask);
        let mut entries = PlusEntries::new(bytes, &layout);
        let first = entries.next().unwrap().map(|_| ());
        assert!(entries.next().is_none());
        first
    }

    #[test]
    fn groups_lie_where_the_header_says() {
        let all = libc::STATX_BASIC_STATS | libc::STATX_BTIME | libc::STATX_MNT_ID;
        let layout = PlusLayout::new(all | 1 << 31);
        assert_eq!(layout.mask(), all);
        assert_eq!((layout.words, layout.groups), (19, [10, 12, 14, 16, 18]));
        let layout = PlusLayout::new(libc::STATX_SIZE | libc::STATX_CTIME | libc::STATX_MNT_ID);
        assert_eq!((layout.words, layout.groups), (13, [0, 0, 10, 0, 12]));
        assert_eq!(
            PlusLayout::new(libc::STATX_SIZE).record_size(7),
            32 + 80 + 8
        );
    }

    #[test]
    fn metadata_is_read_field_by_field() {
        let layout = PlusLayout::new(libc::STATX_SIZE | libc::STATX_MTIME | libc::STATX_MNT_ID);
        let word = |low: u64, high: u64| low | high << 32;
        let stat = vec![
            word(0x7ff, 4096),
            3,
            4,
            word(5, 1000),
            word(1001, 0o100_644),
            77,
            12345,
            24,
            word(8, 1),
            word(9, 2),
            (-5_i64).cast_unsigned(),
            word(999_999_999, 0),
            42,
        ];
        let bytes = record(&Made {
            stat: Some(stat),
            ..made()
        });
        if cfg!(target_endian = "big") {
            return; // The words above are put together for the other.
        }
        let entry = PlusEntries::new(&bytes, &layout).next().unwrap().unwrap();
        assert_eq!((entry.name(), entry.ino(), entry.cookie()), (c"name", 1, 2));
        assert_eq!(entry.file_type(), RawFileType::Regular);
        let stat = entry.stat().unwrap().unwrap();
        let fixed = stat.fixed();
        assert_eq!(
            (fixed.mask, fixed.blksize, fixed.attributes),
            (0x7ff, 4096, 3)
        );
        assert_eq!((fixed.attributes_mask, fixed.nlink), (4, 5));
        assert_eq!((fixed.uid, fixed.gid, fixed.mode), (1000, 1001, 0o100_644));
        assert_eq!((fixed.ino, fixed.size, fixed.blocks), (77, 12345, 24));
        assert_eq!((fixed.dev_major, fixed.dev_minor), (8, 1));
        assert_eq!((fixed.rdev_major, fixed.rdev_minor), (9, 2));
        assert_eq!((stat.mtime().sec, stat.mtime().nsec), (-5, 999_999_999));
        assert_eq!((stat.atime(), stat.ctime()), Default::default());
        assert_eq!((stat.btime().sec, stat.mnt_id()), (0, 42));
    }

    #[test]
    fn an_error_is_reported_instead_of_metadata() {
        let layout = PlusLayout::new(libc::STATX_SIZE);
        let bytes = record(&Made {
            error: -2,
            ..made()
        });
        let entry = PlusEntries::new(&bytes, &layout).next().unwrap().unwrap();
        assert_eq!(entry.stat().unwrap_err(), Errno::NOENT);
        let bytes = record(&made());
        let entry = PlusEntries::new(&bytes, &layout).next().unwrap().unwrap();
        assert!(entry.stat().unwrap().is_none());
    }

    #[test]
    fn dots_are_distinguished_from_names_that_begin_with_them() {
        let layout = PlusLayout::new(libc::STATX_SIZE);
        for (name, is_dot) in [
            (&b"."[..], true),
            (b"..", true),
            (b"...", false),
            (b".x", false),
            (b"..x", false),
            (b"x", false),
        ] {
            let bytes = record(&Made {
                name: name.to_vec(),
                ..made()
            });
            let entry = PlusEntries::new(&bytes, &layout).next().unwrap().unwrap();
            assert_eq!(entry.is_dot(), is_dot, "{name:?}");
        }
    }

    #[test]
    fn damaged_records_are_refused() {
        let good = record(&made());
        assert_eq!(only(&good, 0), Ok(()));
        let damaged = |at: usize, bytes: &[u8]| {
            let mut record = good.clone();
            record[at..at + bytes.len()].copy_from_slice(bytes);
            only(&record, libc::STATX_SIZE)
        };
        assert_eq!(only(&good[..31], 0), Err(DirentError::Truncated));
        assert_eq!(only(&good[..32], 0), Err(DirentError::BadLength));
        for length in [0_u32, 8, 32, 39, 48, u32::MAX, u32::MAX - 7] {
            let found = damaged(16, &length.to_ne_bytes());
            assert_eq!(found, Err(DirentError::BadLength), "{length}");
        }
        // Attributes that would begin before the end of the name.
        assert_eq!(damaged(20, &[8]), Err(DirentError::BadLength));
        assert_eq!(damaged(20, &[0xff; 4]), Err(DirentError::BadLength));
        // Wrong lengths of the name.
        assert_eq!(damaged(28, &[3]), Err(DirentError::UnterminatedName));
        assert_eq!(
            damaged(28, &8_u16.to_ne_bytes()),
            Err(DirentError::BadLength)
        );
        assert_eq!(damaged(28, &[0xff; 2]), Err(DirentError::BadLength));
        assert_eq!(damaged(32, &[0]), Err(DirentError::EmptyName));
        // Metadata that does not fit into the record.
        assert_eq!(damaged(31, &[1]), Err(DirentError::BadLength));
    }

    #[test]
    fn what_follows_a_damaged_record_is_not_read() {
        let layout = PlusLayout::new(0);
        let mut bytes = record(&made());
        let good = bytes.len();
        bytes.extend([0; 40]);
        bytes.extend(record(&made()));
        let mut entries = PlusEntries::new(&bytes, &layout);
        assert!(entries.next().unwrap().is_ok());
        assert_eq!(entries.offset(), good);
        assert!(entries.next().unwrap().is_err());
        assert!(entries.next().is_none());
        let ragged = [&record(&made())[..], &[0; 3]].concat();
        assert_eq!(PlusEntries::new(&ragged, &layout).count(), 2);
    }

    fn name() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(1..=255_u8, 1..300)
    }

    proptest! {
        #[test]
        fn records_are_read_as_they_were_made(
            mask in any::<u32>(),
            all in prop::collection::vec(
                (any::<u64>(), name(), any::<bool>(), any::<u64>(), 0..5_usize), 0..20),
        ) {
            let layout = PlusLayout::new(mask);
            let all: Vec<_> = all
                .into_iter()
                .map(|(ino, name, stat, word, xattrs)| Made {
                    ino,
                    name,
                    stat: stat.then(|| vec![word; layout.words]),
                    xattrs,
                    ..made()
                })
                .collect();
            let bytes: Vec<u8> = all.iter().flat_map(record).collect();
            let found: Vec<_> = PlusEntries::new(&bytes, &layout).map(Result::unwrap).collect();
            prop_assert_eq!(found.len(), all.len());
            for (found, made) in found.iter().zip(&all) {
                prop_assert_eq!(found.ino(), made.ino);
                prop_assert_eq!(found.name().to_bytes(), &made.name[..]);
                let stat = found.stat().unwrap();
                prop_assert_eq!(stat.map(|s| s.fixed().size), made.stat.as_ref().map(|s| s[6]));
                if mask & libc::STATX_MNT_ID != 0 {
                    prop_assert_eq!(stat.map(|s| s.mnt_id()), made.stat.as_ref().map(|s| s[18.min(s.len() - 1)]));
                }
            }
        }

        #[test]
        fn any_bytes_are_records_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400), mask in any::<u32>()) {
            let layout = PlusLayout::new(mask);
            let mut entries = PlusEntries::new(&bytes, &layout);
            while let Some(entry) = entries.next() {
                match entry {
                    Ok(entry) => {
                        prop_assert!(!entry.name().is_empty());
                        let _ = (entry.is_dot(), entry.stat().map(|s| s.map(|s| (s.fixed(), s.btime(), s.mnt_id()))));
                        prop_assert!(entries.offset() <= bytes.len());
                    }
                    Err(_) => prop_assert!(entries.next().is_none()),
                }
            }
        }
    }

    #[test]
    fn what_is_no_errno_is_an_error_all_the_same() {
        let layout = PlusLayout::new(libc::STATX_SIZE);
        for (error, reported) in [
            (-libc::ENOENT, Errno::NOENT),
            (1, Errno::IO),
            (-4096, Errno::IO),
            (i32::MIN, Errno::IO),
            (i32::MAX, Errno::IO),
        ] {
            let bytes = record(&Made { error, ..made() });
            let entry = PlusEntries::new(&bytes, &layout).next().unwrap().unwrap();
            assert_eq!(entry.stat().err(), Some(reported), "{error}");
        }
    }
}
