//! The line above the table: when each tree was read.

use ringwalk_gnu::civil::{Civil, Zone};
use ringwalk_gnu::strftime;
use ringwalk_snapshot::{Moment, Snapshot};

/// Returns the line for two snapshots, with times in the local time zone.
pub(super) fn period(old: &Snapshot, new: &Snapshot) -> String {
    let [old, new] = [old, new].map(|snapshot| snapshot.info().run.start);
    line(old, new, &Zone::from_environment())
}

fn line(old: Moment, new: Moment, zone: &Zone) -> String {
    let [old, new] = [old, new].map(|moment| minute(moment, zone));
    format!("from {old} to {new}\n")
}

/// Returns a time to the minute, as `ls -l --time-style=long-iso` writes it. A time beyond the
/// calendar is written as its seconds.
fn minute(moment: Moment, zone: &Zone) -> String {
    let Some(civil) = Civil::new(moment.into(), zone) else {
        return moment.seconds.to_string();
    };
    let mut out = Vec::new();
    strftime::format(b"%Y-%m-%d %H:%M", &civil, &mut out);
    // The format gives digits and signs only.
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Moment {
        Moment {
            seconds,
            nanoseconds: 999_999_999,
        }
    }

    #[test]
    fn both_times_stand_in_the_zone() {
        let (old, new) = (at(1_000_000_000), at(1_000_003_600));
        let expected = "from 2001-09-09 01:46 to 2001-09-09 02:46\n";
        assert_eq!(line(old, new, &Zone::named("UTC0")), expected);
        let expected = "from 2001-09-09 03:46 to 2001-09-09 04:46\n";
        assert_eq!(line(old, new, &Zone::named("XYZ-2")), expected);
    }

    #[test]
    fn a_time_beyond_the_calendar_is_a_number() {
        let line = line(at(i64::MAX), at(0), &Zone::named("UTC0"));
        assert_eq!(line, "from 9223372036854775807 to 1970-01-01 00:00\n");
    }
}
