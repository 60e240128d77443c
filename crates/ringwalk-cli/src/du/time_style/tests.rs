use super::*;
use ringwalk_gnu::locale;

fn environment(style: &str) -> Result<&[u8], String> {
    from_environment(style.as_bytes())
}

#[test]
fn kinds() {
    assert_eq!(time_kind(b"a"), Ok(TimeKind::Accessed));
    assert_eq!(time_kind(b"use"), Ok(TimeKind::Accessed));
    assert_eq!(time_kind(b"status"), Ok(TimeKind::Changed));
    let message = time_kind(b"birth").unwrap_err();
    assert!(message.starts_with("invalid argument "), "{message}");
    assert!(time_kind(b"").unwrap_err().starts_with("ambiguous"));
}

#[test]
fn styles() {
    assert_eq!(named(b"i"), Ok(&b"%Y-%m-%d"[..]));
    assert_eq!(named(b"+%Y\n%m"), Ok(&b"%Y\n%m"[..]));
    assert!(named(b"locale").is_err());
    assert!(named(b"posix-iso").is_err());
    let message = named(b"x").unwrap_err().replace(['‘', '’'], "'");
    assert_eq!(
        message,
        "invalid argument 'x' for 'time style'\nValid arguments are:\n  - full-iso\n  - long-iso\n  - iso\n  \
         - +FORMAT (e.g., +%H:%M) for a 'date'-style format"
    );
}

#[test]
fn the_environment() {
    assert_eq!(environment("locale"), named(b"long-iso"));
    assert_eq!(environment("posix-posix-iso"), named(b"iso"));
    assert_eq!(environment("+%Y\n%m"), Ok(&b"%Y"[..]));
    assert!(environment("").is_err());
    assert!(environment("foo").is_err());
}

#[test]
fn times() {
    let style = TimeStyle::new(Some(b"+%s.%N"), None).unwrap();
    let mut out = Vec::new();
    let time = |secs| Timestamp { secs, nanos: 7 };
    assert_eq!(style.write(time(12), &mut out), None);
    assert_eq!(out, b"12.000000007");
    out.clear();
    let message = style.write(time(i64::MAX), &mut out).unwrap();
    assert_eq!(out, b"9223372036854775807");
    let open = if locale::utf8() { '‘' } else { '\'' };
    assert!(message.starts_with(&format!("time {open}9223372036854775807")));
}
