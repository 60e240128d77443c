//! The report as text for people.

use std::fmt::Write;

use ringwalk::shown::one_line;
use ringwalk_doctor::{Limits, Obstacle, Place, Prefetch, Report, Source, User};

use crate::quote::quoted;

/// The start of the second column.
const COLUMN: usize = 22;

pub(crate) fn text(report: &Report) -> String {
    let mut out = String::new();
    let (kernel, user) = (&report.kernel, &report.user);
    let _ = writeln!(out, "ringwalk {}", report.version);
    row(
        &mut out,
        "kernel",
        &format!("Linux {}, {}", kernel.release, kernel.machine),
    );
    row(
        &mut out,
        "user",
        &format!("{} {}", user.uid, privileges(user)),
    );
    place(&mut out, &report.directory);
    let _ = writeln!(out, "\nsources");
    for source in &report.sources {
        describe(&mut out, source);
    }
    prefetch(&mut out, &report.prefetch);
    limits(&mut out, &report.limits);
    ring(&mut out, report);
    out
}

fn privileges(user: &User) -> String {
    let held: Vec<_> = [
        (user.sys_admin, "CAP_SYS_ADMIN"),
        (user.dac_read_search, "CAP_DAC_READ_SEARCH"),
    ]
    .into_iter()
    .filter_map(|(held, name)| held.then_some(name))
    .collect();
    if held.is_empty() {
        return "without CAP_SYS_ADMIN and CAP_DAC_READ_SEARCH".to_owned();
    }
    let held = held.join(" and ");
    if user.initial_namespace {
        format!("with {held}")
    } else {
        format!("with {held} in a user namespace only")
    }
}

/// Writes a row. Control characters of foreign text, such as types of file systems, are escaped.
fn row(out: &mut String, name: &str, value: &str) {
    let value = one_line(value);
    let _ = writeln!(out, "  {name:<width$}{value}", width = COLUMN - 2);
}

/// Writes a row whose first column is empty.
fn more(out: &mut String, value: &str) {
    row(out, "", value);
}

fn place(out: &mut String, place: &Place) {
    row(out, "directory", &quoted(&place.given).to_string());
    let file_system = match (&place.file_system, &place.mounts_unread) {
        (Some(name), _) => name.clone(),
        (None, Some(reason)) => format!("unknown ({reason})"),
        (None, None) => "unknown (its mount is not in /proc/self/mountinfo)".to_owned(),
    };
    let mount_point = place
        .mount_point
        .as_ref()
        .map(|point| format!(", mounted on {}", quoted(point)));
    row(
        out,
        "file system",
        &format!("{file_system}{}", mount_point.unwrap_or_default()),
    );
    let device = &place.device;
    let Some(path) = &device.path else { return };
    let kind = match device.rotational {
        Some(true) => ", a spinning disk according to the kernel",
        Some(false) => ", no spinning disk",
        None => "",
    };
    row(
        out,
        "device",
        &format!("{} ({}:{}){kind}", quoted(path), device.major, device.minor),
    );
}

fn describe(out: &mut String, source: &Source) {
    let verdict = match source.usable {
        true if source.chosen_by_auto => "usable, and the choice of auto here",
        true if source.why_not_auto.is_some() => "usable when asked for",
        true => "usable",
        false => "not usable here",
    };
    row(out, source.name, verdict);
    if let Some(details) = &source.details {
        more(out, &format!("- {details}"));
    }
    obstacles(out, &source.obstacles);
    if let Some(reason) = source.why_not_auto.as_ref().filter(|why| !why.is_empty()) {
        more(out, &format!("- auto does not choose it here: {reason}"));
    }
}

fn obstacles(out: &mut String, obstacles: &[Obstacle]) {
    for obstacle in obstacles {
        more(out, &format!("- {}", obstacle.problem));
        more(out, &format!("  remedy: {}", obstacle.remedy));
    }
}

fn prefetch(out: &mut String, prefetch: &Prefetch) {
    let verdict = if prefetch.available {
        "blocks can be read ahead of system calls"
    } else {
        "blocks cannot be read ahead of system calls here"
    };
    row(out, "prefetch", verdict);
    obstacles(out, &prefetch.obstacles);
}

