//! A kernel for tests. It does the work of the module by system calls, and completes requests in
//! flight in any order. Tests can make it refuse requests, interrupt them, end them early, return
//! few entries at a time, and lose its ring.

use super::transport::{DirectoryTransport, Failed};
use crate::walk::descriptors::{At, open_directory};
use ringwalk_sys::rustix::fs::AtFlags;
use ringwalk_sys::sync::lock;
use ringwalk_sys::{
    Completion, DirectoryFd, Dirents, Filled, PlusEntries, PlusLayout, RawFileType, Records, Statx,
    TreeBounds, What, getdents64, statx,
};
use rustix::fs::{SeekFrom, seek, tell};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How the emulated kernel behaves.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a way to behave of its own"
)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Behaviour {
    /// Calls count as waiting from the beginning, so that requests are in flight.
    pub(crate) in_flight: bool,
    /// Returns no mount ids.
    pub(crate) no_mount_ids: bool,
    /// Returns no times of birth.
    pub(crate) no_birth_times: bool,
    /// Refuses every n-th read with this error.
    pub(crate) refuses: Option<(u64, Errno)>,
    /// Interrupts every n-th request of any kind.
    pub(crate) interrupted: Option<u64>,
    /// The most entries that one read returns.
    pub(crate) entries: Option<usize>,
    /// Reports the end of a directory only by a read that returns nothing.
    pub(crate) end_untold: bool,
    /// Performs reads in flight when they are started, and reports them later. A ring that is lost
    /// then loses the entries that were read.
    pub(crate) at_once: bool,
    /// Ends every read early, as a signal does while the names are looked up: the read returns one
    /// entry fewer and sets the position back, unless another read has moved the position. Reads in
    /// flight take their names when they are started, and those that find none complete first.
    /// A call that has taken names waits until another call has taken the next, but no longer than
    /// this time.
    pub(crate) cuts: Option<Duration>,
    /// Loses the ring after so many completions.
    pub(crate) ring_lost_after: Option<u64>,
    /// The most directories that can be open at a time.
    pub(crate) descriptors: Option<usize>,
    /// Refuses the metadata of every entry with this error.
    pub(crate) entry_error: Option<Errno>,
    /// Reads whole trees, at most so many bytes at a time.
    pub(crate) trees: Option<usize>,
}

impl Behaviour {
    /// Returns the mask of the metadata that this kernel has.
    pub(crate) fn available(&self) -> u32 {
        let without = |refused: bool, bit: u32| if refused { !bit } else { u32::MAX };
        0x1fff & without(self.no_mount_ids, 0x1000) & without(self.no_birth_times, 0x800)
    }
}

enum EmulatedRequest {
    Open {
        at: At,
        name: std::ffi::CString,
        follow: bool,
    },
    Read {
        fd: Arc<DirectoryFd>,
        buffer: Vec<u8>,
        from: usize,
        what: What,
        /// The result, if the read was performed at once.
        done: Option<NamesTaken>,
    },
}

/// What a read has returned, before it may be ended early.
#[derive(Clone, Copy)]
struct NamesTaken {
    result: Result<Filled, Errno>,
    /// The position behind the names, if this kernel ends such reads early.
    position: Option<u64>,
}

pub(crate) struct Emulated {
    behaviour: Behaviour,
    requests: u64,
    reads: u64,
    completions: u64,
    in_flight: Vec<(u32, EmulatedRequest)>,
    random: u64,
}

impl Emulated {
    pub(crate) fn new(behaviour: Behaviour) -> Self {
        Self {
            behaviour,
            requests: 0,
            reads: 0,
            completions: 0,
            in_flight: Vec::new(),
            random: 0x9e37_79b9_7f4a_7c15,
        }
    }

    fn is_interrupted(&mut self) -> bool {
        self.requests += 1;
        let interrupted = self.behaviour.interrupted;
        interrupted.is_some_and(|each| self.requests.is_multiple_of(each))
    }

    /// Counts a read. Fails if it is one to refuse.
    fn begin_read(&mut self) -> Result<(), Errno> {
        self.reads += 1;
        match self.behaviour.refuses {
            Some((each, errno)) if self.reads.is_multiple_of(each) => Err(errno),
            _ => Ok(()),
        }
    }

