//! Dates as `date -d` of GNU's core utilities reads them. It has the same reader as `find
//! -newermt`.
//!
//! Without such a `date` the tests say so and do nothing.

use proptest::prelude::*;
use ringwalk::Timestamp;
use ringwalk_find::date::parse;
use ringwalk_gnu::civil::Zone;
use std::io::{Seek, Write};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Texts with the same meaning at any time, and some without a meaning.
const FIXED: &str = include_str!("dates.txt");
/// Texts about days on which clocks are set in one zone or another.
const EDGES: &str = include_str!("edges.txt");

/// The parts of random texts.
const PIECES: &str = "2020-01-01 20200315 1/2/2003 2019/12/31 10sep2020 5-feb-01 sep jan, tuesday mon sun. fri, next \
    last this third ago day days week fortnight month months year hour hours min sec seconds now today tomorrow \
    yesterday 1 2 00 07 10 23 24 30 68 69 70 0930 2020 -1 -3 +4 -02 - + , : / . :15 :30 /3 /2010 1.5 -0.25 12:00 \
    10:30 11:45:10.5 12:00:00,25 am pm a.m. p.m. UTC u.t.c Z EST e.s.t edt cet dst A T t j +0200 -05:30 +1:30 (x) (( @5 \
    feb may june, dec. 29 31 2000-02-29 1900-02-29 2020-05-05T10:20:30 noon first TZ=\"EST5EDT\" \\ é";

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Timestamp {
        secs: since.as_secs().try_into().unwrap(),
        nanos: since.subsec_nanos(),
    }
}

/// Returns true if `date` is GNU's.
fn is_gnu() -> bool {
    let output = Command::new("date").arg("--version").output();
    let gnu = output.is_ok_and(|output| {
        String::from_utf8_lossy(&output.stdout).starts_with("date (GNU coreutils)")
    });
    if !gnu {
        println!("skipped: date is not the one of GNU's core utilities");
    }
    gnu
}

/// Returns the answers of `date` for some texts, in their order. None for a text that `date`
/// refuses.
fn answers(texts: &[&str], zone: &str) -> Vec<Option<Timestamp>> {
    let mut file = tempfile::tempfile().unwrap();
    for text in texts {
        writeln!(file, "{text}").unwrap();
    }
    file.rewind().unwrap();
    let output = Command::new("sh")
        .args(["-c", "exec stdbuf -oL date -f - +%s.%N 2>&1"])
        .env("TZ", zone)
        .env("LC_ALL", "C")
        .stdin(file)
        .output()
        .unwrap();
    let lines = String::from_utf8_lossy(&output.stdout);
    let answers: Vec<_> = lines.lines().map(answer).collect();
    assert_eq!(answers.len(), texts.len(), "{lines}");
    answers
}

fn answer(line: &str) -> Option<Timestamp> {
    let Some((secs, nanos)) = line.split_once('.') else {
        assert!(line.contains("invalid date"), "{line}");
        return None;
    };
    if line.contains("invalid date") {
        return None;
    }
    Some(Timestamp {
        secs: secs.parse().unwrap(),
        nanos: nanos.parse().unwrap(),
    })
}

/// Returns the texts that `date` reads otherwise. Its notion of the present lies between two of
/// ours.
fn differences(texts: &[&str], zone: &str) -> Vec<String> {
    let before = now();
    let expected = answers(texts, zone);
    let after = now();
    let here = Zone::named(zone);
    let read = |text: &str, now| parse(text.as_bytes(), now, &here);
    let key = |time: Timestamp| (time.secs, time.nanos);
    let mut found = Vec::new();
    for (text, theirs) in texts.iter().zip(expected) {
        let ours = (read(text, before), read(text, after));
        let same = match (ours.0, theirs, ours.1) {
            (None, None, None) => true,
            (Some(first), Some(theirs), Some(last)) => {
                key(first) <= key(theirs) && key(theirs) <= key(last)
            }
            _ => false,
        };
        if !same {
            found.push(format!("{text:?} in {zone}: {theirs:?}, not {:?}", ours.0));
        }
    }
    found
}

#[test]
fn fixed_texts() {
    if !is_gnu() {
        return;
    }
    let texts: Vec<_> = FIXED.lines().collect();
    assert!(texts.len() > 300);
    for zone in ["UTC0", "Asia/Kathmandu", "EST5", "<-03>3"] {
        assert_eq!(differences(&texts, zone), Vec::<String>::new());
    }
}

/// `date` remembers the distance from UTC from one date to the next, and uses it to choose between
/// two times of the same name. So a separate `date` reads each of these.
#[test]
fn edges() {
    if !is_gnu() {
        return;
    }
    let zones = [
        "Europe/Berlin",
        "America/New_York",
        "America/Sao_Paulo",
        "Australia/Lord_Howe",
        "EST5EDT,M3.2.0,M11.1.0",
        "XYZ5ABC",
    ];
    for zone in zones {
        for text in EDGES.lines() {
            assert_eq!(differences(&[text], zone), Vec::<String>::new());
        }
    }
}

fn text() -> impl Strategy<Value = String> {
    let pieces: Vec<_> = PIECES
        .split(' ')
        .filter(|piece| !piece.is_empty())
        .collect();
    let piece = prop::sample::select(pieces);
    let space = prop::sample::select(vec!["", " ", " ", " ", "\t "]);
    prop::collection::vec((piece, space), 1..6).prop_map(|parts| {
        let mut text = String::new();
        for (piece, space) in parts {
            text += piece;
            text += space;
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 300, ..ProptestConfig::default() })]

    #[test]
    fn random_texts(texts in prop::collection::vec(text(), 100)) {
        if is_gnu() {
            let texts: Vec<_> = texts.iter().map(String::as_str).collect();
            prop_assert_eq!(differences(&texts, "UTC0"), Vec::<String>::new());
        }
    }
}
