//! One inode.

use crate::Error;
use crate::bytes::{Fixed, join16, join32, u16_at, u32_at};
use crate::features::{incompat, ro_compat};
use crate::inode_checksum::{has_right_checksum, own_seed};
use crate::inode_flags::InodeFlags;
use crate::superblock::{OLD_INODE_SIZE, Superblock};
use crate::timestamp::Timestamp;

/// Bytes of the part that every inode has.
pub(crate) const BASE: usize = OLD_INODE_SIZE as usize;
/// Bytes of fields after the base in an inode whose `i_extra_isize` is 0: the fields that Linux
/// knows.
const EXTRA: u16 = 32;
/// The flag that makes block size the unit of `i_blocks` (`EXT4_HUGE_FILE_FL`).
const HUGE_FILE: u32 = 0x4_0000;

/// `S_IFMT` and types of inodes.
const TYPE: u32 = 0o170_000;
const CHARACTER_DEVICE: u32 = 0o020_000;
const DIRECTORY: u32 = 0o040_000;
const BLOCK_DEVICE: u32 = 0o060_000;
const REGULAR: u32 = 0o100_000;
const SYMLINK: u32 = 0o120_000;

/// What a reader of inodes needs to know of the file system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InodeFormat {
    size: u16,
    /// The seed of inodes' checksums, if they have checksums.
    seed: Option<u32>,
    fields: Fields,
}

/// What the fields of an inode mean in this file system.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "features are on or off, each by itself"
)]
struct Fields {
    /// A block has 512 bytes shifted left by this.
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
            // As in the kernel: inodes of other systems have something else in that place.
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

/// An inode in use. Its fields are decoded when they are read.
#[derive(Clone, Copy, Debug)]
pub struct Inode<'r> {
    ino: u32,
    fields: Fields,
    /// Bytes of `rest` that hold fields.
    extra_size: u16,
    base: Fixed<'r, BASE>,
    /// The bytes after the base of a larger inode: more fields, then extended attributes.
    rest: &'r [u8],
}

impl<'r> Inode<'r> {
    /// Decodes an inode; see `FileSystem::inode`.
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
        // An inode of 128 bytes has nothing after the base.
        let stored = u16_at(rest, 0).unwrap_or(0);
        if usize::from(stored) > rest.len() || !stored.is_multiple_of(4) {
            return Err(Error::Corrupt("size of an inode's fields"));
        }
        if let Some(seed) = format.seed
            && !has_right_checksum(seed, ino, base, rest, stored)
        {
            return Err(Error::Checksum("an inode"));
        }
        let extra_size = match stored {
            0 if rest.is_empty() => 0,
            0 => EXTRA,
            stored => stored,
        };
        Ok(Some(Self {
            ino,
            fields: format.fields,
            extra_size,
            base,
            rest,
        }))
    }

    /// Returns the field at this offset after the base, if the inode has it.
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

    /// Returns `i_block`: the map of blocks, or data in its place.
    #[inline]
    pub(crate) fn block_map(&self) -> &'r [u8; 60] {
        const { assert!(0x28 + 60 <= BASE) };
        match self.base.0[0x28..].first_chunk() {
            Some(map) => map,
            None => &[0; 60],
        }
    }

    /// Returns the space for extended attributes in the inode, after the fields; empty if there is
    /// none.
    pub(crate) fn xattr_room(&self) -> &'r [u8] {
        // An inode whose `i_extra_isize` is 0 has no such space, although its fields count.
        match u16_at(self.rest, 0) {
            None | Some(0) => &[],
            Some(size) => self.rest.get(usize::from(size)..).unwrap_or_default(),
        }
    }

    /// Returns the block of extended attributes, or 0 if there is none.
    pub(crate) fn xattr_block(&self) -> u64 {
        let high = if self.fields.is_linux {
            self.base.u16::<0x76>()
        } else {
            0
        };
        join32(self.base.u32::<0x68>(), high.into())
    }

    /// Returns the lower 32 bits of the time of last access. Some inodes hold another value in
    /// them.
    pub(crate) fn raw_atime(&self) -> u32 {
        self.base.u32::<0x8>()
    }

    /// Returns the seed of the checksums of the inode's other blocks (`i_csum_seed`).
    #[inline]
    pub(crate) fn seed(&self, seed: u32) -> u32 {
        own_seed(seed, self.ino, self.base)
    }

    /// Returns the inode number.
    #[inline]
    pub fn ino(&self) -> u32 {
        self.ino
    }

    /// Returns the type and permission bits, as in `st_mode`.
    #[inline]
    pub fn mode(&self) -> u32 {
        self.base.u16::<0x0>().into()
    }

    /// Returns the user ID of the owner.
    #[inline]
    pub fn uid(&self) -> u32 {
        join16(self.base.u16::<0x2>(), self.base.u16::<0x78>())
    }

    /// Returns the group ID of the owner.
    #[inline]
    pub fn gid(&self) -> u32 {
        join16(self.base.u16::<0x18>(), self.base.u16::<0x7A>())
    }

    /// Returns the number of links; 1 for a directory that has had more than 65000.
    #[inline]
    pub fn links(&self) -> u32 {
        self.base.u16::<0x1A>().into()
    }

    /// Returns the apparent size in bytes.
    #[inline]
    pub fn size(&self) -> u64 {
        // The upper half of a regular file's size was another field in directories once, and has no
        // meaning for other types.
        let is_large = self.is_regular() || self.fields.has_large_directories;
        let high = if is_large { self.base.u32::<0x6C>() } else { 0 };
        join32(self.base.u32::<0x4>(), high)
    }

    /// Returns the allocated size in units of 512 bytes, as statx(2) does. A regular file with
    /// inline data counts as many as its size takes (`ext4_file_getattr`), although none is
    /// allocated.
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

    /// Returns the time of last access.
    #[inline]
    pub fn atime(&self) -> Timestamp {
        Timestamp::new(self.base.u32::<0x8>(), self.extra::<0x8C>())
    }

    /// Returns the time of last modification of the contents.
    #[inline]
    pub fn mtime(&self) -> Timestamp {
        Timestamp::new(self.base.u32::<0x10>(), self.extra::<0x88>())
    }

    /// Returns the time of last change of the inode.
    #[inline]
    pub fn ctime(&self) -> Timestamp {
        Timestamp::new(self.base.u32::<0xC>(), self.extra::<0x84>())
    }

    /// Returns the time of birth, if the inode is large enough to hold it.
    #[inline]
    pub fn btime(&self) -> Option<Timestamp> {
        let seconds = self.extra::<0x90>()?;
        Some(Timestamp::new(seconds, self.extra::<0x94>()))
    }

    /// Returns the flags.
    #[inline]
    pub fn flags(&self) -> InodeFlags {
        InodeFlags(self.base.u32::<0x20>())
    }

    /// Returns the generation, which a file handle holds too (`i_generation`).
    #[inline]
    pub fn generation(&self) -> u32 {
        self.base.u32::<0x64>()
    }

    /// Returns the major and minor number of a device file; 0 and 0 for other types.
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

    /// Returns the project ID if the file system has the feature; 0 for an inode without space for
    /// it.
    #[inline]
    pub fn project(&self) -> Option<u32> {
        let has_projects = self.fields.has_projects;
        has_projects.then(|| self.extra::<0x9C>().unwrap_or(0))
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
            // An extra size of 0 stands for the known fields, as in the kernel.
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
