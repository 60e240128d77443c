//! Completion in zsh.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::completion::{insert, words};
use ringwalk_find::table::Argument;

/// The first test in clap's function: whether the words before the cursor belong to `find`.
const HOOK: &str = r"    local -i at=2
    while (( at < CURRENT )); do
        case $words[at] in
            (--source|--workers|--in-flight|--prefetch|--progress) (( at += 2 )) ;;
            (find) _ringwalk_find; return ;;
            (-*) (( at += 1 )) ;;
            (*) break ;;
        esac
    done
";

pub(super) fn extend(script: &str) -> Option<String> {
    let script = insert(script, "_ringwalk() {", HOOK)?;
    // Before the lines that call or register clap's function.
    let at = script.rfind("if [ \"$funcstack[1]\" = \"_ringwalk\" ]; then\n")?;
    Some(format!(
        "{}{}\n{}",
        &script[..at],
        function(),
        &script[at..]
    ))
}

/// Returns the code of zsh that completes a kind of argument.
fn answer(argument: Argument) -> String {
    match argument {
        Argument::File => "_files".to_owned(),
        Argument::Command => "_command_names -e".to_owned(),
        Argument::User => "_users".to_owned(),
        Argument::Group => "_groups".to_owned(),
        Argument::OneOf(choices) => format!("compadd -- {}", choices.join(" ")),
        Argument::Other => "_message argument".to_owned(),
    }
}

fn function() -> String {
    let mut text = String::from("_ringwalk_find() {\n    local -a known\n    known=(\n");
    let mut cases: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, entry) in words() {
        if let Some(argument) = entry.argument() {
            cases
                .entry(answer(argument))
                .or_default()
                .push(name.clone());
        }
        let summary = entry.summary().replace('\'', "'\\''").replace(':', "\\:");
        let _ = writeln!(text, "        '{name}:{summary}'");
    }
    text.push_str("    )\n    case $words[CURRENT-1] in\n");
    for (answer, names) in cases {
        let _ = writeln!(text, "        ({}) {answer}; return ;;", names.join("|"));
    }
    text.push_str(
        "    esac\n    if [[ $PREFIX == -* ]]; then\n        _describe -o 'word' known\n    else\n        _files\n    fi\n}\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_stands_before_the_call() {
        let end = "if [ \"$funcstack[1]\" = \"_ringwalk\" ]; then\n    _ringwalk \"$@\"\nfi\n";
        let script = extend(&format!(
            "#compdef ringwalk\n\n_ringwalk() {{\n    clap\n}}\n\n{end}"
        ))
        .unwrap();
        assert!(script.starts_with("#compdef ringwalk\n"));
        assert!(script.ends_with(end));
        assert!(script.contains("_ringwalk() {\n    local -i at=2\n"));
        assert!(
            script.contains("'-maxdepth:Go down at most so many levels below the starting points'")
        );
        assert!(script.contains("(-type|-xtype) compadd -- b c d f l p s; return ;;"));
        assert_eq!(extend("something else"), None);
    }
}
