//! Unit tests of `bash.rs`.

use super::*;
use std::process::Command;

/// What bash offers at the end of a command line.
fn offered(words: &[&str]) -> Vec<String> {
    let script = extend("_ringwalk() {\n    COMPREPLY=(clap)\n}\n").unwrap();
    let last = words.len() - 1;
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let run = format!(
        "{script}\nCOMP_WORDS=({})\nCOMP_CWORD={last}\n_ringwalk ringwalk '{}' '{}'\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
        quoted.join(" "),
        words[last],
        words[last - 1]
    );
    let output = Command::new("bash").args(["-c", &run]).output().unwrap();
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn what_bash_offers() {
    if Command::new("bash").arg("--version").output().is_err() {
        println!("skipped: bash is not installed");
        return;
    }
    assert_eq!(offered(&["ringwalk", "find", "-maxd"]), ["-maxdepth"]);
    assert_eq!(
        offered(&["ringwalk", "--workers", "2", "find", "t", "-newerm"]).len(),
        5
    );
    assert_eq!(offered(&["ringwalk", "find", "-type", ""]).len(), 7);
    assert_eq!(offered(&["ringwalk", "find", "-user", "roo"]), ["root"]);
    assert_eq!(
        offered(&["ringwalk", "find", "-regextype", "posix-e"]),
        ["posix-egrep", "posix-extended"]
    );
    assert_eq!(
        offered(&["ringwalk", "find", "-newer", "/dev/nul"]),
        ["/dev/null"]
    );
    assert_eq!(offered(&["ringwalk", "find", "/dev/nul"]), ["/dev/null"]);
    assert_eq!(offered(&["ringwalk", "count", "-"]), ["clap"]);
    assert_eq!(offered(&["ringwalk", "du", "find", "-"]), ["clap"]);
    assert_eq!(offered(&["ringwalk", "--source", "find", ""]), ["clap"]);
}
