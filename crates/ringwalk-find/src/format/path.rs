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
mod tests {
    use super::*;

    /// Paths, and what GNU find 4.9 has for %f and %h.
    const SEEN: &[(&str, &str, &str)] = &[
        ("/", "/", ""),
        ("//", "/", "/"),
        ("///", "/", "//"),
        ("a/", "a/", "a"),
        ("a//", "a/", "a/"),
        ("a/////", "a/", "a////"),
        (".", ".", "."),
        ("./", "./", "."),
        (".//", "./", "./"),
        ("..", "..", "."),
        ("t//d", "d", "t/"),
        ("t/d/", "d/", "t"),
        ("t/d///", "d/", "t"),
        ("./t/", "t/", "."),
        (".//t", "t", "./"),
        ("t/./d", "d", "t/."),
        ("t/d/.", ".", "t/d"),
        ("t/d/./", "./", "t/d"),
        ("/srv", "srv", ""),
        ("/srv/", "srv/", ""),
        ("//srv//", "srv/", "/"),
        ("a//b/", "b/", "a/"),
        ("a///b", "b", "a//"),
        ("noexec", "noexec", "."),
    ];

    #[test]
    fn seen() {
        for (path, f, h) in SEEN {
            assert_eq!(base(path.as_bytes()), f.as_bytes(), "%f of {path}");
            assert_eq!(head(path.as_bytes()), h.as_bytes(), "%h of {path}");
        }
        assert_eq!((base(b""), head(b"")), (&b""[..], &b""[..]));
    }

    #[test]
    fn below_the_starting_point() {
        assert_eq!(below(b"t//dang", 3), b"dang");
        assert_eq!(below(b"//bin", 2), b"bin");
        assert_eq!(below(b"t/d/sub", 1), b"d/sub");
        assert_eq!(below(b"t/", 2), b"");
    }
}
