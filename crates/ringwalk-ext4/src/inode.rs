//! One inode.

use crate::Error;
use crate::bytes::{Fixed, join16, join32, u16_at, u32_at};
use crate::checksum::crc32c;
use crate::features::{incompat, ro_compat};
use crate::superblock::{OLD_INODE_SIZE, Superblock};

/// The part that every inode has.
const BASE: usize = OLD_INODE_SIZE as usize;
/// What an inode counts as having behind the base if it says 0 (`i_extra_isize`): the fields that Linux knows.
const EXTRA: u16 = 32;
/// `i_blocks` is in units of the block size (`EXT4_HUGE_FILE_FL`).
const HUGE_FILE: u32 = 0x4_0000;

/// `S_IFMT` and types of inodes.
const TYPE: u32 = 0o170_000;
const CHARACTER_DEVICE: u32 = 0o020_000;
const DIRECTORY: u32 = 0o040_000;
const BLOCK_DEVICE: u32 = 0o060_000;
const REGULAR: u32 = 0o100_000;
const SYMLINK: u32 = 0o120_000;

/// A point in time: seconds since the epoch and nanoseconds after that second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    /// Seconds since 1970-01-01 00:00 UTC.
    pub secs: i64,
    /// 0 to 999 999 999 (or, on a damaged file system, to 2^30 - 1, which stat(2) passes on as well).
    pub nanos: u32,
}

impl Timestamp {
    /// From the signed seconds that every inode has, and the extra bits: 2 of the epoch below 30 of nanoseconds.
    #[inline]
    fn new(seconds: u32, extra: Option<u32>) -> Self {
        let secs = i64::from(seconds.cast_signed());
        match extra {
            None => Self { secs, nanos: 0 },
            Some(extra) => Self {
                secs: secs + (i64::from(extra & 3) << 32),
                nanos: extra >> 2,
            },
        }
    }
}

/// Flags of an inode (`EXT4_*_FL`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InodeFlags(pub u32);

impl InodeFlags {
    /// Compressed (`EXT4_COMPR_FL`).
    pub const COMPRESSED: u32 = 0x4;
    /// Cannot be changed (`EXT4_IMMUTABLE_FL`).
    pub const IMMUTABLE: u32 = 0x10;
    /// Can only be added to (`EXT4_APPEND_FL`).
    pub const APPEND: u32 = 0x20;
    /// Not to be dumped (`EXT4_NODUMP_FL`).
    pub const NODUMP: u32 = 0x40;
    /// Contents, or names, are encrypted (`EXT4_ENCRYPT_FL`). The size of such a symbolic link is not what stat(2) says:
    /// that has the length of the target as it is shown.
    pub const ENCRYPTED: u32 = 0x800;
    /// A directory with an index (`EXT4_INDEX_FL`).
    pub const INDEX: u32 = 0x1000;
    /// Blocks are mapped by extents (`EXT4_EXTENTS_FL`).
    pub const EXTENTS: u32 = 0x8_0000;
    /// Protected by fs-verity (`EXT4_VERITY_FL`).
    pub const VERITY: u32 = 0x10_0000;
    /// Holds the value of an extended attribute (`EXT4_EA_INODE_FL`).
    pub const EA_INODE: u32 = 0x20_0000;
    /// Mapped directly (`EXT4_DAX_FL`).
    pub const DAX: u32 = 0x200_0000;
    /// Data is in the inode (`EXT4_INLINE_DATA_FL`).
    pub const INLINE_DATA: u32 = 0x1000_0000;

    /// Whether all of `flags` are set.
    #[inline]
    pub fn contains(self, flags: u32) -> bool {
        self.0 & flags == flags
    }
}

/// What decoding an inode needs to know of the file system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InodeFormat {
    size: u16,
    /// What inodes' checksums begin with, if they have any.
    seed: Option<u32>,
    fields: Fields,
}

/// What an inode's fields mean.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "features are on or off, each by itself"
)]
struct Fields {
    /// A block is 512 bytes shifted by that.
    sector_shift: u8,
    has_huge_files: bool,
    has_large_directories: bool,
    has_projects: bool,
    is_linux: bool,
}