    fn read_into(
        &mut self,
        fd: &DirectoryFd,
        what: &What,
        room: &mut [u8],
    ) -> Result<Filled, Errno> {
        self.begin_read()?;
        let filled = match what {
            What::Names => {
                let bytes = getdents64(fd, room)?;
                Filled {
                    bytes,
                    end: bytes == 0,
                }
            }
            What::Plus(layout) => self.plus(fd, layout, room)?,
        };
        Ok(Filled {
            end: filled.end && (filled.bytes == 0 || !self.behaviour.end_untold),
            ..filled
        })
    }

    /// Writes as many entries as fit. Never reads more names than there is room for, so the
    /// position of the directory need not be set back.
    fn plus(
        &mut self,
        fd: &DirectoryFd,
        layout: &PlusLayout,
        room: &mut [u8],
    ) -> Result<Filled, Errno> {
        let most = self.behaviour.entries.unwrap_or(usize::MAX);
        let (mut at, mut entries) = (0, 0);
        let mut names = [0; 4096];
        while entries < most {
            let Some(bytes) = some_names(fd, &mut names, layout, room.len() - at)? else {
                if at == 0 {
                    return Err(Errno::INVAL);
                }
                break;
            };
            if bytes == 0 {
                return Ok(Filled {
                    bytes: at,
                    end: true,
                });
            }
            for dirent in Dirents::new(&names[..bytes]) {
                let dirent = dirent.map_err(|_| Errno::IO)?;
                let stat = self.stat(fd, dirent.name(), layout);
                at += record(&mut room[at..], &dirent, stat.as_ref(), layout);
                entries += 1;
            }
        }
        Ok(Filled {
            bytes: at,
            end: false,
        })
    }

    fn stat(
        &self,
        fd: &DirectoryFd,
        name: &CStr,
        layout: &PlusLayout,
    ) -> Option<Result<Statx, Errno>> {
        if name == c".." {
            return None;
        }
        if let Some(errno) = self.behaviour.entry_error {
            return Some(Err(errno));
        }
        let mut stat = Statx::default();
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        Some(statx(fd, name, flags, layout.mask(), &mut stat).map(|()| stat))
    }

    /// Writes a group with the next entries of `fd`. Returns its length, and whether the directory
    /// has ended.
    fn group(
        &mut self,
        fd: &DirectoryFd,
        layout: &PlusLayout,
        parent: usize,
        room: &mut [u8],
    ) -> Result<Filled, Errno> {
        let Some((header, records)) = room.split_at_mut_checked(GROUP) else {
            return Err(Errno::INVAL);
        };
        let mut filled = 0;
        let end = loop {
            match self.plus(fd, layout, &mut records[filled..]) {
                Ok(Filled { bytes, end }) => {
                    filled += bytes;
                    if end {
                        break true;
                    }
                }
                Err(Errno::INVAL) if filled > 0 => break false,
                Err(errno) => return Err(errno),
            }
        };
        let entries = PlusEntries::new(&records[..filled], layout).count();
        write_group(header, GROUP + filled, parent, entries, 0, end);
        Ok(Filled {
            bytes: GROUP + filled,
            end,
        })
    }

    /// Reads a directory and those below it, the last found first.
    fn tree(
        &mut self,
        fd: &Arc<DirectoryFd>,
        layout: &PlusLayout,
        depth: u32,
        buffer: &mut [u8],
    ) -> Result<Filled, Errno> {
        let mut below = Vec::new();
        let first = self.group(fd, layout, 0, buffer)?;
        let mut filled = first.bytes;
        subdirectories(buffer, 0..filled, layout, (fd, 1), &mut below);
        while let Some((parent, above, name, level)) = below.pop() {
            if level > depth || buffer.len() - filled < GROUP {
                continue;
            }
            let room = &mut buffer[filled..];
            let dir = match open_directory(At::Dir(above), &*name, false) {
                Ok(dir) => dir,
                Err(errno) => {
                    let header = &mut room[..GROUP];
                    write_group(header, GROUP, parent, 0, -errno.raw_os_error(), false);
                    filled += GROUP;
                    continue;
                }
            };
            match self.group(&dir, layout, parent, room) {
                Ok(Filled { bytes, end: true }) => {
                    let group = filled..filled + bytes;
                    filled += bytes;
                    subdirectories(buffer, group, layout, (&dir, level + 1), &mut below);
                }
                // A directory is given whole or not at all.
                Ok(_) | Err(_) => break,
            }
        }
        TREES.fetch_add(1, Ordering::Relaxed);
        Ok(Filled {
            bytes: filled,
            ..first
        })
    }

