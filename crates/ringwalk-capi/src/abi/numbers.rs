//! Numbers of the header.
//!
//! Programs are compiled with these numbers, so none ever changes. Where the engine's numbers are
//! passed on as they are, assertions at the end compare each.

use ringwalk::{Fields, Operation};

/// Kind of a batch: entries of one directory, or the roots.
pub const RINGWALK_ENTRIES: u32 = 1;
/// Kind of a batch: a read error. The batch has no entries; its member error describes the error.
pub const RINGWALK_ERROR: u32 = 2;
/// Kind of a batch, in callbacks only and with RINGWALK_FLAG_LEAVES: everything below the directory
/// is done.
pub const RINGWALK_LEAVE: u32 = 3;

/// Answer of a callback: continue.
pub const RINGWALK_CONTINUE: i32 = 0;
/// Answer of a callback: skip the rest of this directory. The walk reads no more of it and goes
/// into none of its subdirectories.
pub const RINGWALK_PRUNE: i32 = 1;
/// Answer of a callback: end the walk. Each of the other workers may still make one last call.
pub const RINGWALK_STOP: i32 = 2;

/// Type of an entry: unknown. The file system does not return types with names, and the walk did
/// not need this one. Types have the values of DT_ in dirent.h.
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

/// Flag of an entry: the walk followed this symbolic link; type and metadata belong to the target.
pub const RINGWALK_FOLLOWED: u8 = 1;

/// Field of metadata: file type. STATX_TYPE of statx(2).
pub const RINGWALK_FIELD_TYPE: u32 = 1 << 0;
/// Field of metadata: permission bits. STATX_MODE of statx(2).
pub const RINGWALK_FIELD_MODE: u32 = 1 << 1;
/// Field of metadata: number of hard links. STATX_NLINK of statx(2).
pub const RINGWALK_FIELD_NLINK: u32 = 1 << 2;
/// Field of metadata: owner. STATX_UID of statx(2).
pub const RINGWALK_FIELD_UID: u32 = 1 << 3;
/// Field of metadata: group. STATX_GID of statx(2).
pub const RINGWALK_FIELD_GID: u32 = 1 << 4;
/// Field of metadata: time of last access. STATX_ATIME of statx(2).
pub const RINGWALK_FIELD_ATIME: u32 = 1 << 5;
/// Field of metadata: time of last change of the contents. STATX_MTIME of statx(2).
pub const RINGWALK_FIELD_MTIME: u32 = 1 << 6;
/// Field of metadata: time of last change of the inode. STATX_CTIME of statx(2).
pub const RINGWALK_FIELD_CTIME: u32 = 1 << 7;
/// Field of metadata: inode number. STATX_INO of statx(2).
pub const RINGWALK_FIELD_INO: u32 = 1 << 8;
/// Field of metadata: apparent size. STATX_SIZE of statx(2).
pub const RINGWALK_FIELD_SIZE: u32 = 1 << 9;
/// Field of metadata: allocated blocks. STATX_BLOCKS of statx(2).
pub const RINGWALK_FIELD_BLOCKS: u32 = 1 << 10;
/// Field of metadata: time of birth. STATX_BTIME of statx(2).
pub const RINGWALK_FIELD_BTIME: u32 = 1 << 11;
/// Field of metadata: mount (Linux 5.8). STATX_MNT_ID of statx(2).
pub const RINGWALK_FIELD_MNT_ID: u32 = 1 << 12;
/// Field of metadata: project that the file counts for in quotas. statx(2) has no such field, so
/// the walk makes one more call for each file unless the source has the id. The id is not known on
/// file systems without project ids; on ext4 and btrfs, of links and special files; before Linux
/// 6.17, of links, special files, and files that the process may not read.
pub const RINGWALK_FIELD_PROJECT_ID: u32 = 1 << 30;

/// Symbolic links that the walk follows: none (the default).
pub const RINGWALK_FOLLOW_NEVER: u32 = 0;
/// Symbolic links that the walk follows: those given as roots.
pub const RINGWALK_FOLLOW_ROOTS: u32 = 1;
/// Symbolic links that the walk follows: all. A directory that a link leads to a second time, below
/// itself, is a RINGWALK_LOOP error and is not entered.
pub const RINGWALK_FOLLOW_ALWAYS: u32 = 2;

/// Bounds of a walk: none; it goes everywhere below its roots (the default).
pub const RINGWALK_STAY_ANYWHERE: u32 = 0;
/// Bounds of a walk: the device of each root.
pub const RINGWALK_STAY_DEVICE: u32 = 1;
/// Bounds of a walk: the mount of each root, so it does not enter bind mounts either. Before Linux
/// 5.8, the same as the device.
pub const RINGWALK_STAY_MOUNT: u32 = 2;

