use super::*;
use std::process::Command;

fn show(name: &[u8]) -> String {
    quoted_bytes(name).to_string()
}

#[test]
fn styles() {
    assert_eq!(show(b"name"), "'name'");
    assert_eq!(show(b""), "''");
    assert_eq!(show(b"it's"), "\"it's\"");
    assert_eq!(show("gr\u{fc}n".as_bytes()), "'gr\u{fc}n'");
    assert_eq!(show(b"a\nb"), r"'a'$'\n''b'");
    assert_eq!(show(b"\x1b[2J"), r"''$'\033''[2J'");
    assert_eq!(show(b"\xff"), r"''$'\377'");
    assert_eq!(show("\u{202e}".as_bytes()), r"''$'\342\200\256'");
    assert_eq!(show(b"$it's"), r"'$it'$'\'''s'");
}

#[test]
fn a_shell_reads_back_every_byte() {
    let mut name: Vec<u8> = (1..=255).collect();
    name.extend_from_slice(b"it's \"$x\" `y` \\n 12");
    name.extend_from_slice("\u{1f600}\u{202e}\u{85}7".as_bytes());
    let script = format!("printf %s {}", show(&name));
    let output = Command::new("bash")
        .arg("-c")
        .arg(script)
        .output()
        .expect("bash runs");
    assert_eq!(output.stdout, name);
}

#[test]
fn shown_names_hold_no_controls() {
    let mut out = String::new();
    push_shown(&mut out, b"a\x1b[31m\n\xffb\xc2\x85");
    assert_eq!(out, "a?[31m??b?");
}
