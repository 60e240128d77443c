//! The results of the parser. `tests/messages.rs` compares messages with GNU find.

mod arguments;

use super::{Context, Refusal, parse_expression, parse_in};
use crate::expression::{Command, Debug, EntryTest, Expression, Sink, Test};
use ringwalk::{Follow, Stay, Timestamp};
use ringwalk_gnu::civil::Zone;
use std::ffi::OsString;
use std::fmt::Write;

const NOW: Timestamp = Timestamp {
    secs: 1_700_000_000,
    nanos: 500_000_000,
};

fn parse_words(words: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Command, Refusal> {
    let context = Context::at(NOW, Zone::named("UTC0"));
    parse_in(&context, words.into_iter().map(Into::into).collect())
}

/// Parses a line of words with blanks between them.
fn command(line: &str) -> Command {
    parse_words(line.split(' ').filter(|word| !word.is_empty())).expect(line)
}

fn refusal(line: &str) -> Vec<String> {
    match parse_words(line.split(' ').filter(|word| !word.is_empty())) {
        Err(Refusal::Wrong(messages)) => messages,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn an_expression_alone_takes_its_starting_points_as_they_are() {
    let expression = |line: &str| {
        let context = Context::at(NOW, Zone::named("UTC0"));
        let words = line.split(' ').filter(|word| !word.is_empty());
        let words = words.map(OsString::from).collect();
        parse_expression(&context, words, vec!["-odd".into()])
    };
    for line in ["", "-name x", "-L -name x", "( -name x )", "! -name x"] {
        let command = expression(line).expect(line);
        assert_eq!(command.paths, ["-odd"]);
    }
    assert_eq!(expression("-L -name x").unwrap().follow, Follow::Always);
    for line in ["x", ".", "-L x -name x", "x -name x"] {
        let refused = expression(line).unwrap_err();
        let Refusal::Wrong(messages) = refused else {
            panic!("{refused:?}")
        };
        assert!(
            messages[0].starts_with("no part of an expression"),
            "{messages:?}"
        );
    }
}

/// Returns an expression with its operators before their operands: `(and -name:a -print)`.
fn show(expression: &Expression) -> String {
    let several = |name: &str, operands: &[Expression]| {
        let mut text = format!("({name}");
        for operand in operands {
            let _ = write!(text, " {}", show(operand));
        }
        text + ")"
    };
    let words = |words: &[OsString]| {
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        words.join(":")
    };
    match expression {
        Expression::Test(leaf) => words(&leaf.words),
        Expression::Action(leaf) => words(&leaf.words),
        Expression::Not(operand) => several("not", std::slice::from_ref(operand)),
        Expression::And(operands) => several("and", operands),
        Expression::Or(operands) => several("or", operands),
        Expression::List(operands) => several("list", operands),
    }
}

fn shape(line: &str) -> String {
    show(&command(line).expression)
}

/// Returns the first test of the expression.
fn test(line: &str) -> Test {
    let mut expression = command(line).expression;
    loop {
        expression = match expression {
            Expression::Test(leaf) => return leaf.is,
            Expression::And(operands) => operands.into_iter().next().expect("not empty"),
            other => panic!("{line}: {other:?}"),
        }
    }
}

#[test]
fn precedence() {
    for (line, expected) in [
        ("", "-print"),
        ("t", "-print"),
        ("-name a", "(and -name:a -print)"),
        ("-name a -name b", "(and -name:a -name:b -print)"),
        (
            "-true -a -false -and -true",
            "(and -true -false -true -print)",
        ),
        (
            "-true -o -false -or -true",
            "(and (or -true -false -true) -print)",
        ),
        ("-true , -false , -print", "(list -true -false -print)"),
        (
            "-name a -o -name b -print",
            "(or -name:a (and -name:b -print))",
        ),
        ("! -true -false", "(and (not -true) -false -print)"),
        (
            "-not ( -true -o -false ) -print",
            "(and (not (or -true -false)) -print)",
        ),
        ("( ( -true ) )", "(and -true -print)"),
        ("! ! -true -print", "(and -true -print)"),
        ("! -! ! -true -print", "(and (not -true) -print)"),
        (
            "-true -o -false , -true -false -o -print",
            "(list (or -true -false) (or (and -true -false) -print))",
        ),
        ("-( -true -) -, -print", "(list -true -print)"),
        (
            "-name -o -o -name -print -ls",
            "(or -name:-o (and -name:-print -ls))",
        ),
    ] {
        assert_eq!(shape(line), expected, "{line}");
    }
}

#[test]
fn print_is_added_unless_there_is_another_action() {
    for line in [
        "-prune",
        "-quit",
        "-true",
        "-maxdepth 1",
        "-name a -o -prune",
    ] {
        assert!(shape(line).ends_with(" -print)"), "{line}");
    }
    for line in [
        "-delete",
        "-exec a ;",
        "-exec a {} +",
        "-execdir a ;",
        "-ok a ;",
        "-okdir a ;",
        "-ls",
        "-fls f",
        "-print",
        "-print0",
        "-fprint f",
        "-fprint0 f",
        "-printf x",
        "-fprintf f x",
        "-print -o -name a",
        "! ( -print )",
    ] {
        let shape = shape(line);
        assert!(!shape.starts_with("(and"), "{line}: {shape}");
    }
}

#[test]
fn daystart_stands_for_nothing_and_other_options_for_true() {
    assert_eq!(shape("-daystart"), "-print");
    assert_eq!(shape("-daystart -true -daystart"), "(and -true -print)");
    assert_eq!(shape("-follow -depth"), "(and -follow -depth -print)");
    assert!(matches!(test("-nowarn"), Test::Entry(EntryTest::True)));
}

#[test]
fn starting_points() {
    for (line, paths) in [
        ("", &["."][..]),
        ("-true", &["."]),
        ("a b -true", &["a", "b"]),
        ("a - ) , !x (x", &["a", "-", ")", ",", "!x", "(x"]),
        ("-- a", &["a"]),
        ("-H -P -- a !  -true", &["a"]),
        ("-files0-from list", &[]),
    ] {
        assert_eq!(command(line).paths, paths, "{line}");
    }
}

#[test]
fn leading_options() {
    assert_eq!(command("-H -L -P t").follow, Follow::Never);
    assert_eq!(command("-P -H").follow, Follow::CommandLine);
    assert_eq!(command("-L t").follow, Follow::Always);
    for (line, follow) in [
        ("-HL t", Follow::Always),
        ("-LH t", Follow::CommandLine),
        ("-HLP", Follow::Never),
        ("-HLP -L -O2 -PPH t", Follow::CommandLine),
    ] {
        assert_eq!(command(line).follow, follow, "{line}");
    }
    assert_eq!(refusal("-HX t")[0], "unknown predicate `-HX'");
    assert_eq!(command("-P t -follow").follow, Follow::Always);
    for (line, level) in [("", 1), ("-O0", 0), ("-O2", 2), ("-O65535", 3)] {
        assert_eq!(command(line).options.optimization, level, "{line}");
    }
    let debug = |line| command(line).options.debug;
    assert_eq!(
        debug("-D exec,,opt -D rates t"),
        Debug::EXEC | Debug::OPT | Debug::RATES
    );
    assert_eq!(debug("-D all t"), Debug::all());
}

#[test]
fn global_options() {
    let options = command("-true -depth -maxdepth 3 -mindepth 1 -xdev -s -unique -color").options;
    assert!(options.depth_first && options.sorted && options.unique);
    assert_eq!((options.min_depth, options.max_depth), (1, 3));
    assert_eq!((options.stay, options.color), (Stay::Device, Some(true)));
    assert!(command("-ignore_readdir_race").options.ignore_readdir_race);
    let options =
        command("-color -ignore_readdir_race -noignore_readdir_race -nocolor -mount").options;
    assert!(!options.ignore_readdir_race && !options.depth_first);
    assert_eq!((options.stay, options.color), (Stay::Device, Some(false)));
    assert!(command("-delete").options.depth_first);
}

#[test]
fn exclusions_are_taken_out() {
    for (line, expression, exclusions) in [
        ("-exclude -name a", "(and -exclude -print)", "-name:a"),
        (
            "-exclude ( -name a -o -name b ) -ls",
            "(and -exclude -ls)",
            "(or -name:a -name:b)",
        ),
        (
            "-nohidden -exclude ! -name a",
            "(and -nohidden -exclude -print)",
            "(or (not -name:a) -nohidden)",
        ),
        ("-xdev -mount", "(and -xdev -mount -print)", "-mount"),
        (
            "-true -o ! -exclude -name a -name b",
            "(and (or -true (and -exclude -name:b)) -print)",
            "-name:a",
        ),
        ("( -exclude -name a )", "(and -exclude -print)", "-name:a"),
    ] {
        let command = command(line);
        assert_eq!(show(&command.expression), expression, "{line}");
        assert_eq!(show(&command.exclude.expect(line)), exclusions, "{line}");
    }
    assert!(matches!(
        test("! -exclude -true"),
        Test::Entry(EntryTest::False)
    ));
    assert!(matches!(
        test("-exclude -false"),
        Test::Entry(EntryTest::True)
    ));
    for line in [
        "-exclude -print",
        "-exclude ( -true -o -prune )",
        "-exclude ! ( ( -quit ) )",
    ] {
        assert!(
            refusal(line)[0].starts_with("actions are not supported within -exclude"),
            "{line}"
        );
    }
    for line in [
        "-exclude -exclude -true",
        "-exclude ( -true -exclude -true )",
    ] {
        assert_eq!(
            refusal(line),
            ["-exclude is not supported within -exclude"],
            "{line}"
        );
    }
    assert_eq!(
        refusal("-exclude"),
        ["expected an expression after '-exclude'"]
    );
    assert_eq!(
        show(&command("-exclude -true -exclude -false -print").expression),
        "(and -exclude -exclude -print)"
    );
}

#[test]
fn each_file_is_named_once() {
    let command = command(
        "-fprint f -print -fprintf g %p -fls f -fprint0 /dev/stdout -ls -fprint /dev/stderr",
    );
    let named = |name: &str| Sink::File(name.into());
    assert_eq!(
        command.sinks,
        [named("f"), Sink::Stdout, named("g"), Sink::Stderr]
    );
}

#[test]
fn files_are_not_touched_while_understanding() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("made");
    command(&format!(
        "-fprint {0} -fls {0} -exec touch {0} ;",
        file.display()
    ));
    assert!(!file.exists());
}

#[test]
fn no_depth_and_no_length_is_too_much() {
    let nested = |levels: usize| {
        let open = std::iter::repeat_n("(", levels);
        let close = std::iter::repeat_n(")", levels);
        parse_words(open.chain(["-true"]).chain(close))
    };
    assert!(nested(256).is_ok());
    let Err(Refusal::Wrong(messages)) = nested(257) else {
        panic!("accepted");
    };
    assert_eq!(
        messages,
        ["parentheses are nested too deeply: at most 256 levels"]
    );
    assert!(nested(100_000).is_err());
    let nots = std::iter::repeat_n("!", 100_001).chain(["-true"]);
    let command = parse_words(nots).unwrap();
    assert_eq!(show(&command.expression), "(and (not -true) -print)");
    let long = std::iter::repeat_n(["-true", "-o"], 100_000)
        .flatten()
        .chain(["-print"]);
    let Expression::Or(operands) = parse_words(long).unwrap().expression else {
        panic!("no alternatives");
    };
    assert_eq!(operands.len(), 100_001);
}

#[test]
fn what_may_have_been_meant() {
    assert_eq!(
        refusal("-naem a"),
        ["unknown predicate `-naem'", "did you mean `-name'?"]
    );
    assert_eq!(refusal("-foo"), ["unknown predicate `-foo'"]);
    for word in ["--source=ext4", "--source"] {
        let after = refusal(&format!("t {word}"));
        assert_eq!(after[0], format!("unknown predicate `{word}'"));
        assert_eq!(
            after[1],
            "--source must stand before find: ringwalk --source ... find"
        );
    }
    let after = refusal("t -L");
    assert_eq!(after[0], "unknown predicate `-L'");
    assert!(
        after[1].ends_with("must stand before the starting points"),
        "{after:?}"
    );
}

#[test]
fn help_and_version() {
    let answer = |line: &str| parse_words(line.split(' ')).unwrap_err();
    for line in ["-help", "--help", "t -true --help -foo"] {
        assert!(
            matches!(answer(line), Refusal::Help(text) if text.contains("-newerXY")),
            "{line}"
        );
    }
    assert!(matches!(answer("-D help"), Refusal::Help(text) if text.contains("rates")));
    assert_eq!(answer("-version"), Refusal::Version);
    assert_eq!(answer("t --version ("), Refusal::Version);
}

#[test]
fn warnings_come_with_a_refusal() {
    assert_eq!(
        refusal("-warn -name a/b -path b/ -foo").len(),
        3,
        "two warnings and what is wrong"
    );
    // The warning about slashes at the end is given even after -nowarn.
    let warnings = command("-name a/b -path b/").warnings;
    assert!(
        matches!(&warnings[..], [warning] if warning.contains("-path b/")),
        "{warnings:?}"
    );
}
