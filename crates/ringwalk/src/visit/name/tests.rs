use super::*;
use std::ffi::CString;

#[test]
fn names_of_every_length_are_kept() {
    for length in 0..=300 {
        let name = CString::new(vec![b'n'; length]).unwrap();
        assert_eq!(Name::from(&*name).as_c_str(), &*name);
        assert_eq!(Name::from(&*name).bytes(), name.to_bytes());
    }
}

#[test]
fn a_name_takes_three_words() {
    assert_eq!(size_of::<Name>(), 24);
}
