use super::*;

fn fields(size: u64) -> Fields {
    Fields {
        asize: Some(size),
        dsize: Some(2 * size),
        ..Fields::default()
    }
}

fn link(ino: u64, size: u64) -> Fields {
    Fields {
        ino: Some(ino),
        hlnkc: true,
        ..fields(size)
    }
}

#[test]
fn the_own_size_is_what_the_entries_leave() {
    let mut totals = Totals::default();
    totals.begin(&fields(100));
    totals.file(&fields(20));
    totals.begin(&fields(70));
    totals.file(&fields(60));
    assert_eq!(totals.end(), [10, 20]);
    assert_eq!(totals.end(), [10, 20]);
}

#[test]
fn a_directory_without_its_entries_keeps_the_sum() {
    let mut totals = Totals::default();
    totals.begin(&fields(100));
    totals.begin(&fields(70));
    assert_eq!(totals.end(), [70, 140]);
    assert_eq!(totals.end(), [30, 60]);
}

#[test]
fn a_directory_without_a_sum_has_no_size() {
    let mut totals = Totals::default();
    totals.begin(&Fields {
        dsize: None,
        ..fields(100)
    });
    totals.begin(&Fields::default());
    totals.file(&fields(60));
    assert_eq!(totals.end(), [0, 0]);
    assert_eq!(totals.end(), [40, 0]);
}

/// Each directory has both links and 4096 bytes of its own. gdu counts a link in any of them.
#[test]
fn a_file_with_several_names_counts_once_wherever_gdu_counted_it() {
    let (one, other) = (1_000, 1_000_000);
    for counted in [[0, 0], [0, 1], [1, 0], [1, 1]] {
        let mut totals = Totals::default();
        totals.begin(&fields(3 * 4096 + one + other));
        let mut own = 0;
        for directory in 0..2 {
            let sizes = [one, other].into_iter().zip(counted);
            let inside = sizes.filter(|(_, at)| *at == directory);
            totals.begin(&fields(4096 + inside.map(|(size, _)| size).sum::<u64>()));
            totals.file(&link(1, one));
            totals.file(&link(2, other));
            own += totals.end()[0];
        }
        own += totals.end()[0];
        assert_eq!(own, 3 * 4096, "{counted:?}");
    }
}

#[test]
fn sums_that_cannot_be_are_no_panic() {
    let mut totals = Totals::default();
    totals.begin(&fields(5));
    totals.file(&fields(u64::MAX / 2));
    totals.file(&fields(u64::MAX / 2));
    assert_eq!(totals.end(), [0, 0]);
    assert_eq!(totals.end(), [0, 0]);
    totals.file(&fields(1));
}
