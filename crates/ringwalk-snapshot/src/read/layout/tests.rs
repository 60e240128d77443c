use super::*;
use crate::read::footer::StoredGroup;
use crate::schema::COLUMNS;

/// A footer with two row groups, as a snapshot has them.
fn footer() -> Footer {
    let leaves = COLUMNS.iter().map(|facts| Leaf {
        path: vec![facts.name.into()],
        physical: facts.physical() as i64,
        repetitions: vec![i64::from(!facts.required)],
    });
    let group = |rows| StoredGroup {
        rows,
        columns: COLUMNS
            .iter()
            .map(|facts| StoredColumn {
                physical: facts.physical() as i64,
                codec: ZSTD,
                values: rows,
                nulls: Some(0),
                length: 100,
                data: 14,
                dictionary: Some(4),
                index: Some((900, 20)),
                ..StoredColumn::default()
            })
            .collect(),
    };
    Footer {
        begin: 1000,
        rows: 16_384 + 10,
        leaves: leaves.collect(),
        groups: vec![group(16_384), group(10)],
        ..Footer::default()
    }
}

fn why(footer: &Footer) -> String {
    match Layout::of(footer, Shape::Snapshot) {
        Err(Reason::Damaged(what)) => what,
        other => panic!("{other:?}"),
    }
}

/// Changes the column `path` of the second row group.
fn changed(change: impl FnOnce(&mut StoredColumn)) -> String {
    let mut footer = footer();
    change(&mut footer.groups[1].columns[4]);
    why(&footer)
}

#[test]
fn numbers_that_are_right() {
    let layout = Layout::of(&footer(), Shape::Snapshot).unwrap();
    assert_eq!(layout.groups, [0..16_384, 16_384..16_394]);
    let place = layout.places[1][4].as_ref().unwrap();
    assert_eq!((&place.pages, &place.index), (&(4..104), &(900..920)));
    assert!(!place.is_all_null && place.is_required && place.is_compressed);
}

#[test]
fn numbers_of_columns_that_are_wrong() {
    for wrong in [-1, 0, 3, 991, i64::MAX, i64::MIN] {
        let why = changed(|column| (column.dictionary, column.data) = (None, wrong));
        assert_eq!(
            why, "row group 1: column path: its pages do not lie within the file",
            "{wrong}"
        );
        let why = changed(|column| column.index = Some((wrong, 20)));
        assert!(why.ends_with("not within the file"), "{wrong}: {why}");
    }
    for wrong in [-1, 997, i64::MAX, i64::MIN] {
        let why = changed(|column| column.length = wrong);
        assert!(why.ends_with("within the file"), "{wrong}: {why}");
        let why = changed(|column| column.index = Some((900, wrong)));
        assert!(why.ends_with("within the file"), "{wrong}: {why}");
    }
    for wrong in [-1, 9, 11, i64::MAX, i64::MIN] {
        let why = changed(|column| column.values = wrong);
        assert!(why.ends_with("number of values differs from its number of rows"));
    }
    for wrong in [-1, 11, i64::MAX] {
        let why = changed(|column| column.nulls = Some(wrong));
        assert!(why.ends_with("its number of nulls is wrong"));
    }
    for (wrong, expected) in [
        (
            changed(|column| column.dictionary = Some(15)),
            "behind its values",
        ),
        (
            changed(|column| column.index = None),
            "no list of its pages",
        ),
        (
            changed(|column| column.index = Some((900, 6))),
            "wrong length",
        ),
        (
            changed(|column| column.index = Some((500, 400))),
            "wrong length",
        ),
        (changed(|column| column.codec = 1), "not compressed by zstd"),
        (
            changed(|column| column.physical = 2),
            "differs from the schema",
        ),
        (changed(|column| column.is_elsewhere = true), "another file"),
    ] {
        assert!(wrong.contains(expected), "{wrong}");
    }
}

#[test]
fn numbers_of_rows_that_are_wrong() {
    for wrong in [0, -1, 1 << 40, i64::MAX, i64::MIN] {
        let mut footer = footer();
        footer.groups[0].rows = wrong;
        assert_eq!(why(&footer), "row group 0: its number of rows is wrong");
    }
    let mut footer = footer();
    footer.rows -= 1;
    assert!(why(&footer).contains("differs from its row groups"));
}