    /// Reads as [`read_into`](Self::read_into) does, and notes the position.
    fn take_names(&mut self, fd: &DirectoryFd, what: &What, room: &mut [u8]) -> NamesTaken {
        let cuts = self.behaviour.cuts.is_some() && matches!(what, What::Plus(_));
        let guard = cuts.then(|| lock(&POSITION));
        let result = self.read_into(fd, what, room);
        let position = guard.map(|_| tell(fd).expect("a directory"));
        NamesTaken { result, position }
    }

    /// Waits until another call waits here, but no longer than the time of this kernel.
    fn wait_for_another(&self) {
        let Some(time) = self.behaviour.cuts.filter(|time| !time.is_zero()) else {
            return;
        };
        let begin = Instant::now();
        let number = WAITING_CALLS.fetch_add(1, Ordering::Relaxed) + 1;
        while WAITING_CALLS.load(Ordering::Relaxed) == number && begin.elapsed() < time {
            std::thread::sleep(Duration::from_micros(50));
        }
    }

    /// Ends a read into `room` early, if this kernel does.
    fn cut(&self, fd: &DirectoryFd, room: &[u8], taken: NamesTaken) -> Result<Filled, Errno> {
        let read = taken.result?;
        let Some(position) = taken.position else {
            return Ok(read);
        };
        let _guard = lock(&POSITION);
        let Some((kept, cookie)) = before_last(&room[..read.bytes]) else {
            return Ok(read);
        };
        if tell(fd)? != position {
            return Ok(read);
        }
        seek(fd, SeekFrom::Start(cookie))?;
        let is_full = room.len() - kept < room.len() / 8;
        if is_full && self.behaviour.cuts != Some(Duration::ZERO) {
            FULL_CUTS.fetch_add(1, Ordering::Relaxed);
        }
        Ok(Filled {
            bytes: kept,
            end: false,
        })
    }

    /// Returns true if no further directory can be opened.
    fn is_out_of_descriptors(&self) -> bool {
        let is_read =
            |request: &&(u32, EmulatedRequest)| matches!(request.1, EmulatedRequest::Read { .. });
        let open = self.in_flight.iter().filter(is_read).count();
        self.behaviour.descriptors.is_some_and(|most| open >= most)
    }
}

/// Held while a directory is read, and while its position is set back. Each worker has an emulated
/// kernel of its own.
static POSITION: Mutex<()> = Mutex::new(());

/// How many calls have waited for another one.
static WAITING_CALLS: AtomicU64 = AtomicU64::new(0);

/// How many reads were ended early with a buffer so full that nothing more is read into it. Counted
/// where calls wait for each other.
pub(super) static FULL_CUTS: AtomicU64 = AtomicU64::new(0);

/// Returns the place of the last record, and the cookie of the record before it. `None` if there
/// are not two.
fn before_last(records: &[u8]) -> Option<(usize, u64)> {
    let word = |at: usize| u64::from_ne_bytes(*records[at..].first_chunk().expect("a record"));
    let length = |at: usize| u32::from_ne_bytes(*records[at + 16..].first_chunk().expect("one"));
    let (mut at, mut found) = (0, None);
    while at < records.len() {
        let next = at + length(at) as usize;
        if next < records.len() {
            found = Some((next, word(at + 8)));
        }
        at = next;
    }
    found
}

/// How many trees emulated kernels have read.
pub(super) static TREES: AtomicU64 = AtomicU64::new(0);

/// Bytes of the header of a group.
const GROUP: usize = 32;

/// A subdirectory to read: the place of its record, the directory it is in, its name, its level.
type Below = (usize, Arc<DirectoryFd>, CString, u32);

/// Collects the subdirectories that a group names.
fn subdirectories(
    answer: &[u8],
    group: Range<usize>,
    layout: &PlusLayout,
    (dir, level): (&Arc<DirectoryFd>, u32),
    below: &mut Vec<Below>,
) {
    let begin = group.start + GROUP;
    let mut at = begin;
    for entry in PlusEntries::new(&answer[begin..group.end], layout) {
        let entry = entry.expect("its own records");
        if entry.file_type() == RawFileType::Directory && !entry.is_dot() {
            below.push((at, Arc::clone(dir), entry.name().to_owned(), level));
        }
        let length = answer[at + 16..].first_chunk().expect("a record");
        at += u32::from_ne_bytes(*length) as usize;
    }
}

