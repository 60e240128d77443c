//! Completion in fish.

use std::fmt::Write;

use super::completion::words;
use ringwalk_find::table::Argument;

pub(super) fn extend(script: &str) -> Option<String> {
    // The function, written by clap, that returns which subcommand is used.
    script
        .contains("function __fish_ringwalk_using_subcommand\n")
        .then(|| format!("{script}{}", lines()))
}

/// Returns the code of fish that completes a kind of argument.
fn answer(argument: Argument) -> String {
    match argument {
        Argument::File => " -r -F".to_owned(),
        Argument::Command => " -x -a '(__fish_complete_command)'".to_owned(),
        Argument::User => " -x -a '(__fish_complete_users)'".to_owned(),
        Argument::Group => " -x -a '(__fish_complete_groups)'".to_owned(),
        Argument::OneOf(choices) => format!(" -x -a '{}'", choices.join(" ")),
        Argument::Other => " -x".to_owned(),
    }
}

fn lines() -> String {
    let mut text = String::new();
    for (name, entry) in words() {
        let summary = entry.summary().replace('\\', "\\\\").replace('\'', "\\'");
        // fish has three kinds of options: -x, -word and --word.
        let form = match name.strip_prefix("--") {
            Some(long) => format!("-l {long}"),
            None if name.len() == 2 => format!("-s {}", &name[1..]),
            None => format!("-o {}", &name[1..]),
        };
        let answer = entry.argument().map_or(String::new(), answer);
        let _ = writeln!(
            text,
            "complete -c ringwalk -n '__fish_ringwalk_using_subcommand find' {form}{answer} -d '{summary}'"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_each_word() {
        let script = extend("function __fish_ringwalk_using_subcommand\nend\n").unwrap();
        for line in [
            "find' -o maxdepth -x -d 'Go down at most so many levels below the starting points'",
            "find' -s H -d '",
            "find' -l help -d '",
            "find' -o newermt -r -F -d '",
            "find' -o xtype -x -a 'b c d f l p s' -d '",
        ] {
            assert!(script.contains(line), "{line}\n{script}");
        }
        assert_eq!(extend("something else"), None);
    }
}