impl InodeFormat {
    pub(crate) fn new(superblock: &Superblock) -> Self {
        let features = superblock.features;
        let sectors = superblock.block_size / 512;
        Self {
            size: superblock.inode_size,
            // As the kernel: other systems' inodes have something else in that place.
            seed: (superblock.has_checksums && superblock.is_linux).then_some(superblock.seed),
            fields: Fields {
                sector_shift: sectors.trailing_zeros().to_le_bytes()[0],
                has_huge_files: features.has_ro_compat(ro_compat::HUGE_FILE),
                has_large_directories: features.has_incompat(incompat::LARGE_DIR),
                has_projects: features.has_ro_compat(ro_compat::PROJECT),
                is_linux: superblock.is_linux,
            },
        }
    }
}

/// An inode that is in use; its fields are decoded when asked for.
#[derive(Clone, Copy, Debug)]
pub struct Inode<'r> {
    ino: u32,
    fields: Fields,
    /// How much of `rest` holds fields.
    extra_size: u16,
    base: Fixed<'r, BASE>,
    /// What larger inodes have behind the base: more fields, then extended attributes.
    rest: &'r [u8],
}

impl<'r> Inode<'r> {
    /// See `FileSystem::inode`.
    #[inline]
    pub(crate) fn decode(
        format: &InodeFormat,
        ino: u32,
        raw: &'r [u8],
    ) -> Result<Option<Self>, Error> {
        let raw = raw.get(..usize::from(format.size));
        let parts = raw.and_then(<[u8]>::split_first_chunk::<BASE>);
        let (base, rest) = parts.ok_or(Error::Corrupt("inode cut short"))?;
        let base = Fixed(base);
        if base.u16::<0x1A>() == 0 {
            return Ok(None);
        }
        let told = u16_at(rest, 0).unwrap_or(0);
        if usize::from(told) > rest.len() || !told.is_multiple_of(4) {
            return Err(Error::Corrupt("size of an inode's fields"));
        }
        if let Some(seed) = format.seed
            && !has_right_checksum(seed, ino, base, rest, told)
        {
            return Err(Error::Checksum("an inode"));
        }
        let extra_size = match told {
            0 if rest.is_empty() => 0,
            0 => EXTRA,
            told => told,
        };
        Ok(Some(Self {
            ino,
            fields: format.fields,
            extra_size,
            base,
            rest,
        }))
    }

    /// A field behind the base, by its place in the inode, if the inode has it.
    #[inline]
    fn extra<const AT: usize>(&self) -> Option<u32> {
        let end = AT - BASE + 4;
        if end > usize::from(self.extra_size) {
            return None;
        }
        u32_at(self.rest, AT - BASE)
    }

    #[inline]
    fn has_type(&self, kind: u32) -> bool {
        self.mode() & TYPE == kind
    }

    #[inline]
    pub(crate) fn is_directory(&self) -> bool {
        self.has_type(DIRECTORY)
    }

    #[inline]
    pub(crate) fn is_regular(&self) -> bool {
        self.has_type(REGULAR)
    }

    #[inline]
    pub(crate) fn is_symlink(&self) -> bool {
        self.has_type(SYMLINK)
    }

    #[inline]
    pub(crate) fn is_device(&self) -> bool {
        self.has_type(CHARACTER_DEVICE) || self.has_type(BLOCK_DEVICE)
    }

