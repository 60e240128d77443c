use super::*;
use crate::parse::parse;
use std::ffi::OsString;

fn command(words: &str) -> Command {
    let words = words.split_whitespace().map(OsString::from).collect();
    parse(words).unwrap()
}

/// Returns the words of all tests and actions, in the order of evaluation.
fn order(words: &str) -> Vec<String> {
    let command = command(words);
    let plan = Plan::new(&command, None);
    let mut leaves = Vec::new();
    collect(&plan.expression, &mut leaves);
    leaves
}

fn collect(step: &Step<'_>, leaves: &mut Vec<String>) {
    match &step.kind {
        StepKind::Test(leaf) => leaves.push(describe::words(&leaf.words)),
        StepKind::Action(leaf) | StepKind::Gather(leaf, _) => {
            leaves.push(describe::words(&leaf.words));
        }
        StepKind::Not(inner) => collect(inner, leaves),
        StepKind::And(parts) | StepKind::Or(parts) | StepKind::List(parts) => {
            for part in parts {
                collect(part, leaves);
            }
        }
    }
}

fn when_of(words: &str) -> When {
    Plan::new(&command(words), None).when
}

#[test]
fn cheap_and_selective_tests_come_first() {
    assert_eq!(
        order("-size +1 -type f -name *.c"),
        ["-name '*.c'", "-type f", "-size +1", "-print"]
    );
    assert_eq!(
        order("( -size +1 -o -name x ) -print"),
        ["-name x", "-size +1", "-print"]
    );
}

#[test]
fn tests_are_not_moved_past_actions() {
    assert_eq!(
        order("-size +1 -print -name x"),
        ["-size +1", "-print", "-name x"]
    );
    assert_eq!(
        order("-size +1 ( -print -o -false ) -name x"),
        ["-size +1", "-print", "-false", "-name x"]
    );
}

#[test]
fn without_optimization_everything_stays_where_it_is() {
    assert_eq!(
        order("-O0 -size +1 -name x"),
        ["-size +1", "-name x", "-print"]
    );
}

#[test]
fn metadata_is_asked_for_as_late_as_pays() {
    assert_eq!(when_of("-name x -type f"), When::Never);
    assert_eq!(when_of("-name x -size +1"), When::Needed);
    assert_eq!(when_of("-type d -mtime 1"), When::Needed);
    // Most files are regular: then it is better to ask for all at once.
    assert_eq!(when_of("-type f -size +1"), When::Always);
    assert_eq!(when_of("-size +1 -o -name x"), When::Always);
    assert_eq!(when_of("-name x -printf %s"), When::Needed);
    assert_eq!(when_of("-printf %p"), When::Never);
    assert_eq!(when_of("-unique"), When::Always);
}

#[test]
fn one_worker_where_the_order_of_actions_counts() {
    for (words, serial) in [
        ("-print", false),
        ("-exec true {} +", false),
        ("-delete", false),
        ("-L . -delete", true),
        ("-exec true {} ;", true),
        ("-name x -quit", true),
        ("-unique", true),
    ] {
        let command = command(words);
        let plan = Plan::new(&command, None);
        assert_eq!(plan.serial.is_some(), serial, "{words}");
    }
}

/// Returns true if the search goes below `path`.
fn reaches(words: &str, path: &str) -> bool {
    Plan::new(&command(words), None).reaches_below(path.as_bytes())
}

#[test]
fn directories_that_lead_to_nothing_are_left_out() {
    let words = "-path ./src/*.c";
    for (path, expected) in [
        (".", true),
        ("./src", true),
        ("./src/deep", true),
        ("./s", false),
        ("./srca", false),
        ("./doc", false),
        ("/", false),
    ] {
        assert_eq!(reaches(words, path), expected, "{path}");
    }
    assert!(reaches("-path ./a* -o -path ./b*", "./b"));
    assert!(!reaches("-path ./a* -o -path ./b*", "./c"));
    assert!(!reaches("-path ./a/b* -path ./a/c*", "./a/b"));
    assert!(reaches("-path ./a/* -path ./a/b*", "./a/b"));
    assert!(!reaches("-path ./a/* -path ./a/b*", "./a/c"));
}

#[test]
fn nothing_that_has_an_effect_is_left_out() {
    for words in [
        "! -path ./a",
        "-path ./a -prune -o -print",
        "-path ./a -o -print",
        "-path ./a -print , -name x -print",
        "-ipath ./a*",
        "-print -path ./a",
        "-O0 -path ./a*",
        "-false",
        "-path *a",
    ] {
        assert!(reaches(words, "./b"), "{words}");
    }
    assert!(!reaches("-path ./a -prune", "./b"));
}

#[test]
fn many_alternatives_are_reckoned_quickly() {
    let one = format!(
        "( {} )",
        (0..50)
            .map(|n| format!("-path ./{n}*"))
            .collect::<Vec<_>>()
            .join(" -o ")
    );
    let all = vec![one.as_str(); 20].join(" ");
    assert!(reaches(&all, "./1"));
}

#[test]
fn the_plan_says_which_moments_files_are_compared_with() {
    let command = command("! -newermt @5.5 -name x");
    let times = Plan::new(&command, None).describe_times();
    assert_eq!(times, ["-newermt @5.5: after 5.500000000"]);
}

#[test]
fn the_plan_says_why() {
    let command = command("-path ./a/* -size +1M -exec true ;");
    let text = Plan::new(&command, None).describe(&command).join("\n");
    for expected in [
        "-size +1M",
        "asked for when it is needed",
        "one (commands",
        "./a/",
    ] {
        assert!(text.contains(expected), "{expected:?} in {text}");
    }
}