fn write_group(
    header: &mut [u8],
    length: usize,
    parent: usize,
    entries: usize,
    error: i32,
    end: bool,
) {
    let number = |number: usize| u32::try_from(number).unwrap().to_ne_bytes();
    header.fill(0);
    header[..4].copy_from_slice(&number(length));
    header[4..8].copy_from_slice(&number(parent));
    header[12..16].copy_from_slice(&number(entries));
    header[16..20].copy_from_slice(&error.to_ne_bytes());
    header[20..24].copy_from_slice(&number(usize::from(end)));
}

/// Reads a few names, whose records all fit into `room`. Returns `None` if `room` is too small for
/// the next name.
fn some_names(
    fd: &DirectoryFd,
    names: &mut [u8],
    layout: &PlusLayout,
    room: usize,
) -> Result<Option<usize>, Errno> {
    // A record of getdents64 takes at least 24 bytes, and up to 26 bytes more than the name.
    let more = layout.record_size(0);
    let few = (room * 24 / (24 + more)).min(names.len() - 8) & !7;
    for size in (few.max(24)..names.len()).step_by(8) {
        // From the second size on there is one record of exactly this size, unless another reader
        // has taken that record meanwhile.
        if size > few && size + size / 24 * more > room {
            return Ok(None);
        }
        match getdents64(fd, &mut names[..size]) {
            Err(Errno::INVAL) => {}
            bytes => return bytes.map(Some),
        }
    }
    Ok(None)
}

/// Writes a record in the layout of the module's header, and returns its length.
fn record(
    room: &mut [u8],
    dirent: &ringwalk_sys::Dirent<'_>,
    stat: Option<&Result<Statx, Errno>>,
    layout: &PlusLayout,
) -> usize {
    let mut bytes = vec![0; 32];
    let mut error = 0;
    let mut has_stat = 0;
    match stat {
        None => {}
        Some(Err(errno)) => error = -errno.raw_os_error(),
        Some(Ok(stat)) => {
            has_stat = 1;
            for word in [stat.stx_mask, stat.stx_blksize] {
                bytes.extend(word.to_ne_bytes());
            }
            bytes.extend(stat.stx_attributes.to_ne_bytes());
            bytes.extend(stat.stx_attributes_mask.to_ne_bytes());
            for word in [stat.stx_nlink, stat.stx_uid, stat.stx_gid] {
                bytes.extend(word.to_ne_bytes());
            }
            bytes.extend(stat.stx_mode.to_ne_bytes());
            bytes.extend([0; 2]);
            for word in [stat.stx_ino, stat.stx_size, stat.stx_blocks] {
                bytes.extend(word.to_ne_bytes());
            }
            for word in [
                stat.stx_dev_major,
                stat.stx_dev_minor,
                stat.stx_rdev_major,
                stat.stx_rdev_minor,
            ] {
                bytes.extend(word.to_ne_bytes());
            }
            let times = [
                (0x20, stat.stx_atime),
                (0x40, stat.stx_mtime),
                (0x80, stat.stx_ctime),
                (0x800, stat.stx_btime),
            ];
            for (_, time) in times.iter().filter(|(bit, _)| layout.mask() & bit != 0) {
                bytes.extend(time.tv_sec.to_ne_bytes());
                bytes.extend(time.tv_nsec.to_ne_bytes());
                bytes.extend([0; 4]);
            }
            if layout.mask() & 0x1000 != 0 {
                bytes.extend(stat.stx_mnt_id.to_ne_bytes());
            }
        }
    }
    let name = dirent.name();
    bytes.extend(name.to_bytes_with_nul());
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let length = u32::try_from(bytes.len()).unwrap();
    bytes[..8].copy_from_slice(&dirent.ino().to_ne_bytes());
    bytes[8..16].copy_from_slice(&dirent.cookie().to_ne_bytes());
    bytes[16..20].copy_from_slice(&length.to_ne_bytes());
    bytes[24..28].copy_from_slice(&error.to_ne_bytes());
    let name = u16::try_from(name.to_bytes().len()).unwrap();
    bytes[28..30].copy_from_slice(&name.to_ne_bytes());
    bytes[30] = dirent.file_type() as u8;
    bytes[31] = has_stat;
    room[..bytes.len()].copy_from_slice(&bytes);
    bytes.len()
}

impl DirectoryTransport for Emulated {
    fn set_up(&mut self, _depth: u32) -> bool {
        self.behaviour.ring_lost_after != Some(0)
    }

