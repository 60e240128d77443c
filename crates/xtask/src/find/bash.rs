//! Completion in bash.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::completion::{insert, words};
use ringwalk_find::table::Argument;

/// The first test in clap's function: whether the words before the cursor belong to `find`.
const HOOK: &str = r#"    local word skip=
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        if [[ -n $skip ]]; then
            skip=
        elif [[ $word == --source || $word == --workers || $word == --in-flight || $word == --prefetch || $word == --progress ]]; then
            skip=1
        elif [[ $word == find ]]; then
            _ringwalk_find "$2" "$3"
            return
        elif [[ $word != -* && $word != = ]]; then
            break
        fi
    done
"#;

pub(super) fn extend(script: &str) -> Option<String> {
    Some(function() + &insert(script, "_ringwalk() {", HOOK)?)
}

/// Returns the code of bash that completes a kind of argument.
fn answer(argument: Argument) -> String {
    match argument {
        Argument::File => {
            "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$1\"))".to_owned()
        }
        Argument::Command => "COMPREPLY=($(compgen -c -- \"$1\"))".to_owned(),
        Argument::User => "COMPREPLY=($(compgen -u -- \"$1\"))".to_owned(),
        Argument::Group => "COMPREPLY=($(compgen -g -- \"$1\"))".to_owned(),
        Argument::OneOf(choices) => format!(
            "COMPREPLY=($(compgen -W '{}' -- \"$1\"))",
            choices.join(" ")
        ),
        Argument::Other => "COMPREPLY=()".to_owned(),
    }
}

/// The function for the words of `find`: `$1` is the word at the cursor, `$2` the one before.
fn function() -> String {
    let mut cases: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, entry) in words() {
        if let Some(argument) = entry.argument() {
            cases.entry(answer(argument)).or_default().push(name);
        }
    }
    let mut text = String::from("_ringwalk_find() {\n    local IFS=$' \\t\\n'\n    case $2 in\n");
    for (answer, names) in cases {
        let _ = writeln!(
            text,
            "        {})\n            {answer}\n            return\n            ;;",
            names.join("|")
        );
    }
    let all: Vec<String> = words().map(|(name, _)| name).collect();
    let _ = writeln!(
        text,
        "    esac\n    if [[ $1 == -* ]]; then\n        COMPREPLY=($(compgen -W '{}' -- \"$1\"))\n    else\n        \
compopt -o filenames 2>/dev/null\n        COMPREPLY=($(compgen -f -- \"$1\"))\n    fi\n}}\n",
        all.join(" ")
    );
    text
}

#[cfg(test)]
mod tests {
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
}