/// Order of the entries of one directory: as the source returns them (the default).
pub const RINGWALK_ORDER_ANY: u32 = 0;
/// Order of the entries of one directory: as getdents64(2) lists them, for every source.
pub const RINGWALK_ORDER_LISTED: u32 = 1;
/// Order of the entries of one directory: by the bytes of their names. A directory is then one
/// batch.
pub const RINGWALK_ORDER_NAME: u32 = 2;

/// Reading blocks ahead in the order of the disk: when the walk finds that they are not in memory
/// (the default).
pub const RINGWALK_PREFETCH_AUTO: u32 = 0;
/// Reading blocks ahead in the order of the disk: always, without a check.
pub const RINGWALK_PREFETCH_ALWAYS: u32 = 1;
/// Reading blocks ahead in the order of the disk: never.
pub const RINGWALK_PREFETCH_NEVER: u32 = 2;

/// Flag of a walk: first write back the changed data of the roots' file systems (syncfs(2)).
pub const RINGWALK_FLAG_SYNC: u32 = 1 << 0;
/// Flag of a walk: it may raise the soft limit on open files of the process (RLIMIT_NOFILE) to the
/// hard limit when it needs more.
pub const RINGWALK_FLAG_RAISE_LIMITS: u32 = 1 << 1;
/// Flag of a walk: go below each directory before the entries behind it. With one worker, entries
/// come as in a recursive walk.
pub const RINGWALK_FLAG_PREORDER: u32 = 1 << 2;
/// Flag of a walk that is run with a callback: call the callback with RINGWALK_LEAVE when all below
/// a directory is done. This includes directories that could not be opened. After RINGWALK_STOP
/// there are no such calls. If walks with a budget share a directory, or what is below it, none of
/// them makes the call for that directory.
pub const RINGWALK_FLAG_LEAVES: u32 = 1 << 3;

/// Value of max_depth in options: visit the roots only.
pub const RINGWALK_ROOTS_ONLY: i64 = -1;

/// Value of position in a leftover: the directory was not opened, and all of it remains.
pub const RINGWALK_UNOPENED: i64 = -1;

/// Operation of an error: getting metadata.
pub const RINGWALK_STAT: u32 = 1;
/// Operation of an error: opening a directory.
pub const RINGWALK_OPEN: u32 = 2;
/// Operation of an error: reading an open directory. Entries that were read before the error have
/// been delivered.
pub const RINGWALK_READ: u32 = 3;
/// Operation of an error: following a link into a directory that the walk is already inside of
/// (code ELOOP).
pub const RINGWALK_LOOP: u32 = 4;

/// Flag of an error: a race. A listed entry was removed, moved or replaced before the walk came to
/// it.
pub const RINGWALK_VANISHED: u32 = 1;

/// Fields pass between C and the engine as they are, so the two sets of numbers must be the same.
const _: () = {
    let mut all = 0;
    macro_rules! same {
        ($($ours:ident = $theirs:ident),* $(,)?) => {
            $(
                assert!($ours == Fields::$theirs.bits());
                all |= $ours;
            )*
        };
    }
    same!(
        RINGWALK_FIELD_TYPE = TYPE,
        RINGWALK_FIELD_MODE = MODE,
        RINGWALK_FIELD_NLINK = NLINK,
        RINGWALK_FIELD_UID = UID,
        RINGWALK_FIELD_GID = GID,
        RINGWALK_FIELD_ATIME = ATIME,
        RINGWALK_FIELD_MTIME = MTIME,
        RINGWALK_FIELD_CTIME = CTIME,
        RINGWALK_FIELD_INO = INO,
        RINGWALK_FIELD_SIZE = SIZE,
        RINGWALK_FIELD_BLOCKS = BLOCKS,
        RINGWALK_FIELD_BTIME = BTIME,
        RINGWALK_FIELD_MNT_ID = MNT_ID,
        RINGWALK_FIELD_PROJECT_ID = PROJECT_ID,
    );
    assert!(
        all == Fields::all().bits(),
        "a field of the engine has no number in C"
    );
};

/// Operations of errors pass from the engine to C as they are.
const _: () = {
    assert!(RINGWALK_STAT == Operation::Stat as u32);
    assert!(RINGWALK_OPEN == Operation::Open as u32);
    assert!(RINGWALK_READ == Operation::Read as u32);
    assert!(RINGWALK_LOOP == Operation::Loop as u32);
    assert!(
        Operation::ALL.len() == 4,
        "an operation of the engine has no number in C"
    );
};
