//! Leftovers of walks with a budget, from and for C.

use crate::abi::{RINGWALK_UNOPENED, RingwalkLeftover};
use crate::held::c_string;
use crate::request::Refused;
use ringwalk::{Identity, Leftover, Remaining};
use std::ffi::{CStr, CString};

/// What a walk has left over, in the form that C sees. C has pointers to it until the walk is
/// closed.
#[derive(Debug)]
pub(crate) struct Leftovers {
    /// The paths that the structs point to. The memory of a string does not move with it.
    _paths: Vec<CString>,
    raw: Vec<RingwalkLeftover>,
}

impl From<&[Leftover]> for Leftovers {
    fn from(leftovers: &[Leftover]) -> Self {
        let paths: Vec<_> = leftovers.iter().map(|each| c_string(&each.path)).collect();
        // An empty list has memory, too: a program that resumes it must not pass NULL, which means
        // a walk from the beginning.
        let mut raw = Vec::with_capacity(leftovers.len().max(1));
        raw.extend(
            leftovers
                .iter()
                .zip(&paths)
                .map(|(each, path)| view(each, path)),
        );
        Self { _paths: paths, raw }
    }
}

impl Leftovers {
    pub(crate) fn raw(&self) -> &[RingwalkLeftover] {
        &self.raw
    }
}

fn view(leftover: &Leftover, path: &CStr) -> RingwalkLeftover {
    let identity = leftover.identity.unwrap_or(Identity { dev: 0, ino: 0 });
    RingwalkLeftover {
        root: leftover.root,
        root_device: leftover.root_identity.dev,
        root_inode: leftover.root_identity.ino,
        path: path.as_ptr(),
        device: identity.dev,
        inode: identity.ino,
        position: match leftover.remaining {
            Remaining::Whole => RINGWALK_UNOPENED,
            Remaining::From { position, to: None } => position,
            // Walks make such leftovers only from such leftovers, and C cannot pass them to a walk.
            Remaining::From { to: Some(_), .. } | Remaining::Names(_) => {
                unreachable!("a leftover that C cannot name")
            }
        },
        read: leftover.read,
        depth: u32::try_from(leftover.depth).unwrap_or(u32::MAX),
        reserved: [0; 7],
    }
}

/// Returns a leftover of C for a walk over so many roots. `index` is its place in the list.
///
/// # Errors
///
/// `EINVAL` for a leftover that no walk over these roots can have left.
pub(crate) fn leftover(
    raw: &RingwalkLeftover,
    path: &CStr,
    index: usize,
    roots: usize,
) -> Result<Leftover, Refused> {
    let refuse = |member: &str, value: &dyn std::fmt::Display, expected: &str| {
        Refused::value(&format!("resume[{index}].{member}"), value, expected)
    };
    if raw.root >= roots {
        return Err(refuse("root", &raw.root, "the index of a root"));
    }
    let path = path.to_bytes();
    let Some(depth) = Leftover::depth_of(path) else {
        let shown = format!("\"{}\"", path.escape_ascii());
        let expected = "a path relative to the root, without . and .. and empty names";
        return Err(refuse("path", &shown, expected));
    };
    if raw.depth as usize != depth {
        return Err(refuse(
            "depth",
            &raw.depth,
            "the number of names in the path",
        ));
    }
    if raw.reserved != [0; 7] {
        return Err(refuse("reserved", &"not zero", "0"));
    }
    let remaining = match raw.position {
        RINGWALK_UNOPENED => Remaining::Whole,
        position if position >= 0 => Remaining::From { position, to: None },
        position => {
            let expected = "RINGWALK_UNOPENED, or a position";
            return Err(refuse("position", &position, expected));
        }
    };
    Ok(Leftover {
        root: raw.root,
        root_identity: Identity {
            dev: raw.root_device,
            ino: raw.root_inode,
        },
        path: path.to_vec(),
        depth,
        identity: (raw.inode != 0).then_some(Identity {
            dev: raw.device,
            ino: raw.inode,
        }),
        remaining,
        read: raw.read,
        tag: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    fn of(path: &[u8], depth: usize, remaining: Remaining) -> Leftover {
        Leftover {
            root: 1,
            root_identity: Identity { dev: 5, ino: 6 },
            path: path.to_vec(),
            depth,
            identity: None,
            remaining,
            read: 9,
            tag: 0,
        }
    }

    /// Returns a leftover as it comes back from C.
    fn through_c(
        given: &Leftover,
        change: impl FnOnce(&mut RingwalkLeftover),
    ) -> Result<Leftover, Refused> {
        let list = Leftovers::from(std::slice::from_ref(given));
        let mut raw = list.raw()[0];
        change(&mut raw);
        leftover(&raw, &c_string(&given.path), 0, 2)
    }

    #[test]
    fn leftovers_come_back_as_they_were() {
        let mut seen = of(
            b"a/b",
            2,
            Remaining::From {
                position: 7,
                to: None,
            },
        );
        seen.identity = Some(Identity { dev: 1, ino: 2 });
        for given in [
            seen,
            of(b"", 0, Remaining::Whole),
            of(b"\xff", 1, Remaining::Whole),
        ] {
            assert_eq!(through_c(&given, |_| {}).unwrap(), given);
        }
    }

    #[test]
    fn leftovers_that_no_walk_makes_are_refused() {
        let refused = |path: &[u8], depth, change: fn(&mut RingwalkLeftover)| {
            let refused = through_c(&of(path, depth, Remaining::Whole), change).unwrap_err();
            assert_eq!(refused.errno, Errno::INVAL);
            refused.message
        };
        for path in [
            &b"/"[..],
            b"/a",
            b"a/",
            b"a//b",
            b".",
            b"a/..",
            b"../a",
            b"./a",
        ] {
            assert!(refused(path, 2, |_| {}).contains("without . and .."));
        }
        assert!(refused(b"a", 2, |_| {}).starts_with("resume[0].depth is 2"));
        assert!(refused(b"a", 1, |raw| raw.root = 2).starts_with("resume[0].root is 2"));
        assert!(refused(b"a", 1, |raw| raw.position = -2).contains("position is -2"));
        assert!(refused(b"a", 1, |raw| raw.reserved[6] = 1).contains("reserved"));
    }

    #[test]
    fn an_empty_list_has_memory_of_its_own() {
        let list = Leftovers::from(&[][..]);
        assert!(list.raw.is_empty() && list.raw.capacity() > 0);
    }
}