fn limits(out: &mut String, limits: &Limits) {
    let _ = writeln!(out, "\nlimits");
    let (soft, hard) = (
        number(limits.open_files_soft),
        number(limits.open_files_hard),
    );
    row(
        out,
        "open files",
        &format!("{soft} (RLIMIT_NOFILE), can be raised to {hard}"),
    );
    if let (Some(open), Some(most)) = (limits.system_open_files, limits.system_most_open_files) {
        row(
            out,
            "open files, system",
            &format!("{open} of {most} (fs.file-max)"),
        );
    }
    let is_known = limits.control_groups_unread.is_none();
    let quota = match limits.cpu_quota {
        Some(quota) => format!("quota of {quota:.2}"),
        None if is_known => "no quota".to_owned(),
        None => "quota unknown".to_owned(),
    };
    row(
        out,
        "CPUs",
        &format!("{} by affinity, {quota}", limits.cpus),
    );
    row(
        out,
        "workers",
        &format!("{} while calls return from cache", limits.workers),
    );
    row(
        out,
        "processes",
        &format!("{} (RLIMIT_NPROC)", number(limits.processes)),
    );
    if let (Some(total), Some(available)) = (limits.memory, limits.memory_available) {
        let limit = match limits.memory_limit {
            Some(limit) => format!("control group limit {}", mebibytes(limit)),
            None if is_known => "no limit by control group".to_owned(),
            None => "control group limit unknown".to_owned(),
        };
        row(
            out,
            "memory",
            &format!(
                "{}, {} available, {limit}",
                mebibytes(total),
                mebibytes(available)
            ),
        );
    }
    if let Some(reason) = &limits.control_groups_unread {
        row(out, "control groups", &format!("not known: {reason}"));
    }
}

fn ring(out: &mut String, report: &Report) {
    let ring = &report.kernel.io_uring;
    let Some(bounded) = ring.bounded_workers else {
        return;
    };
    let unbounded = number(ring.unbounded_workers.map(u64::from));
    row(
        out,
        "io-wq",
        &format!(
            "{bounded} bounded and {unbounded} unbounded workers of the kernel for a ring of 64"
        ),
    );
}

/// Returns the answers of the kernel that the verdicts follow from, for `--explain`.
pub(crate) fn evidence(report: &Report) -> String {
    let mut out = String::from("doctor: answers of the kernel\n");
    let ring = &report.kernel.io_uring;
    match &ring.obstacle {
        None => row(
            &mut out,
            "io_uring_setup",
            &format!(
                "{} operations performed, the last known is number {}, features {:#x}",
                ring.operations, ring.last_operation, ring.features
            ),
        ),
        Some(obstacle) => row(&mut out, "io_uring_setup", &obstacle.problem),
    }
    row(
        &mut out,
        "URING_CMD",
        if ring.uring_cmd {
            "performed"
        } else {
            "not performed"
        },
    );
    row(
        &mut out,
        "openat2",
        if report.kernel.openat2 {
            "answers"
        } else {
            "does not answer; openat is used"
        },
    );
    row(
        &mut out,
        "statx",
        &format!(
            "returned the fields {:#x} of the directory",
            report.directory.statx_mask
        ),
    );
    let namespace = if report.user.initial_namespace {
        "maps all ids to themselves"
    } else {
        "is not the host's"
    };
    row(&mut out, "user namespace", namespace);
    row(
        &mut out,
        "seccomp",
        if report.user.seccomp_filter {
            "a filter is active"
        } else {
            "no filter"
        },
    );
    out.truncate(out.trim_end().len());
    out
}

fn number(value: Option<u64>) -> String {
    value.map_or_else(|| "unlimited".to_owned(), |value| value.to_string())
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_obstacles_stand_below() {
        let mut out = String::new();
        let source = Source {
            name: "xfs",
            usable: false,
            details: None,
            chosen_by_auto: false,
            why_not_auto: None,
            obstacles: vec![Obstacle::new("a problem", "a remedy")],
        };
        describe(&mut out, &source);
        let columns: Vec<_> = out
            .lines()
            .map(|line| line.find(|character| character != ' '))
            .collect();
        assert_eq!(columns, [Some(2), Some(COLUMN), Some(COLUMN + 2)]);
        assert!(out.contains("not usable here"), "{out}");
    }

    #[test]
    fn what_others_chose_stays_in_its_row() {
        let mut out = String::new();
        row(&mut out, "name", "fuse.\u{1b}[2J\nuser  root\u{9b}");
        assert!(
            out.ends_with("  fuse.\\033[2J\\nuser  root\\302\\233\n"),
            "{out}"
        );
        assert_eq!(out.lines().count(), 1);
    }

    #[test]
    fn no_limit_is_a_word() {
        assert_eq!(number(None), "unlimited");
        assert_eq!(number(Some(0)), "0");
    }
}
