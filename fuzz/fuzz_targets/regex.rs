//! Any regular expression in any syntax, on any path: our automata must give the C library's
//! answer.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ringwalk_find::regex::{Regex, Syntax};
use ringwalk_sys::{CharacterLocale, GnuRegex};

/// The C library takes time and memory without bound for long expressions and large intervals.
const LONGEST: usize = 40;

fuzz_target!(|input: &[u8]| {
    let [choice, rest @ ..] = input else {
        return;
    };
    // The first byte chooses the syntax, whether case counts, and whether text is UTF-8; a zero
    // byte ends the pattern.
    let syntaxes: Vec<&str> = Syntax::names().collect();
    let name = syntaxes[usize::from(choice & 0x3f) % syntaxes.len()];
    let syntax = Syntax::named(name.as_bytes()).expect("it is listed");
    let (fold_case, utf8) = (choice & 0x40 != 0, choice & 0x80 != 0);
    let end = rest
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(rest.len());
    let (pattern, path) = (&rest[..end], rest.get(end + 1..).unwrap_or_default());
    let digits = |pair: &[u8]| pair.iter().all(u8::is_ascii_digit);
    let intervals = pattern.iter().filter(|byte| **byte == b'{').count();
    let shy = syntax.has_shy_groups() && pattern.windows(4).any(|part| part == br"\(?:");
    // The C library has no shy groups.
    if shy
        || pattern.len() > LONGEST
        || path.len() > LONGEST
        || pattern.windows(2).any(digits)
        || intervals > 2
    {
        return;
    }
    let gnu = GnuRegex::new(pattern, syntax.bits(fold_case), CharacterLocale::get(utf8));
    match (gnu, Regex::new(pattern, syntax, fold_case, utf8)) {
        (Ok(gnu), Ok(ours)) => {
            let expected = gnu.matches_whole(path);
            assert_eq!(ours.matches(path), expected);
            assert!(!expected || path.starts_with(ours.literal_prefix()));
        }
        (gnu, ours) => assert_eq!(gnu.err(), ours.err()),
    }
});
