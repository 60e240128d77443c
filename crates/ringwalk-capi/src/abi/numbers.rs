//! Numbers of the header.

/// Kind of a batch: entries of one directory, or the roots.
pub const RINGWALK_ENTRIES: u32 = 1;
/// Kind of a batch: something could not be read; there are no entries, and the member error says what.
pub const RINGWALK_ERROR: u32 = 2;
/// Kind of a batch, in callbacks only and with RINGWALK_FLAG_LEAVES: everything below the directory is done.
pub const RINGWALK_LEAVE: u32 = 3;

/// Answer of a callback: go on.
pub const RINGWALK_CONTINUE: i32 = 0;
/// Answer of a callback: be done with this directory; read no more of it and go into none of its subdirectories.
pub const RINGWALK_PRUNE: i32 = 1;
/// Answer of a callback: end the walk. Other workers may still make one last call each.
pub const RINGWALK_STOP: i32 = 2;

/// Type of an entry (the values of DT_ in dirent.h): its file system did not say, and nobody had to know.
pub const RINGWALK_TYPE_UNKNOWN: u8 = 0;
/// Type of an entry: named pipe.
pub const RINGWALK_TYPE_FIFO: u8 = 1;
/// Type of an entry: character device.
pub const RINGWALK_TYPE_CHARACTER_DEVICE: u8 = 2;
/// Type of an entry: directory.
pub const RINGWALK_TYPE_DIRECTORY: u8 = 4;
/// Type of an entry: block device.
pub const RINGWALK_TYPE_BLOCK_DEVICE: u8 = 6;
/// Type of an entry: regular file.
pub const RINGWALK_TYPE_REGULAR: u8 = 8;
/// Type of an entry: symbolic link.
pub const RINGWALK_TYPE_SYMLINK: u8 = 10;
/// Type of an entry: Unix-domain socket.
pub const RINGWALK_TYPE_SOCKET: u8 = 12;

/// Flag of an entry: a symbolic link that was followed; type and metadata are those of its target.
pub const RINGWALK_FOLLOWED: u8 = 1;

/// Field of metadata (STATX_TYPE of statx(2)): file type.
pub const RINGWALK_FIELD_TYPE: u32 = 0x1;
/// Field of metadata (STATX_MODE of statx(2)): permission bits.
pub const RINGWALK_FIELD_MODE: u32 = 0x2;
/// Field of metadata (STATX_NLINK of statx(2)): number of hard links.
pub const RINGWALK_FIELD_NLINK: u32 = 0x4;
/// Field of metadata (STATX_UID of statx(2)): owner.
pub const RINGWALK_FIELD_UID: u32 = 0x8;
/// Field of metadata (STATX_GID of statx(2)): group.
pub const RINGWALK_FIELD_GID: u32 = 0x10;
/// Field of metadata (STATX_ATIME of statx(2)): time of last access.
pub const RINGWALK_FIELD_ATIME: u32 = 0x20;
/// Field of metadata (STATX_MTIME of statx(2)): time of last change of the contents.
pub const RINGWALK_FIELD_MTIME: u32 = 0x40;
/// Field of metadata (STATX_CTIME of statx(2)): time of last change of the inode.
pub const RINGWALK_FIELD_CTIME: u32 = 0x80;
/// Field of metadata (STATX_INO of statx(2)): inode number.
pub const RINGWALK_FIELD_INO: u32 = 0x100;
/// Field of metadata (STATX_SIZE of statx(2)): apparent size.
pub const RINGWALK_FIELD_SIZE: u32 = 0x200;
/// Field of metadata (STATX_BLOCKS of statx(2)): allocated blocks.
pub const RINGWALK_FIELD_BLOCKS: u32 = 0x400;
/// Field of metadata (STATX_BTIME of statx(2)): time of birth.
pub const RINGWALK_FIELD_BTIME: u32 = 0x800;
/// Field of metadata (STATX_MNT_ID of statx(2)): mount (Linux 5.8).
pub const RINGWALK_FIELD_MNT_ID: u32 = 0x1000;

/// Symbolic links that are followed: none (the default).
pub const RINGWALK_FOLLOW_NEVER: u32 = 0;
/// Symbolic links that are followed: those given as roots.
pub const RINGWALK_FOLLOW_ROOTS: u32 = 1;
/// Symbolic links that are followed: all. A directory met again through a link below itself is told as RINGWALK_LOOP and not entered.
pub const RINGWALK_FOLLOW_ALWAYS: u32 = 2;

/// Where a walk goes: everywhere below its roots (the default).
pub const RINGWALK_STAY_ANYWHERE: u32 = 0;
/// Where a walk goes: into directories on the device of their root.
pub const RINGWALK_STAY_DEVICE: u32 = 1;
/// Where a walk goes: into directories on the mount of their root, so not into bind mounts either (Linux 5.8; else as the device).
pub const RINGWALK_STAY_MOUNT: u32 = 2;

/// Order of the entries of one directory: as they come (the default).
pub const RINGWALK_ORDER_ANY: u32 = 0;
/// Order of the entries of one directory: as getdents64(2) lists them, whatever source they are read from.
pub const RINGWALK_ORDER_LISTED: u32 = 1;
/// Order of the entries of one directory: by the bytes of their names. A directory is then one batch.
pub const RINGWALK_ORDER_NAME: u32 = 2;

/// Blocks read ahead in the order of the disk: where they are found not to be in memory (the default).
pub const RINGWALK_PREFETCH_AUTO: u32 = 0;
/// Blocks read ahead in the order of the disk: without looking.
pub const RINGWALK_PREFETCH_ALWAYS: u32 = 1;
/// Blocks read ahead in the order of the disk: never.
pub const RINGWALK_PREFETCH_NEVER: u32 = 2;

/// Flag of a walk: have the file systems of the roots write back what is dirty first (syncfs(2)).
pub const RINGWALK_FLAG_SYNC: u32 = 1;
/// Flag of a walk: it may raise the process's soft limit on open files (RLIMIT_NOFILE) to the hard one when it needs more.
pub const RINGWALK_FLAG_RAISE_LIMITS: u32 = 2;
/// Flag of a walk: go below each directory before the entries behind it. With one worker, entries come as in a recursive walk.
pub const RINGWALK_FLAG_PREORDER: u32 = 4;
/// Flag of a walk that is run with a callback: call it with RINGWALK_LEAVE when all below a directory is done. A directory that could not
/// be opened is left as well. After RINGWALK_STOP, directories are not left.
pub const RINGWALK_FLAG_LEAVES: u32 = 8;

/// For max_depth of options: look at the roots only.
pub const RINGWALK_ROOTS_ONLY: i64 = -1;

/// Operation of an error: asking for metadata.
pub const RINGWALK_STAT: u32 = 1;
/// Operation of an error: opening a directory.
pub const RINGWALK_OPEN: u32 = 2;
/// Operation of an error: reading an open directory. What had been read of it has been delivered.
pub const RINGWALK_READ: u32 = 3;
/// Operation of an error: going, through a link that is followed, into a directory that the walk is inside of (code ELOOP).
pub const RINGWALK_LOOP: u32 = 4;

/// Flag of an error: a race rather than a failure; what was listed had been removed, moved or replaced when it was looked at.
pub const RINGWALK_VANISHED: u32 = 1;
