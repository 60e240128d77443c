//! The parts of a path for `-printf`. Several slashes may stand together and at the end.

/// Returns the position of the last component. None if the path is empty or only slashes.
pub(super) fn base_start(path: &[u8]) -> Option<usize> {
    let last = path.iter().rposition(|byte| *byte != b'/')?;
    Some(memchr::memrchr(b'/', &path[..last]).map_or(0, |slash| slash + 1))
}

/// Returns `%f`: the last component, with one of the slashes after it.
pub(crate) fn base(path: &[u8]) -> &[u8] {
    let Some(start) = base_start(path) else {
        return &path[..path.len().min(1)];
    };
    let name = &path[start..];
    let end = memchr::memchr(b'/', name).map_or(name.len(), |slash| slash + 1);
    &name[..end]
}

/// Returns `%h`: the path before the slash before the last component, or `.` without such a slash.
pub(super) fn head(path: &[u8]) -> &[u8] {
    match base_start(path) {
        // GNU find writes the slashes before names of one letter.
        Some(0) if path.get(1) == Some(&b'/') => &path[..path.len() - 1],
        Some(0) => b".",
        None => &path[..path.len().saturating_sub(1)],
        Some(start) => &path[..start - 1],
    }
}

/// Returns `%P`: the path without the starting point, which is its first `root` bytes, and without
/// the slash after it.
pub(super) fn below(path: &[u8], root: usize) -> &[u8] {
    let rest = path.get(root..).unwrap_or_default();
    rest.strip_prefix(b"/").unwrap_or(rest)
}

#[cfg(test)]
mod tests;
