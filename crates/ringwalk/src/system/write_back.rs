//! How long changes may be in memory only.

/// Bytes of dirty pages that any disk can write back in a second.
const WRITE_BACK_RATE: u64 = 4 << 20;

/// Returns the seconds after which changes have been written back: the age at which dirty pages
/// expire, the period of the check (`/proc/sys/vm`, Documentation/admin-guide/sysctl/vm.rst), and
/// the time that the backlog takes. `None` if the kernel never writes back by itself, or `/proc`
/// does not say.
pub fn seconds() -> Option<u64> {
    let centiseconds = |name: &str| -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/sys/vm/{name}")).ok()?;
        text.trim().parse().ok()
    };
    let expire = centiseconds("dirty_expire_centisecs")?;
    // 0 means that the kernel never writes back by itself.
    let period = centiseconds("dirty_writeback_centisecs").filter(|period| *period > 0)?;
    let backlog = backlog(&std::fs::read_to_string("/proc/meminfo").ok()?)?;
    Some((expire + 2 * period).div_ceil(100) + backlog / WRITE_BACK_RATE)
}

/// Returns the bytes that wait for write-back or are being written, by `/proc/meminfo`. `None` if
/// it lacks one of the two.
fn backlog(memory: &str) -> Option<u64> {
    let bytes = |name: &str| -> Option<u64> {
        let value = memory.lines().find_map(|line| line.strip_prefix(name))?;
        let kibibytes: u64 = value.split_ascii_whitespace().next()?.parse().ok()?;
        kibibytes.checked_mul(1024)
    };
    bytes("Dirty:")?.checked_add(bytes("Writeback:")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_wait_for_write_back_are_known_or_not() {
        let memory = "MemTotal: 9 kB\nDirty:    12 kB\nWriteback:   3 kB\nWritebackTmp: 7 kB\n";
        assert_eq!(backlog(memory), Some(15 << 10));
        for unknown in [
            "",
            "Dirty: 12 kB\n",
            "Writeback: 3 kB\n",
            "Dirty: x kB\nWriteback: 3 kB\n",
        ] {
            assert_eq!(backlog(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn this_machine_writes_back() {
        assert!(seconds().is_some_and(|seconds| seconds > 0));
    }
}
