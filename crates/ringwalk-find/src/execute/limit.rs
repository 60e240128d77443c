//! The number of arguments that fit.

use ringwalk_sys::environment_size;
use rustix::param::page_size;
use rustix::process::{Resource, getrlimit};

/// The bytes that POSIX asks find(1) to leave free, so that a command may change its environment.
/// The name of the program and, for a script, the name of its interpreter count too, and fit in
/// these bytes.
const HEADROOM: usize = 2048;

/// The kernel allows this much however small the stack is (`ARG_MAX` of linux/limits.h).
const LEAST: usize = 128 << 10;

/// The kernel allows no more than this however large the stack is: three quarters of the usual 8
/// MiB (`bprm_stack_limits` in `fs/exec.c`, since Linux 4.13).
const MOST: usize = 6 << 20;

/// The part of a command line that fits, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    /// For all arguments, each with its zero byte and the pointer to it (`Arguments::size`).
    pub(crate) all: usize,
    /// For one argument, with its zero byte (`MAX_ARG_STRLEN` of linux/binfmts.h).
    pub(crate) one: usize,
}

impl Limit {
    /// Returns the limit of this process now, by execve(2): arguments and environment together may
    /// take a quarter of the stack's limit.
    pub(crate) fn here() -> Self {
        let stack = getrlimit(Resource::Stack).current;
        Self::new(stack, environment_size(), page_size())
    }

    /// `stack`: the limit in bytes, if there is one.
    fn new(stack: Option<u64>, environment: usize, page_size: usize) -> Self {
        let quarter = stack.map_or(MOST, |stack| {
            usize::try_from(stack / 4).unwrap_or(usize::MAX)
        });
        let all = quarter.clamp(LEAST, MOST);
        Self {
            all: all.saturating_sub(environment).saturating_sub(HEADROOM),
            one: 32 * page_size,
        }
    }

    /// Returns the bytes that one argument takes. None if it is too long by itself.
    pub(crate) fn cost(self, argument: &[u8]) -> Option<usize> {
        let length = argument.len() + 1;
        (length <= self.one).then_some(length + size_of::<*const u8>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stack_decides_within_bounds() {
        let all = |stack, environment| Limit::new(stack, environment, 4096).all;
        assert_eq!(all(Some(8 << 20), 0), (2 << 20) - 2048);
        assert_eq!(all(Some(8 << 20), 1000), (2 << 20) - 3048);
        assert_eq!(all(Some(0), 0), (128 << 10) - 2048);
        assert_eq!(all(Some(1 << 30), 0), (6 << 20) - 2048);
        assert_eq!(all(None, 0), (6 << 20) - 2048);
        assert_eq!(all(Some(0), 1 << 20), 0);
    }

    #[test]
    fn one_argument_has_a_limit_of_its_own() {
        let limit = Limit::new(None, 0, 4096);
        assert_eq!(limit.cost(b""), Some(9));
        assert_eq!(limit.cost(&vec![b'x'; 131_071]), Some(131_072 + 8));
        assert_eq!(limit.cost(&vec![b'x'; 131_072]), None);
    }
}
