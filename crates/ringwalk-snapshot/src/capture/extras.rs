//! What a walk does not return: targets of symbolic links, and extended attributes.

use crate::entry::{FailedOperation, Failure};
use crate::schema::MOST_FILE_ATTRIBUTE_BYTES;
use ringwalk::{Batch, Errno};
use rustix::fs::{CWD, lgetxattr, llistxattr, readlinkat};
use std::ffi::CStr;
use std::os::fd::AsRawFd;

/// Returns the target of the symbolic link with this name.
pub(super) fn target<S>(batch: &Batch<'_, S>, name: &CStr) -> Result<Vec<u8>, Failure> {
    let failure = |errno| Failure {
        operation: FailedOperation::Readlink,
        errno,
    };
    let folder = batch.fd().map_err(|error| failure(error.errno()))?;
    let target = readlinkat(folder.unwrap_or(CWD), name, Vec::new());
    target.map(std::ffi::CString::into_bytes).map_err(failure)
}

/// Names and values of extended attributes.
pub(super) type Xattrs = Vec<(Vec<u8>, Vec<u8>)>;

/// Returns the extended attributes of the file with this name, sorted by name. A link is not
/// followed. A file system without them has none.
pub(super) fn xattrs<S>(batch: &Batch<'_, S>, name: &CStr) -> Result<Xattrs, Failure> {
    let failure = |errno| Failure {
        operation: FailedOperation::Xattr,
        errno,
    };
    let folder = batch.fd().map_err(|error| failure(error.errno()))?;
    let mut path = Vec::new();
    if let Some(folder) = folder {
        // No call takes a directory and a name before Linux 6.13.
        path.extend(format!("/proc/self/fd/{}/", folder.as_raw_fd()).into_bytes());
    }
    path.extend(name.to_bytes());
    read_xattrs(&path).map_err(failure)
}

fn read_xattrs(path: &[u8]) -> Result<Xattrs, Errno> {
    let names = match grow(|buffer| llistxattr(path, buffer)) {
        Err(Errno::NOTSUP) => return Ok(Vec::new()),
        names => names?,
    };
    let (mut all, mut bytes) = (Vec::new(), 0);
    for name in names
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
    {
        match grow(|buffer| lgetxattr(path, name, buffer)) {
            Ok(value) => {
                bytes += name.len() + value.len();
                if bytes > MOST_FILE_ATTRIBUTE_BYTES {
                    return Err(Errno::TOOBIG);
                }
                all.push((name.to_vec(), value));
            }
            // It was removed meanwhile.
            Err(Errno::NODATA) => {}
            Err(errno) => return Err(errno),
        }
    }
    all.sort();
    Ok(all)
}

/// The most bytes of a value, and of all names together (xattr(7)).
const MOST: usize = 64 << 10;

/// Calls with a small buffer first, then with one that is large enough for any answer.
fn grow(call: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut small = [0; 512];
    match call(&mut small) {
        Ok(length) => Ok(small[..length].to_vec()),
        Err(Errno::RANGE) => {
            let mut large = vec![0; MOST];
            let length = call(&mut large)?;
            large.truncate(length);
            Ok(large)
        }
        Err(errno) => Err(errno),
    }
}
