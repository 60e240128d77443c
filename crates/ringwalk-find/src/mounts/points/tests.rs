use super::*;

#[test]
fn names_by_directory() {
    let points = [
        &b"/"[..],
        b"/proc",
        b"/c/dev/null",
        b"/d/dev/zero",
        b"/c/etc/hosts",
    ];
    let points = MountPoints::of(points.into_iter());
    let names = |parent: Option<&[u8]>| {
        let names = points.names_in(parent).into_iter().flatten();
        let mut names: Vec<_> = names.map(|name| String::from_utf8_lossy(name)).collect();
        names.sort();
        names.join(" ")
    };
    assert_eq!(names(Some(b"dev")), "null zero");
    assert_eq!(names(Some(b"etc")), "hosts");
    assert_eq!(names(Some(b"")), " proc");
    assert_eq!(names(Some(b"c")), "");
    assert_eq!(names(None), " hosts null proc zero");
}
