use super::*;

#[test]
fn sums_are_shown_with_sizes_only_if_they_are_known() {
    let outcome = Walk::new("src")
        .fields(Fields::SIZE | Fields::BLOCKS)
        .run(|_| Tally::new(&report));
    let tally = outcome
        .visitors
        .iter()
        .fold(Tally::new(&report), Tally::plus);
    let value = |names_only| -> serde_json::Value {
        let sums = Sums::of(&tally, names_only);
        serde_json::from_str(&json(&sums, &tally, &outcome.summary)).unwrap()
    };
    let names = value(true);
    assert!(names["apparent_size"].is_null() && names["allocated_size"].is_null());
    let value = value(false);
    assert_eq!(value["apparent_size"], u64::try_from(tally.bytes).unwrap());
    assert_eq!(
        value["allocated_size"],
        u64::try_from(tally.allocated).unwrap()
    );
    assert_eq!(value["entries"], tally.files());
    let of = |name: &str| value[name].as_u64().unwrap();
    assert_eq!(of("files") + of("directories"), of("entries"));
    assert_eq!(of("directories_read"), of("directories") + 1);
    assert_eq!(value["types"]["directory"], value["directories"]);
}

#[test]
fn numbers_stand_below_each_other() {
    let mut sums = Sums {
        entries: 1200,
        files: 1100,
        directories: 100,
        sizes: None,
    };
    let text = table(&sums, SizeFormat::Bytes);
    assert_eq!(
        text,
        "entries      1200\nfiles        1100\ndirectories   100\n"
    );
    sums.sizes = Some([1500, u128::from(u64::MAX) + 1]);
    let text = table(&sums, SizeFormat::Human);
    assert!(
        text.ends_with("                  1.5K\nallocated size  18446744073709551616\n"),
        "{text}"
    );
}
