use super::*;

#[test]
fn sums_are_shown_with_the_bytes_only_if_they_are_known() {
    let outcome = Walk::new("src")
        .fields(Fields::SIZE)
        .run(|_| Tally::new(&report));
    let tally = outcome
        .visitors
        .iter()
        .fold(Tally::new(&report), Tally::plus);
    let files = tally.files();
    assert_eq!(
        line(&tally, false),
        format!("{files} files, {} bytes\n", tally.bytes)
    );
    assert_eq!(line(&tally, true), format!("{files} files\n"));
    let value = |names_only| -> serde_json::Value {
        serde_json::from_str(&json(&tally, &outcome.summary, names_only)).unwrap()
    };
    assert!(value(true)["bytes"].is_null());
    let value = value(false);
    assert_eq!(value["files"], files);
    assert_eq!(value["bytes"], u64::try_from(tally.bytes).unwrap());
    assert_eq!(
        value["types"]["directory"].as_u64().map(|below| below + 1),
        value["directories"].as_u64()
    );
}
