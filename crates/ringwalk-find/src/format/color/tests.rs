use super::super::fake::Fake;
use super::*;

fn colored(ls_colors: &str, file: &Fake) -> String {
    let mut out = Vec::new();
    let colors = Colors::parse(ls_colors.as_bytes());
    colors.write_path(file, &mut out);
    String::from_utf8(out).unwrap()
}

fn file(path: &str, file_type: FileType, mode: u32) -> Fake {
    let mut file = Fake {
        path: path.into(),
        file_type,
        ..Fake::default()
    };
    file.metadata.as_mut().unwrap().set_permissions(mode);
    file
}

#[test]
fn fields() {
    let fields = |value: &str| Colors::parse(value.as_bytes()).fields();
    assert_eq!(fields(""), Fields::MODE);
    let no_modes = "ex=0:su=0:sg=0:tw=0:ow=0:st=0";
    assert_eq!(fields(no_modes), Fields::empty());
    assert_eq!(fields("mh=1"), Fields::MODE | Fields::NLINK);
}

#[test]
fn directories_are_coloured_in_paths() {
    let regular = file("c/f", FileType::Regular, 0o644);
    assert_eq!(colored("", &regular), "\x1b[01;34mc/\x1b[0mf");
    assert_eq!(colored("di=0", &regular), "c/f");
    assert_eq!(colored("fi=2:lc=<:rc=>", &regular), "<01;34>c/<0><2>f<0>");
    assert_eq!(colored("ec=!:di=1", &regular), "\x1b[1mc/!f");
    let plain = "lc=<:rc=>:ec=!:di=1";
    for (path, expected) in [
        ("c", "<1>c!"),
        ("c//", "<1>c//!"),
        ("/", "<1>/!"),
        ("./c//dir/", "<1>./c//!<1>dir/!"),
    ] {
        let directory = file(path, FileType::Directory, 0o755);
        assert_eq!(colored(plain, &directory), expected);
    }
}

#[test]
fn modes() {
    let all = "lc=<:rc=>:ec=!:su=1:sg=2:ex=3:st=6:tw=7:ow=8:di=9:fi=f:no=n";
    let regular = |mode| colored(all, &file("f", FileType::Regular, mode));
    assert_eq!(regular(0o6755), "<1>f!");
    assert_eq!(regular(0o2755), "<2>f!");
    assert_eq!(regular(0o601), "<3>f!");
    assert_eq!(regular(0o644), "<f>f!");
    let directory = |mode| colored(all, &file("d", FileType::Directory, mode));
    assert_eq!(directory(0o1777), "<7>d!");
    assert_eq!(directory(0o777), "<8>d!");
    assert_eq!(directory(0o1755), "<6>d!");
    assert_eq!(directory(0o755), "<9>d!");
    let sticky = file("d", FileType::Directory, 0o1777);
    assert_eq!(colored("lc=<:rc=>:ec=!:tw=0:ow=0", &sticky), "<37;44>d!");
    let mut linked = file("f.c", FileType::Regular, 0o644);
    linked.metadata.as_mut().unwrap().set_nlink(2);
    assert_eq!(colored("lc=<:rc=>:ec=!:mh=4:*.c=5", &linked), "<4>f.c!");
    assert_eq!(colored("lc=<:rc=>:ec=!:*.c=5", &linked), "<5>f.c!");
}

#[test]
fn types() {
    let all = "lc=<:rc=>:ec=!:bd=1:cd=2:pi=3:so=4:no=5";
    for (file_type, color) in [
        (FileType::BlockDevice, "1"),
        (FileType::CharacterDevice, "2"),
        (FileType::Fifo, "3"),
        (FileType::Socket, "4"),
        (FileType::Unknown, "5"),
        (FileType::Regular, "5"),
    ] {
        let expected = format!("<{color}>x!");
        assert_eq!(colored(all, &file("x", file_type, 0)), expected);
    }
    let bare = "lc=<:rc=>:ec=!:bd=0:no=3";
    assert_eq!(colored(bare, &file("x", FileType::BlockDevice, 0)), "<3>x!");
}

#[test]
fn links() {
    let all = "lc=<:rc=>:ec=!:ln=1:or=2";
    let mut link = file("l", FileType::Symlink, 0o777);
    assert_eq!(colored(all, &link), "<1>l!");
    link.target_type = Err(Errno::NOENT);
    assert_eq!(colored(all, &link), "<2>l!");
    assert_eq!(colored("lc=<:rc=>:ec=!:ln=1", &link), "<1>l!");
}

#[test]
fn links_as_what_they_lead_to() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    std::os::unix::fs::symlink(".", at("to")).unwrap();
    std::os::unix::fs::symlink("no", at("orphan")).unwrap();
    std::os::unix::fs::symlink("loop", at("loop")).unwrap();
    let name = |name: &str| {
        let path = at(name);
        let link = file(path.to_str().unwrap(), FileType::Symlink, 0o777);
        let all = "lc=<:rc=>:ec=!:ln=target:di=1:or=2:mi=3";
        let colored = colored(all, &link);
        colored.rsplit_once("/!").unwrap().1.to_owned()
    };
    assert_eq!(name("to"), "<1>to!");
    assert_eq!(name("orphan"), "<2>orphan!");
    assert_eq!(name("loop"), "<3>loop!");
}

#[test]
fn terminals_get_no_escapes_from_names() {
    let odd = file("a\x1b/b\x07", FileType::Regular, 0o644);
    let mut out = Vec::new();
    let colors = Colors::parse(b"lc=<:rc=>:ec=!:di=1");
    colors.write_path_to_terminal(&odd, &mut out);
    assert_eq!(out, b"<1>a?/!b?");
    out.clear();
    colors.write_path(&odd, &mut out);
    assert_eq!(out, b"<1>a\x1b/!b\x07");
}
