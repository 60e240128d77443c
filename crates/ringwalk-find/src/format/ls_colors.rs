//! The parser of `LS_COLORS`.
//!
//! The variable is a list of `key=value` with colons between. A key is two letters, or `*` and the
//! end of a name. A value stands between `lc` (escape, `[`) and `rc` (`m`) in the output. As in
//! bfs, keys that are not set have their built-in value, and unknown keys are ignored. The list is
//! read up to the first entry without `=`, and nothing is reported. (GNU ls reports both, and shows
//! no colours at all.)

/// The keys of types and states, without the keys of the escape sequence itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// `no`: names without another colour.
    Normal,
    /// `fi`: regular files.
    File,
    /// `di`.
    Directory,
    /// `ln`.
    Link,
    /// `or`: links that lead nowhere.
    Orphan,
    /// `mi`: the missing target of such a link.
    Missing,
    /// `pi`.
    Fifo,
    /// `so`.
    Socket,
    /// `bd`.
    Block,
    /// `cd`.
    Character,
    /// `ex`: files that somebody may execute.
    Executable,
    /// `su`.
    SetUid,
    /// `sg`.
    SetGid,
    /// `ca`: files with capabilities.
    Capable,
    /// `mh`: files with more than one link.
    ManyLinks,
    /// `st`: directories with the sticky bit.
    Sticky,
    /// `ow`: directories that others may write.
    OtherWritable,
    /// `tw`: directories with the sticky bit that others may write.
    StickyOtherWritable,
}

/// The number of [`Key`]s.
const KEYS: usize = Key::StickyOtherWritable as usize + 1;

/// The [`Key`]s in their order, with their names and their default colours, which are the same as
/// in bfs.
const BUILT_IN: [(Key, &[u8; 2], &[u8]); KEYS] = [
    (Key::Normal, b"no", b""),
    (Key::File, b"fi", b""),
    (Key::Directory, b"di", b"01;34"),
    (Key::Link, b"ln", b"01;36"),
    (Key::Orphan, b"or", b""),
    (Key::Missing, b"mi", b""),
    (Key::Fifo, b"pi", b"33"),
    (Key::Socket, b"so", b"01;35"),
    (Key::Block, b"bd", b"01;33"),
    (Key::Character, b"cd", b"01;33"),
    (Key::Executable, b"ex", b"01;32"),
    (Key::SetUid, b"su", b"37;41"),
    (Key::SetGid, b"sg", b"30;43"),
    (Key::Capable, b"ca", b""),
    (Key::ManyLinks, b"mh", b""),
    (Key::Sticky, b"st", b"37;44"),
    (Key::OtherWritable, b"ow", b"34;42"),
    (Key::StickyOtherWritable, b"tw", b"30;42"),
];

// `LsColors::colors` is indexed by key.
const _: () = {
    let mut at = 0;
    while at < KEYS {
        assert!(BUILT_IN[at].0 as usize == at);
        at += 1;
    }
};

/// The end of a name, and its colour.
#[derive(Clone, Debug)]
struct Extension {
    end: Vec<u8>,
    color: Vec<u8>,
    /// Upper and lower case differ: there is the same end in other letters with another colour.
    exact: bool,
}

/// The parsed variable.
#[derive(Clone, Debug)]
pub(super) struct LsColors {
    colors: [Option<Vec<u8>>; KEYS],
    /// The ends of names, in order. The last one that fits counts.
    extensions: Vec<Extension>,
    /// `lc`: the beginning of an escape sequence.
    pub(super) left: Vec<u8>,
    /// `rc`: the end of an escape sequence.
    pub(super) right: Vec<u8>,
    /// `rs`: the colour that resets.
    reset: Vec<u8>,
    /// `ec`: the end of a colour, instead of those three.
    end: Option<Vec<u8>>,
    /// `ln=target`: links have the colour of their target.
    pub(super) link_as_target: bool,
}

impl LsColors {
    /// Parses the value of the variable.
    pub(super) fn parse(text: &[u8]) -> Self {
        let mut colors = Self {
            colors: BUILT_IN.map(|(_, _, color)| set(color.to_vec())),
            extensions: Vec::new(),
            left: b"\x1b[".to_vec(),
            right: b"m".to_vec(),
            reset: b"0".to_vec(),
            end: None,
            link_as_target: false,
        };
        let mut rest = text;
        while !rest.is_empty() {
            let (key, after_key) = part(rest, b"=:");
            if after_key.first() != Some(&b'=') {
                // An empty entry is passed over.
                if key.is_empty() && !after_key.is_empty() {
                    rest = &after_key[1..];
                    continue;
                }
                break;
            }
            let (value, after_value) = part(&after_key[1..], b":");
            colors.set(&key, value);
            rest = after_value.get(1..).unwrap_or_default();
        }
        colors.settle_case();
        colors
    }