    /// `i_block`: the map of blocks, or data in their place.
    #[inline]
    pub(crate) fn block_map(&self) -> &'r [u8; 60] {
        const { assert!(0x28 + 60 <= BASE) };
        match self.base.0[0x28..].first_chunk() {
            Some(map) => map,
            None => &[0; 60],
        }
    }

    /// The room for extended attributes in the inode, which begins behind the fields; empty if there is none.
    pub(crate) fn xattr_room(&self) -> &'r [u8] {
        // An inode that says 0 has none, although its fields count.
        match u16_at(self.rest, 0) {
            None | Some(0) => &[],
            Some(size) => self.rest.get(usize::from(size)..).unwrap_or_default(),
        }
    }

    /// The block of extended attributes; 0: none.
    pub(crate) fn xattr_block(&self) -> u64 {
        let high = if self.fields.is_linux {
            self.base.u16::<0x76>()
        } else {
            0
        };
        join32(self.base.u32::<0x68>(), high.into())
    }

    /// The lower 32 bits of the time of last access, which is something else for some inodes.
    pub(crate) fn raw_atime(&self) -> u32 {
        self.base.u32::<0x8>()
    }

    /// What checksums of the inode's other blocks begin with (`i_csum_seed`).
    #[inline]
    pub(crate) fn seed(&self, seed: u32) -> u32 {
        own_seed(seed, self.ino, self.base)
    }

    /// The number.
    #[inline]
    pub fn ino(&self) -> u32 {
        self.ino
    }

    /// Type and permission bits, as in `st_mode`.
    #[inline]
    pub fn mode(&self) -> u32 {
        self.base.u16::<0x0>().into()
    }

    /// Owner.
    #[inline]
    pub fn uid(&self) -> u32 {
        join16(self.base.u16::<0x2>(), self.base.u16::<0x78>())
    }

    /// Group.
    #[inline]
    pub fn gid(&self) -> u32 {
        join16(self.base.u16::<0x18>(), self.base.u16::<0x7A>())
    }

    /// Number of links; 1 for a directory that has had more than 65000.
    #[inline]
    pub fn links(&self) -> u32 {
        self.base.u16::<0x1A>().into()
    }

    /// Apparent size in bytes.
    #[inline]
    pub fn size(&self) -> u64 {
        // What is the upper half for regular files was something else for directories once, and is nothing for others.
        let is_large = self.is_regular() || self.fields.has_large_directories;
        let high = if is_large { self.base.u32::<0x6C>() } else { 0 };
        join32(self.base.u32::<0x4>(), high)
    }

    /// Allocated size in units of 512 bytes, as statx(2) tells it: a regular file with inline data has as many as its size
    /// takes (`ext4_file_getattr`), although none is allocated.
    #[inline]
    pub fn blocks(&self) -> u64 {
        let low = self.base.u32::<0x1C>();
        let mut blocks = u64::from(low);
        if self.fields.has_huge_files {
            blocks = join32(low, self.base.u16::<0x74>().into());
            if self.flags().contains(HUGE_FILE) {
                blocks <<= self.fields.sector_shift;
            }
        }
        if self.flags().contains(InodeFlags::INLINE_DATA) && self.is_regular() {
            blocks += self.size().div_ceil(512);
        }
        blocks
    }

    /// Time of last access.
    #[inline]
    pub fn atime(&self) -> Timestamp {
        Timestamp::new(self.base.u32::<0x8>(), self.extra::<0x8C>())
    }

    /// Time of last change of the contents.
    #[inline]
    pub fn mtime(&self) -> Timestamp {
        Timestamp::new(self.base.u32::<0x10>(), self.extra::<0x88>())
    }

    /// Time of last change of the inode.
    #[inline]
    pub fn ctime(&self) -> Timestamp {
        Timestamp::new(self.base.u32::<0xC>(), self.extra::<0x84>())
    }

    /// Time of birth, where inodes are large enough to hold it.
    #[inline]
    pub fn btime(&self) -> Option<Timestamp> {
        let seconds = self.extra::<0x90>()?;
        Some(Timestamp::new(seconds, self.extra::<0x94>()))
    }

    /// The flags.
    #[inline]
    pub fn flags(&self) -> InodeFlags {
        InodeFlags(self.base.u32::<0x20>())
    }

    /// Number of the inode's use, which a file handle holds too (`i_generation`).
    #[inline]
    pub fn generation(&self) -> u32 {
        self.base.u32::<0x64>()
    }

    /// Major and minor number of a device file; 0 and 0 of any other.
    #[inline]
    pub fn device(&self) -> (u32, u32) {
        if !self.is_device() {
            return (0, 0);
        }
        // 8 and 8 bits in the first word, or 12 and 20 bits, mixed, in the second.
        match self.base.u32::<0x28>() & 0xFFFF {
            0 if self.base.u32::<0x28>() == 0 => {
                let device = self.base.u32::<0x2C>();
                (device >> 8 & 0xFFF, device & 0xFF | device >> 12 & 0xF_FF00)
            }
            device => (device >> 8, device & 0xFF),
        }
    }

    /// Project, where the file system has the feature; 0 in an inode without room for it.
    #[inline]
    pub fn project(&self) -> Option<u32> {
        let has_projects = self.fields.has_projects;
        has_projects.then(|| self.extra::<0x9C>().unwrap_or(0))
    }
}

