use super::super::fake::Fake;
use super::*;
use rustix::io::Errno;

const TERMS: Terms = Terms {
    now: 1_800_000_000,
    posix: false,
};

fn line(file: &Fake, columns: &Columns) -> String {
    let mut out = Vec::new();
    write(file, columns, &TERMS, false, &mut out);
    String::from_utf8(out).unwrap()
}

fn fake(change: impl FnOnce(&mut Metadata)) -> Fake {
    let mut file = Fake {
        path: b"o/1".to_vec(),
        ..Fake::default()
    };
    change(file.metadata.as_mut().unwrap());
    file
}

fn device(rdev: u64) -> Fake {
    fake(|metadata| {
        metadata.set_file_type(FileType::CharacterDevice);
        metadata.set_rdev(rdev);
    })
}

#[test]
fn a_file() {
    let file = fake(|metadata| metadata.set_gid(0));
    assert_eq!(
        line(&file, &Columns::new()),
        "  1401217      2 -rw-r--r--   1 root     root            6 Nov 10  2020 o/1\n"
    );
    let mut out = Vec::new();
    let posix = Terms {
        posix: true,
        ..TERMS
    };
    write(&file, &Columns::new(), &posix, false, &mut out);
    assert!(out.starts_with(b"  1401217      3 -"));
}

#[test]
fn columns_grow() {
    let columns = Columns::new();
    let wide = fake(|metadata| {
        metadata.set_ino(12_345_678_901);
        metadata.set_blocks(99_999_999);
        metadata.set_nlink(54_321);
        metadata.set_uid(4_294_967_290);
        metadata.set_gid(4_294_967_291);
        metadata.set_size(123_456_789_012);
    });
    assert_eq!(
        line(&wide, &columns),
        "12345678901 50000000 -rw-r--r-- 54321 4294967290 4294967291 123456789012 Nov 10  2020 o/1\n"
    );
    assert_eq!(
        line(&fake(|_| ()), &columns),
        "    1401217        2 -rw-r--r--     1 root        12                    6 Nov 10  2020 o/1\n"
    );
}

#[test]
fn owners_without_names_have_a_column_of_their_own() {
    let columns = Columns::new();
    let owned = |uid| line(&fake(|metadata| metadata.set_uid(uid)), &columns)[32..].to_owned();
    assert_eq!(owned(7777), "7777     12              6 Nov 10  2020 o/1\n");
    assert_eq!(owned(0), "root      12              6 Nov 10  2020 o/1\n");
    assert_eq!(owned(7777), "7777     12              6 Nov 10  2020 o/1\n");
    assert_eq!(
        owned(4_294_967_290),
        "4294967290 12              6 Nov 10  2020 o/1\n"
    );
    assert_eq!(owned(0), "root        12              6 Nov 10  2020 o/1\n");
}

#[test]
fn devices_have_columns_of_their_own() {
    let columns = Columns::new();
    let numbers = |file: &Fake| line(file, &columns)[50..].to_owned();
    assert_eq!(numbers(&device(0x801)), "  8,   1 Nov 10  2020 o/1\n");
    assert_eq!(numbers(&device(0x40_0001)), "  0, 1025 Nov 10  2020 o/1\n");
    assert_eq!(numbers(&device(0x801)), "  8,    1 Nov 10  2020 o/1\n");
    assert_eq!(numbers(&fake(|_| ())), "       6 Nov 10  2020 o/1\n");
    let unknown = fake(|metadata| metadata.set_file_type(FileType::BlockDevice));
    assert_eq!(numbers(&unknown), "  ?,    ? Nov 10  2020 o/1\n");
}

#[test]
fn names() {
    let mut file = fake(|_| ());
    file.path = b"a b\"c\\d'\n\t\x07\x0b\x7f\xc3\xa9".to_vec();
    file.link_target = Some(b"to\rwards".to_vec());
    let line = line(&file, &Columns::new());
    let expected = " a\\ b\\\"c\\\\d'\\n\\t\\007\\013\\177\\303\\251 -> to\\rwards\n";
    assert!(line.ends_with(expected), "{line}");
}

#[test]
fn names_of_accounts_do_not_command_a_terminal() {
    let mut file = fake(|metadata| metadata.set_gid(0));
    file.account = b"u\x1b".to_vec();
    let owners = |terminal| {
        let mut out = Vec::new();
        write(&file, &Columns::new(), &TERMS, terminal, &mut out);
        String::from_utf8(out).unwrap()
    };
    assert!(owners(true).contains(" u?       u?       "));
    assert!(owners(false).contains(" u\u{1b}       u\u{1b}       "));
}

#[test]
fn without_metadata() {
    let file = Fake {
        metadata: Err(Errno::NOENT),
        ..Fake::default()
    };
    let mut out = Vec::new();
    write_ls(&file, &mut out);
    assert_eq!(out, b"");
}
