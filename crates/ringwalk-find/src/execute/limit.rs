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
mod tests;
