use super::*;

#[test]
fn built_in_colours_stay_where_nothing_is_set() {
    let colors = LsColors::parse(b"fi=3:ln=target:rs=9");
    assert_eq!(colors.get(Key::File), Some(&b"3"[..]));
    assert_eq!(colors.get(Key::Directory), Some(&b"01;34"[..]));
    assert_eq!(colors.get(Key::StickyOtherWritable), Some(&b"30;42"[..]));
    assert_eq!(colors.get(Key::Capable), None);
    assert!(colors.link_as_target);
    let mut end = Vec::new();
    colors.write_end(&mut end);
    assert_eq!(end, b"\x1b[9m");
}

#[test]
fn zeros_are_no_colour() {
    let colors = LsColors::parse(b"di=0:ln=00:pi=:so=0;0:ow=000");
    for key in [Key::Directory, Key::Link, Key::Fifo, Key::OtherWritable] {
        assert_eq!(colors.get(key), None);
    }
    assert_eq!(colors.get(Key::Socket), Some(&b"0;0"[..]));
}

#[test]
fn escapes() {
    let colors = LsColors::parse(b"fi=\\0333^[x\\x41_\\n\\?:di=^?:pi=\\_\\:");
    assert_eq!(colors.get(Key::File), Some(&b"\xdb\x1bxA_\n\x7f"[..]));
    assert_eq!(colors.get(Key::Directory), Some(&b"\x7f"[..]));
    assert_eq!(colors.get(Key::Fifo), Some(&b" :"[..]));
}

#[test]
fn what_is_not_understood() {
    let colors = LsColors::parse(b"::di=1:zz=4:fi=5:bogus:ln=7");
    assert_eq!(colors.get(Key::Directory), Some(&b"1"[..]));
    assert_eq!(colors.get(Key::File), Some(&b"5"[..]));
    assert_eq!(colors.get(Key::Link), Some(&b"01;36"[..]));
    LsColors::parse(b"di=1:\\");
    LsColors::parse(b"=");
}

#[test]
fn ends_of_names() {
    let colors = LsColors::parse(b"*.gz=1:*r.gz=2:*.c=31:*.C=32:*=9:*.h=0");
    let of = |name: &str| colors.of_name(name.as_bytes()).unwrap().to_vec();
    assert_eq!(of("x.H"), b"0");
    assert_eq!(of("a.c"), b"9", "the last one counts");
    let colors = LsColors::parse(b"*.gz=1:*r.gz=2:*.c=31:*.C=32:*.txt=3:*.TXT=3");
    let of = |name: &str| colors.of_name(name.as_bytes()).map(<[u8]>::to_vec);
    assert_eq!(of("x.gz"), Some(b"1".to_vec()));
    assert_eq!(of("x.tar.GZ"), Some(b"2".to_vec()));
    assert_eq!(of("x.c"), Some(b"31".to_vec()));
    assert_eq!(of("x.C"), Some(b"32".to_vec()));
    assert_eq!(of("x.Txt"), Some(b"3".to_vec()));
    assert_eq!(of("gz"), None);
}