    fn read(
        &mut self,
        fd: &Arc<DirectoryFd>,
        what: &What,
        records: &mut Records,
    ) -> Result<Filled, Failed> {
        if self.is_interrupted() {
            return Err(Failed::Refused(Errno::INTR));
        }
        let mut end = false;
        let bytes = records.fill_with(|room| {
            let taken = self.take_names(fd, what, room);
            self.wait_for_another();
            let filled = self.cut(fd, room, taken)?;
            end = filled.end;
            Ok(filled.bytes)
        });
        let bytes = bytes.map_err(Failed::Refused)?;
        Ok(Filled { bytes, end })
    }

    fn reads_trees(&self) -> bool {
        self.behaviour.trees.is_some()
    }

    fn read_tree(
        &mut self,
        fd: &Arc<DirectoryFd>,
        layout: &PlusLayout,
        bounds: TreeBounds,
        buffer: &mut [u8],
    ) -> Result<Filled, Errno> {
        self.begin_read()?;
        let most = self.behaviour.trees.unwrap_or(0).min(buffer.len());
        self.tree(fd, layout, bounds.depth, &mut buffer[..most])
    }

    fn start_open(&mut self, slot: u32, at: &At, name: &CStr, follow: bool) {
        let request = EmulatedRequest::Open {
            at: at.clone(),
            name: name.to_owned(),
            follow,
        };
        self.in_flight.push((slot, request));
    }

    fn start_read(
        &mut self,
        slot: u32,
        fd: Arc<DirectoryFd>,
        mut buffer: Vec<u8>,
        from: usize,
        what: &What,
    ) {
        let at_once = self.behaviour.at_once || self.behaviour.cuts.is_some();
        let done = at_once.then(|| self.take_names(&fd, what, &mut buffer[from..]));
        let request = EmulatedRequest::Read {
            fd,
            buffer,
            from,
            what: *what,
            done,
        };
        self.in_flight.push((slot, request));
    }

    fn close(&mut self, fd: DirectoryFd) {
        drop(fd);
    }

    fn flush(&mut self) {}

    #[cfg(feature = "async")]
    fn wait_or(&mut self, _: &Arc<std::os::fd::OwnedFd>) -> Result<Option<Completion>, Errno> {
        self.wait().map(Some)
    }

    fn wait(&mut self) -> Result<Completion, Errno> {
        assert!(!self.in_flight.is_empty(), "nothing to wait for");
        self.completions += 1;
        let lost = self.behaviour.ring_lost_after;
        if lost.is_some_and(|after| self.completions > after) {
            self.in_flight.clear();
            self.behaviour.ring_lost_after = Some(0);
            return Err(Errno::PERM);
        }
        // Xorshift: Marsaglia, 2003.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let any = usize::try_from(self.random % 64).unwrap_or(0) % self.in_flight.len();
        let is_empty = |(_, request): &(u32, EmulatedRequest)| match request {
            EmulatedRequest::Read { done, .. } => {
                let result = done.as_ref().map(|done| done.result);
                matches!(result, Some(Ok(Filled { bytes: 0, .. })))
            }
            EmulatedRequest::Open { .. } => false,
        };
        let first = self.in_flight.iter().position(is_empty);
        let cuts = self.behaviour.cuts.is_some();
        let index = first.filter(|_| cuts).unwrap_or(any);
        let no_descriptors = self.is_out_of_descriptors();
        let (slot, request) = self.in_flight.swap_remove(index);
        let interrupted = self.is_interrupted();
        Ok(match request {
            EmulatedRequest::Open { at, name, follow } => Completion::Opened {
                slot,
                result: if interrupted {
                    Err(Errno::INTR)
                } else if no_descriptors {
                    Err(Errno::MFILE)
                } else {
                    open_directory(&at, &*name, follow)
                        .map(|fd| Arc::into_inner(fd).expect("just opened"))
                },
            },
            EmulatedRequest::Read {
                fd,
                mut buffer,
                from,
                what,
                done,
            } => {
                let result = match done {
                    Some(taken) => self.cut(&fd, &buffer[from..], taken),
                    None if interrupted => Err(Errno::INTR),
                    None => self.read_into(&fd, &what, &mut buffer[from..]),
                };
                Completion::Read {
                    slot,
                    fd,
                    buffer,
                    from,
                    result,
                }
            }
        })
    }
}