#[test]
fn rows_that_the_lists_of_pages_cannot_have() {
    let mut footer = footer();
    let rows = 8192 * 3 + 1;
    footer.groups[1].rows = rows;
    for column in &mut footer.groups[1].columns {
        column.values = rows;
    }
    assert!(why(&footer).contains("column id: the list of its pages has a wrong length"));
}

#[test]
fn schemas_that_are_wrong() {
    let changed = |change: &dyn Fn(&mut Footer)| {
        let mut footer = footer();
        change(&mut footer);
        why(&footer)
    };
    for (found, expected) in [
        (
            changed(&|footer| footer.leaves[0].path.clear()),
            "no column id",
        ),
        (
            changed(&|footer| footer.leaves[0].physical = 1),
            "column id has another type",
        ),
        (
            // Nulls in a column that has none.
            changed(&|footer| footer.leaves[1].repetitions = vec![1]),
            "column root has another type",
        ),
        (
            // A list of values in each row.
            changed(&|footer| footer.leaves[2].repetitions = vec![2]),
            "column dir has another type",
        ),
        (
            changed(&|footer| footer.groups[0].columns.truncate(3)),
            "row group 0: its number of columns",
        ),
    ] {
        assert!(found.contains(expected), "{found}");
    }
}

/// Returns a list of pages in thrift.
fn list(locations: &[(i64, i64, i64)]) -> Vec<u8> {
    let mut bytes = vec![0x19, 0xfc];
    let varint = |mut number: u64, bytes: &mut Vec<u8>| {
        while number >= 0x80 {
            bytes.push(u8::try_from(number & 0x7f | 0x80).unwrap());
            number >>= 7;
        }
        bytes.push(u8::try_from(number).unwrap());
    };
    varint(locations.len() as u64, &mut bytes);
    for (offset, length, first_row) in locations {
        for (kind, number) in [(0x16, offset), (0x15, length), (0x16, first_row)] {
            bytes.push(kind);
            varint((number << 1 ^ number >> 63).cast_unsigned(), &mut bytes);
        }
        bytes.push(0);
    }
    bytes.push(0);
    bytes
}

#[test]
fn lists_of_pages() {
    let layout = Layout::of(&footer(), Shape::Snapshot).unwrap();
    let place = layout.places[0][4].as_ref().unwrap();
    let pages = |locations: &[(i64, i64, i64)]| place.pages(16_384, &list(locations));
    let found = pages(&[(14, 50, 0), (64, 40, 8192)]).unwrap();
    assert_eq!(found.dictionary, Some(4..14));
    assert_eq!(found.data, [14..64, 64..104]);
    let found = pages(&[(4, 50, 0), (64, 40, 8192)]).unwrap();
    assert_eq!(found.dictionary, None);
    for wrong in [
        &[][..],
        &[(14, 50, 0)],
        &[(14, 50, 0), (64, 40, 8192), (64, 40, 16_384)],
        &[(14, 50, 0), (64, 40, 8191)],
        &[(14, 50, 1), (64, 40, 8192)],
        &[(64, 40, 0), (14, 50, 8192)],
        &[(14, 51, 0), (64, 40, 8192)],
        &[(14, 50, 0), (64, 41, 8192)],
        &[(3, 50, 0), (64, 40, 8192)],
        &[(-14, 50, 0), (64, 40, 8192)],
        &[(14, -1, 0), (64, 40, 8192)],
        &[(14, 50, 0), (i64::MAX, i64::MAX, 8192)],
        &[(14, 50, 0), (64, i64::MAX, 8192)],
    ] {
        assert!(matches!(pages(wrong), Err(Reason::Damaged(_))), "{wrong:?}");
    }
    let whole = list(&[(14, 50, 0), (64, 40, 8192)]);
    for length in 0..whole.len() {
        assert!(place.pages(16_384, &whole[..length]).is_err());
    }
}
