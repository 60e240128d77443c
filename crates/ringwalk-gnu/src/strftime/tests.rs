use super::*;

/// Saturday 3 February 2024, 09:35:06.07 in India.
fn moment() -> Civil {
    Civil {
        year: 2024,
        month: 2,
        day: 3,
        hour: 9,
        minute: 35,
        second: 6,
        weekday: 6,
        yearday: 33,
        offset: 19_800,
        zone: "IST".to_owned(),
        epoch: 1_706_933_106,
        nanos: 70_000_000,
    }
}

fn written(time: &Civil, by: &str) -> String {
    let mut out = Vec::new();
    format(by.as_bytes(), time, &mut out);
    String::from_utf8(out).unwrap()
}

/// Formats, and what GNU du 9.1 made of them.
const SEEN: &[(&str, &str)] = &[
    ("%5d", "00003"),
    ("%-5d", "3"),
    ("%_5d", "    3"),
    ("%5e", "    3"),
    ("%05e", "00003"),
    ("%1d", "3"),
    ("%-_d", " 3"),
    ("%+5d", "00003"),
    ("%10a", "       Sat"),
    ("%010a", "0000000Sat"),
    ("%-10a", "Sat"),
    ("%^a%#a", "SATSAT"),
    ("%p%P%#p%^P", "AMamamam"),
    ("%Z%#Z%10Z", "ISTist       IST"),
    ("%z %:z %::z %:::z", "+0530 +05:30 +05:30:00 +05:30"),
    ("%::::z", "%::::z"),
    ("%:8z", "%:8z"),
    ("%_z", " +530"),
    ("%-z", "+530"),
    ("%8z", "+0000530"),
    ("%_8z", "    +530"),
    ("%_::z", " +5:30:00"),
    ("%-:z", "+5:30"),
    ("%N", "070000000"),
    ("%3N", "070"),
    ("%-N", "07"),
    ("%_N", "07       "),
    ("%12N", "070000000000"),
    ("%_3N", "07 "),
    ("%Ey%Od", "2403"),
    ("%Q%5Q", "%Q  %5Q"),
    ("%E", "%E"),
    ("%", "%"),
    ("%5", "   %5"),
    ("%5%", "   %5%"),
    ("%_%", "%_%"),
    ("%%", "%"),
    ("%n%t", "\n\t"),
    ("%10D", "  02/03/24"),
    ("%010D", "0002/03/24"),
    ("%r", "09:35:06 AM"),
    ("%c", "Sat Feb  3 09:35:06 2024"),
    ("%^c", "SAT FEB  3 09:35:06 2024"),
    ("%x %X %R", "02/03/24 09:35:06 09:35"),
    ("%j%5j%-j", "0340003434"),
    ("%U%V%W%u%w%q", "040505661"),
    ("%s %20s", "1706933106 00000000001706933106"),
    ("%+4C", "+020"),
    ("%OY%Ed%E5d", "%OY%Ed%E5d"),
    ("%OB%Ep", "FebruaryAM"),
    ("%k%l%I", " 9 909"),
    ("%F %8F %+F", "2024-02-03 2024-02-03 2024-02-03"),
    ("%:x%", "%:x%"),
    ("ab%Lcd", "ab%Lcd"),
];

#[test]
fn seen() {
    for (by, expected) in SEEN {
        assert_eq!(&written(&moment(), by), expected, "{by}");
    }
}

#[test]
fn far_years() {
    let at = |year| Civil { year, ..moment() };
    let all = "%Y|%C|%y|%F|%+Y|%_Y|%8Y|%8F|%+8Y";
    assert_eq!(
        written(&at(10_000), all),
        "10000|100|00|+10000-02-03|+10000|10000|00010000|10000-02-03|+0010000"
    );
    assert_eq!(
        written(&at(68), all),
        "0068|00|68|0068-02-03|0068|  68|00000068|68-02-03|+0000068"
    );
    assert_eq!(
        written(&at(-1199), all),
        "-1199|-11|99|-1199-02-03|-1199|-1199|-0001199|-1199-02-03|-0001199"
    );
}

#[test]
fn west_of_utc() {
    let west = Civil {
        offset: -12_600,
        ..moment()
    };
    assert_eq!(written(&west, "%z%:z%:::z"), "-0330-03:30-03:30");
    let utc = Civil {
        offset: 0,
        ..moment()
    };
    assert_eq!(written(&utc, "%z%:::z"), "+0000+00");
}
