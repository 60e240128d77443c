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
mod tests;