#[inline]
fn own_seed(seed: u32, ino: u32, base: Fixed<'_, BASE>) -> u32 {
    // Aligned, as crc32c takes 8 bytes at once only then.
    let numbers = join32(ino, base.u32::<0x64>()).to_le();
    crc32c(seed, &numbers.to_ne_bytes())
}

/// Whether the checksum is that of the inode with 0 in its place. Half of it is in the base, half behind it, if there is room.
///
/// Numbers and inode are put together in a buffer: one call for the whole of an inode of 128 or 256 bytes takes half the time of five for
/// the parts between what is 0.
#[inline]
fn has_right_checksum(
    seed: u32,
    ino: u32,
    base: Fixed<'_, BASE>,
    rest: &[u8],
    extra_size: u16,
) -> bool {
    /// crc32c takes 8 bytes at once where they are aligned.
    #[repr(align(8))]
    struct Aligned([u8; 8 + 2 * BASE]);
    const LOW: usize = 8 + 0x7C;
    const HIGH: usize = 8 + 0x82;

    let mut buffer = Aligned([0; 8 + 2 * BASE]);
    let bytes = &mut buffer.0;
    bytes[..4].copy_from_slice(&ino.to_le_bytes());
    bytes[4..8].copy_from_slice(&base.u32::<0x64>().to_le_bytes());
    bytes[8..8 + BASE].copy_from_slice(base.0);
    bytes[LOW..LOW + 2].fill(0);
    let low = base.u16::<0x7C>();
    let Some((extra, rest)) = rest.split_first_chunk::<BASE>() else {
        return low == (crc32c(seed, &bytes[..8 + BASE]) & 0xFFFF) as u16;
    };
    bytes[8 + BASE..].copy_from_slice(extra);
    let has_high = extra_size >= 4;
    if has_high {
        bytes[HIGH..HIGH + 2].fill(0);
    }
    let mut sum = crc32c(seed, bytes);
    if !rest.is_empty() {
        sum = crc32c(sum, rest);
    }
    if has_high {
        sum == join16(low, u16::from_le_bytes([extra[2], extra[3]]))
    } else {
        low == (sum & 0xFFFF) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_image::{inode, inode_bytes, set, superblock};

    #[test]
    fn free_inodes_are_none_before_anything_else() {
        let format = InodeFormat {
            seed: Some(0),
            ..InodeFormat::new(&superblock())
        };
        assert!(matches!(Inode::decode(&format, 12, &[0; 256]), Ok(None)));
        assert!(Inode::decode(&format, 12, &[0; 255]).is_err());
        let used = inode_bytes(0o100_644);
        assert!(matches!(
            Inode::decode(&format, 12, &used),
            Err(Error::Checksum(_))
        ));
    }

    #[test]
    fn checksums_cover_all_but_themselves() {
        let format = InodeFormat {
            seed: Some(7),
            ..InodeFormat::new(&superblock())
        };
        for extra_size in [0, 4, 32] {
            let mut bytes = inode_bytes(0o100_644);
            bytes[0x80] = extra_size;
            // Bytes 0x82 and 0x83 are the upper half only if they are within the fields.
            let sum = crc32c(crc32c(crc32c(7, &12_u32.to_le_bytes()), &[0; 4]), &bytes);
            set(&mut bytes, 0x7C, &sum.to_le_bytes()[..2]);
            if extra_size > 0 {
                set(&mut bytes, 0x82, &sum.to_le_bytes()[2..]);
            }
            let is_used = |ino, bytes: &[u8]| Inode::decode(&format, ino, bytes).is_ok();
            assert!(is_used(12, &bytes), "{extra_size}");
            assert!(!is_used(13, &bytes));
            for at in (0..256).filter(|at| !(0x1A..0x1C).contains(at)) {
                bytes[at] ^= 0x80;
                assert!(!is_used(12, &bytes), "{extra_size} {at:#x}");
                bytes[at] ^= 0x80;
            }
        }
    }

    #[test]
    fn times_have_as_many_bits_as_the_inode_has_room_for() {
        let superblock = superblock();
        let mut bytes = inode_bytes(0o100_644);
        set(&mut bytes, 0x10, &(-2_i32).to_le_bytes());
        set(&mut bytes, 0x88, &(5_u32 << 2 | 1).to_le_bytes());
        set(&mut bytes, 0x90, &3_u32.to_le_bytes());
        set(&mut bytes, 0x94, &(6_u32 << 2).to_le_bytes());
        let long = Timestamp {
            secs: (1 << 32) - 2,
            nanos: 5,
        };
        let short = Timestamp { secs: -2, nanos: 0 };
        let birth = |nanos| Some(Timestamp { secs: 3, nanos });
        for (extra_size, mtime, btime) in [
            // 0 stands for the fields known, as for the kernel.
            (0, long, birth(6)),
            (8, short, None),
            (12, long, None),
            (20, long, birth(0)),
            (24, long, birth(6)),
        ] {
            bytes[0x80] = extra_size;
            let inode = inode(&superblock, &bytes);
            assert_eq!(
                (inode.mtime(), inode.btime()),
                (mtime, btime),
                "{extra_size}"
            );
        }
        for extra_size in [2, 132] {
            bytes[0x80] = extra_size;
            let format = InodeFormat::new(&superblock);
            assert!(Inode::decode(&format, 12, &bytes).is_err(), "{extra_size}");
        }
    }

    #[test]
    fn blocks_are_in_sectors() {
        let mut superblock = superblock();
        let mut bytes = inode_bytes(0o100_644);
        set(&mut bytes, 0x1C, &5_u32.to_le_bytes());
        set(&mut bytes, 0x74, &[1, 0]);
        set(&mut bytes, 0x4, &1025_u32.to_le_bytes());
        assert_eq!(inode(&superblock, &bytes).blocks(), 5);
        superblock.features.ro_compat = ro_compat::HUGE_FILE;
        assert_eq!(inode(&superblock, &bytes).blocks(), (1 << 32) + 5);
        set(&mut bytes, 0x20, &HUGE_FILE.to_le_bytes());
        assert_eq!(inode(&superblock, &bytes).blocks(), ((1 << 32) + 5) * 2);
        set(&mut bytes, 0x20, &InodeFlags::INLINE_DATA.to_le_bytes());
        assert_eq!(inode(&superblock, &bytes).blocks(), (1 << 32) + 5 + 3);
        bytes[1] = 0o040_000_u16.to_le_bytes()[1];
        assert_eq!(
            inode(&superblock, &bytes).blocks(),
            (1 << 32) + 5,
            "a directory"
        );
    }

    #[test]
    fn sizes_beyond_4_gib_are_of_files_and_large_directories() {
        let mut superblock = superblock();
        for (mode, plain, large) in [(0o100_644, 1 << 32, 1 << 32), (0o040_755, 0, 1 << 32)] {
            let mut bytes = inode_bytes(mode);
            set(&mut bytes, 0x6C, &[1]);
            superblock.features.incompat = 0;
            assert_eq!(inode(&superblock, &bytes).size(), plain);
            superblock.features.incompat = incompat::LARGE_DIR;
            assert_eq!(inode(&superblock, &bytes).size(), large);
        }
    }

    #[test]
    fn devices_are_numbered_in_two_ways() {
        let superblock = superblock();
        for (first, second, device) in [
            (0x0511, 0, (5, 17)),
            (0, 0x1234_5678, (0x456, 0x1_2378)),
            (0x1_0000, 0x1234_5678, (0, 0)),
        ] {
            let mut bytes = inode_bytes(0o020_644);
            set(&mut bytes, 0x28, &u32::to_le_bytes(first));
            set(&mut bytes, 0x2C, &u32::to_le_bytes(second));
            assert_eq!(inode(&superblock, &bytes).device(), device);
            bytes[1] = 0o010_000_u16.to_le_bytes()[1];
            assert_eq!(inode(&superblock, &bytes).device(), (0, 0), "a FIFO");
        }
    }

    #[test]
    fn projects_are_a_feature() {
        let mut superblock = superblock();
        let mut bytes = inode_bytes(0o100_644);
        set(&mut bytes, 0x9C, &99_u32.to_le_bytes());
        assert_eq!(inode(&superblock, &bytes).project(), None);
        superblock.features.ro_compat = ro_compat::PROJECT;
        assert_eq!(inode(&superblock, &bytes).project(), Some(99));
        bytes[0x80] = 28;
        assert_eq!(inode(&superblock, &bytes).project(), Some(0), "no room");
    }
}
