use super::*;

fn parse(words: &[&str]) -> Result<Command, String> {
    let words = words.iter().map(OsString::from).collect();
    let paths = vec![OsString::from("/top")];
    parse_filter(&Context::from_environment(), words, paths).map_err(|refusal| match refusal {
        Refusal::Wrong(messages) => messages.join("\n"),
        other => format!("{other:?}"),
    })
}

#[test]
fn expressions_without_effects() {
    for words in [
        &[][..],
        &["-name", "*.o"],
        &["-name", ".git", "-prune", "-o", "-size", "+1M"],
        &["(", "-type", "f", "-o", "-type", "d", ")", "!", "-empty"],
        &["-H", "-maxdepth", "2", "-xdev", "-type", "f"],
    ] {
        let command = parse(words).unwrap();
        assert_eq!(command.paths, ["/top"]);
        assert!(command.sinks.is_empty());
    }
}

#[test]
fn words_with_effects_are_refused() {
    for (words, word) in [
        (&["-print"][..], "-print"),
        (&["-name", "x", "-print0"], "-print0"),
        (&["-fprint", "/dev/null"], "-fprint"),
        (&["-printf", "%p"], "-printf"),
        (&["-ls"], "-ls"),
        (&["-type", "f", "-delete"], "-delete"),
        (&["-exec", "true", ";"], "-exec"),
        (&["-exec", "true", "{}", "+"], "-exec"),
        (&["-ok", "true", ";"], "-ok"),
        (&["!", "(", "-name", "x", "-o", "-quit", ")"], "-quit"),
        (&["-name", "x", ",", "-quit"], "-quit"),
        (&["-L", "-name", "x"], "-L"),
        (&["-follow"], "-L"),
        (&["-files0-from", "list"], "-files0-from"),
        (&["-D", "tree", "-name", "x"], "-D"),
    ] {
        let message = parse(words).unwrap_err();
        let expected = format!("`{word}' cannot be used in a filter: ");
        assert!(message.starts_with(&expected), "{words:?}: {message}");
    }
}

#[test]
fn mistakes_have_the_messages_of_find() {
    assert_eq!(
        parse(&["-nam", "x"]).unwrap_err(),
        "unknown predicate `-nam'\ndid you mean `-name'?"
    );
    assert_eq!(
        parse(&["-name"]).unwrap_err(),
        "missing argument to `-name'"
    );
    let message = parse(&["/elsewhere", "-name", "x"]).unwrap_err();
    assert!(
        message.contains("`/elsewhere' is not part of an expression"),
        "{message}"
    );
    assert!(parse(&["--from", "x"]).is_err());
}
