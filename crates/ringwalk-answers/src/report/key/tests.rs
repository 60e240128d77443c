//! Unit tests of `key.rs`.

use super::*;

#[test]
fn every_key_has_a_name_that_leads_back_to_it() {
    for key in Key::ALL {
        assert_eq!(Key::of_name(key.name()), Some(key));
    }
}

#[test]
fn a_list_keeps_its_order() {
    assert_eq!(Key::parse_list("owner,age"), Ok(vec![Key::Owner, Key::Age]));
    assert_eq!(Key::parse_list("age,owner"), Ok(vec![Key::Age, Key::Owner]));
    assert_eq!(Key::parse_list("ext"), Ok(vec![Key::Extension]));
}

#[test]
fn an_error_names_the_word_and_what_was_expected() {
    let message = Key::parse_list("owner,ages").unwrap_err().to_string();
    assert!(message.contains("'ages'"), "{message}");
    for key in Key::ALL {
        assert!(message.contains(key.name()), "{message}");
    }
    let message = Key::parse_list("owner,owner").unwrap_err().to_string();
    assert!(
        message.contains("'owner'") && message.contains("twice"),
        "{message}"
    );
    for text in ["", ",", "owner,", " owner"] {
        assert!(Key::parse_list(text).is_err(), "{text:?}");
    }
}
