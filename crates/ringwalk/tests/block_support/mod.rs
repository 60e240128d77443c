//! Files to read blocks of, and their contents in memory.
#![allow(dead_code, reason = "each test file uses a part")]

use ringwalk::block::{BlockReader, ReaderOptions, Request, Transport};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::ops::ControlFlow::Continue;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use tempfile::NamedTempFile;

/// Not a multiple of a block, nor of a sector.
pub(crate) const SIZE: u32 = 1_000_003;

/// The result of a request.
pub(crate) type Found = Result<Vec<u8>, io::ErrorKind>;

/// Returns bytes that differ at all places.
pub(crate) fn content(len: u32) -> Vec<u8> {
    let mut state = 1_u64;
    (0..len)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state.to_be_bytes()[0]
        })
        .collect()
}

/// Writes a file with [`content`] to the disk.
pub(crate) fn written() -> (NamedTempFile, Vec<u8>) {
    let mut file = NamedTempFile::new().unwrap();
    let bytes = content(SIZE);
    file.write_all(&bytes).unwrap();
    file.as_file().sync_all().unwrap();
    (file, bytes)
}

/// Opens a file past the page cache. Returns `None` where the file system does not support that.
pub(crate) fn open_direct(path: &Path) -> Option<Arc<File>> {
    const O_DIRECT: i32 = rustix::fs::OFlags::DIRECT.bits().cast_signed();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(O_DIRECT)
        .open(path);
    file.ok().map(Arc::new)
}

pub(crate) fn request(offset: u64, len: u32, tag: u64) -> Request {
    Request { offset, len, tag }
}

/// Returns the result that a request should have.
pub(crate) fn expected(bytes: &[u8], request: Request, longest: u32) -> Found {
    if request.len > longest {
        return Err(io::ErrorKind::InvalidInput);
    }
    let from = usize::try_from(request.offset).unwrap();
    if request.len == 0 {
        return Ok(Vec::new());
    }
    bytes
        .get(from..from + request.len as usize)
        .map(<[u8]>::to_vec)
        .ok_or(io::ErrorKind::UnexpectedEof)
}

/// Adds the result of a request, which must be its first.
pub(crate) fn note(found: &mut BTreeMap<u64, Found>, request: Request, bytes: io::Result<&[u8]>) {
    let bytes = bytes.map(<[u8]>::to_vec).map_err(|error| error.kind());
    assert!(
        found.insert(request.tag, bytes).is_none(),
        "{request:?} twice"
    );
}

pub(crate) fn all(reader: &mut BlockReader, requests: &[Request]) -> BTreeMap<u64, Found> {
    let mut found = BTreeMap::new();
    let mut asked = requests.to_vec();
    let flow = reader.read_all(&mut asked, |request, bytes| {
        note(&mut found, request, bytes);
        Continue(())
    });
    assert!(flow.is_continue() && asked.is_empty());
    found
}

pub(crate) fn stream(reader: &mut BlockReader, requests: &[Request]) -> BTreeMap<u64, Found> {
    let mut found = BTreeMap::new();
    let flow = reader.read_stream(requests.iter().copied(), |request, bytes| {
        note(&mut found, request, bytes);
        Continue(())
    });
    assert!(flow.is_continue());
    found
}

/// Returns true if this process may make rings.
pub(crate) fn rings() -> bool {
    let found = ringwalk_sys::IoUring::probe();
    if let Err(errno) = &found {
        println!("skipped: no io_uring: {errno}");
    }
    found.is_ok()
}

/// Returns options for both ways to read.
pub(crate) fn both(options: &ReaderOptions) -> [ReaderOptions; 2] {
    [Transport::Auto, Transport::Threads].map(|transport| ReaderOptions {
        transport,
        ..options.clone()
    })
}
