use super::*;

#[test]
fn workers_are_bounded_by_cpus_unless_asked() {
    let workers = Limits::read(None).workers;
    assert!((1..=cpus()).contains(&workers), "{workers}");
}

#[test]
fn meminfo_is_in_kibibytes() {
    assert_eq!(
        meminfo_bytes("MemTotal:   2 kB\nMemAvailable: 1 kB\n", "MemAvailable:"),
        Some(1024)
    );
    assert_eq!(meminfo_bytes("", "MemTotal:"), None);
}

#[test]
fn this_process_has_limits() {
    let limits = Limits::read(NonZeroUsize::new(3));
    assert_eq!(limits.workers, 3);
    assert!(limits.cpus >= 1);
    assert!(
        limits
            .open_files_soft
            .is_some_and(|soft| limits.open_files_hard.is_none_or(|hard| soft <= hard))
    );
}
