use super::*;

#[test]
fn every_kind_of_path_is_a_root() {
    let string = "a\u{e9}".to_owned();
    let os_string = OsString::from(&string);
    let path = PathBuf::from(&string);
    let roots: [Root; 12] = [
        (&*string).into(),
        (&string).into(),
        os_string.as_os_str().into(),
        (&os_string).into(),
        path.as_path().into(),
        (&path).into(),
        Cow::from(string.as_str()).into(),
        Cow::from(os_string.as_os_str()).into(),
        Cow::from(path.as_path()).into(),
        string.clone().into(),
        os_string.clone().into(),
        path.clone().into(),
    ];
    for root in roots {
        assert_eq!(root.name, string.as_bytes());
    }
}
