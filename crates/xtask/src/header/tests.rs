//! Unit tests of `header.rs`.

use super::*;

#[test]
fn the_header_is_what_the_crate_says() {
    let kept = std::fs::read_to_string(path()).unwrap_or_default();
    assert!(
        kept == text().unwrap(),
        "ringwalk.h is stale: cargo run -p xtask -- header"
    );
}

#[test]
fn no_name_of_rust_is_left_and_no_file_left_out() {
    let text = text().unwrap();
    let of_rust = |word: &&str| {
        let name = word.strip_prefix("Ringwalk");
        name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_uppercase()))
    };
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    assert_eq!(words.filter(of_rust).collect::<Vec<_>>(), [""; 0]);
    let mut declaring: Vec<_> = std::fs::read_dir(library().join("src/abi"))
        .unwrap()
        .map(|file| format!("abi/{}", file.unwrap().file_name().display()))
        .collect();
    declaring.push("calls.rs".to_owned());
    declaring.sort();
    let mut files = FILES.map(str::to_owned);
    files.sort();
    assert_eq!(declaring, files);
}

#[test]
fn bits_are_hexadecimal_and_negative_numbers_in_brackets() {
    let polished = |line| definition(line).unwrap();
    assert_eq!(
        polished("#define RINGWALK_FIELD_A (1 << 30)").unwrap(),
        "#define RINGWALK_FIELD_A 0x40000000U"
    );
    assert_eq!(
        polished("#define RINGWALK_ROOTS -1").unwrap(),
        "#define RINGWALK_ROOTS (-1)"
    );
    assert_eq!(polished("#define RINGWALK_H"), None);
    assert_eq!(polished("int ringwalk_a(void);"), None);
    assert!(definition("#define RINGWALK_FLAG_A 3").is_err());
    assert!(definition("#define RINGWALK_FIELD_A (1 << 32)").is_err());
}