    fn set(&mut self, key: &[u8], value: Vec<u8>) {
        if let Some(end) = key.strip_prefix(b"*") {
            self.extensions.push(Extension {
                end: end.to_vec(),
                color: value,
                exact: false,
            });
            return;
        }
        match key {
            b"lc" => self.left = value,
            b"rc" => self.right = value,
            b"rs" => self.reset = value,
            b"ec" => self.end = Some(value),
            _ => {
                if key == b"ln" {
                    self.link_as_target = value == b"target";
                }
                let place = BUILT_IN.iter().position(|(_, name, _)| key == *name);
                if let Some(place) = place {
                    self.colors[place] = set(value);
                }
            }
        }
    }

    /// Decides for each end of a name whether case counts. It counts only if the list has the same
    /// end in other letters and with another colour.
    fn settle_case(&mut self) {
        let all = self.extensions.clone();
        for extension in &mut self.extensions {
            extension.exact = all.iter().any(|other| {
                other.end != extension.end
                    && other.end.eq_ignore_ascii_case(&extension.end)
                    && other.color != extension.color
            });
        }
    }

    /// Returns the colour of a key, if it has one.
    pub(super) fn get(&self, key: Key) -> Option<&[u8]> {
        self.colors[key as usize].as_deref()
    }

    /// Returns the colour of a name by its end.
    pub(super) fn of_name(&self, name: &[u8]) -> Option<&[u8]> {
        let fits = |extension: &&Extension| {
            let begin = name.len().checked_sub(extension.end.len());
            begin.is_some_and(|begin| {
                let end = &name[begin..];
                if extension.exact {
                    end == extension.end
                } else {
                    end.eq_ignore_ascii_case(&extension.end)
                }
            })
        };
        let found = self.extensions.iter().rev().find(fits);
        found.map(|extension| &extension.color[..])
    }

    /// Appends the end of a colour.
    pub(super) fn write_end(&self, out: &mut Vec<u8>) {
        match &self.end {
            Some(end) => out.extend_from_slice(end),
            None => {
                for part in [&self.left, &self.reset, &self.right] {
                    out.extend_from_slice(part);
                }
            }
        }
    }
}

/// Returns a colour. None if it is nothing but zeros.
fn set(color: Vec<u8>) -> Option<Vec<u8>> {
    let plain = color.iter().all(|byte| *byte == b'0');
    (!plain).then_some(color)
}

/// Reads up to one of `ends`, and resolves escapes. Returns the text, and the rest from that end
/// on.
fn part<'a>(text: &'a [u8], ends: &[u8]) -> (Vec<u8>, &'a [u8]) {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if ends.contains(&byte) {
            break;
        }
        let (byte, used) = match byte {
            b'\\' => escape(&text[at..]),
            b'^' => control(&text[at..]),
            _ => (byte, 1),
        };
        out.push(byte);
        at += used;
    }
    (out, &text[at..])
}

/// Returns the byte that a backslash escape stands for, and the length of the escape.
fn escape(text: &[u8]) -> (u8, usize) {
    let Some(&letter) = text.get(1) else {
        return (b'\\', 1);
    };
    let byte = match letter {
        b'a' => 7,
        b'b' => 8,
        b'e' => 27,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'?' => 127,
        b'_' => b' ',
        b'0'..=b'7' => return digits(text, 1, 8),
        b'x' | b'X' => return digits(text, 2, 16),
        other => other,
    };
    (byte, 2)
}

/// Returns the byte that octal or hexadecimal digits from `start` on give, and the position after
/// them.
fn digits(text: &[u8], start: usize, radix: u8) -> (u8, usize) {
    let mut at = start;
    let mut byte = 0_u8;
    while let Some(digit) = text
        .get(at)
        .and_then(|b| char::from(*b).to_digit(radix.into()))
    {
        byte = byte.wrapping_mul(radix).wrapping_add((digit & 0xf) as u8);
        at += 1;
    }
    (byte, at)
}

/// Returns the byte that a caret and a letter stand for, and their length.
fn control(text: &[u8]) -> (u8, usize) {
    match text.get(1) {
        Some(b'?') => (127, 2),
        Some(letter @ b'@'..=b'~') => (letter & 0x1f, 2),
        _ => (b'^', 1),
    }
}

#[cfg(test)]
mod tests {
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
}
