//! The times that `--time` shows, and their formats by `--time-style` and `TIME_STYLE`.

use ringwalk::Timestamp;
use ringwalk_du::TimeKind;

use super::choice::{Choice, choose, list};
use ringwalk_gnu::civil::{Civil, Zone};
use ringwalk_gnu::{quote, strftime};

const KINDS: &[Choice<TimeKind>] = &[
    ("atime", TimeKind::Accessed),
    ("access", TimeKind::Accessed),
    ("use", TimeKind::Accessed),
    ("ctime", TimeKind::Changed),
    ("status", TimeKind::Changed),
];

const STYLES: &[Choice<&[u8]>] = &[
    ("full-iso", b"%Y-%m-%d %H:%M:%S.%N %z"),
    ("long-iso", b"%Y-%m-%d %H:%M"),
    ("iso", b"%Y-%m-%d"),
];

const LIST_OF_STYLES: &str = "Valid arguments are:
  - full-iso
  - long-iso
  - iso
  - +FORMAT (e.g., +%H:%M) for a 'date'-style format";

/// Returns the time that the word of `--time` names.
///
/// # Errors
/// The message.
pub(crate) fn time_kind(word: &[u8]) -> Result<TimeKind, String> {
    choose("--time", word, KINDS).map_err(|fault| format!("{fault}\n{}", list(KINDS)))
}

/// The format of times.
#[derive(Clone, Debug)]
pub(crate) struct TimeStyle {
    format: Vec<u8>,
    zone: Zone,
}

impl TimeStyle {
    /// Returns the style from the option, else from the environment, else `long-iso`.
    ///
    /// # Errors
    /// The message.
    pub(crate) fn new(option: Option<&[u8]>, environment: Option<&[u8]>) -> Result<Self, String> {
        let format = match option {
            Some(style) => named(style)?,
            None => from_environment(environment.unwrap_or(b"locale"))?,
        };
        Ok(Self {
            format: format.to_vec(),
            zone: Zone::from_environment(),
        })
    }

    /// Appends `time`. A time beyond the calendar is written as its seconds. Then a message about
    /// that is returned.
    pub(crate) fn write(&self, time: Timestamp, out: &mut Vec<u8>) -> Option<String> {
        if let Some(civil) = Civil::new(time, &self.zone) {
            strftime::format(&self.format, &civil, out);
            return None;
        }
        let seconds = time.secs.to_string();
        out.extend_from_slice(seconds.as_bytes());
        let seconds = quote::value(seconds.as_bytes());
        Some(format!("time {seconds} is out of range"))
    }
}

/// Returns the format that `TIME_STYLE` names. `ls` reads that variable, too. So its value can be
/// `locale`, have the prefix `posix-`, or have a second format after a newline.
fn from_environment(style: &[u8]) -> Result<&[u8], String> {
    if style == b"locale" {
        return named(b"long-iso");
    }
    if style.starts_with(b"+") {
        let end = style.iter().position(|byte| *byte == b'\n');
        return named(&style[..end.unwrap_or(style.len())]);
    }
    let mut style = style;
    while let Some(rest) = style.strip_prefix(b"posix-") {
        style = rest;
    }
    named(style)
}

fn named(style: &[u8]) -> Result<&[u8], String> {
    match style.strip_prefix(b"+") {
        Some(format) => Ok(format),
        None => choose("time style", style, STYLES)
            .map_err(|fault| format!("{fault}\n{LIST_OF_STYLES}")),
    }
}

#[cfg(test)]
mod tests {
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
}
