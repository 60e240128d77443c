//! Random expressions, as words of a command line.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// A part of a command line.
pub(crate) type Words = Vec<String>;

fn words(text: &str) -> Words {
    text.split(' ').map(str::to_owned).collect()
}

/// Returns one of the words.
fn among(values: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(values).prop_map(str::to_owned)
}

/// Returns one of the phrases, split at spaces.
fn phrase(values: &'static [&'static str]) -> impl Strategy<Value = Words> {
    select(values).prop_map(words)
}

/// Returns a test with one argument.
fn with(
    tests: &'static [&'static str],
    argument: impl Strategy<Value = String>,
) -> impl Strategy<Value = Words> {
    (among(tests), argument).prop_map(|(test, argument)| vec![test, argument])
}

/// Returns a shell pattern of pieces that match some names, and of pieces that break patterns.
fn pattern() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "*",
        "*",
        "?",
        "a",
        "b",
        "ab",
        ".c",
        ".",
        "x",
        "1",
        "[a-c]",
        "[!a]",
        "[ab",
        "]",
        "[[:alpha:]]",
        "[[:upper:]]",
        "\\*",
        "\\",
        "é",
        "{}",
        "-",
        " ",
        "\n",
        "main",
        "!",
        "[^.]",
        "git",
    ];
    vec(select(PIECES), 0..5).prop_map(|pieces| pieces.concat())
}

/// Returns a pattern for whole paths.
fn path_pattern() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "*", "/", "t", "t/", "a", "b", "?", "*/", "/*", "[a-c]", ".c", "links", "./", ".git", "é",
    ];
    prop_oneof![
        vec(select(PIECES), 0..5).prop_map(|pieces| pieces.concat()),
        pattern().prop_map(|pattern| format!("t/{pattern}")),
        pattern().prop_map(|pattern| format!("*/{pattern}")),
    ]
}

/// Returns a regular expression that each syntax accepts, perhaps with another meaning.
fn regex() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        ".*",
        ".",
        "a",
        "b",
        "/",
        "[a-c]",
        "[^/]*",
        "a+",
        "b?",
        "(a|b)",
        "\\(a\\|b\\)",
        "\\.c",
        "[[:alpha:]]",
        "é",
        "x[0-9]*",
        "ab*",
        "\\+",
        "$",
        "^",
    ];
    vec(select(PIECES), 1..5).prop_map(|pieces| format!(".*{}", pieces.concat()))
}

fn number(values: &'static [&'static str]) -> impl Strategy<Value = String> {
    (select(&["", "", "+", "-"][..]), select(values))
        .prop_map(|(sign, number)| format!("{sign}{number}"))
}

/// Returns a test, or another predicate without large effects.
fn leaf() -> impl Strategy<Value = Words> {
    let formats: &[&str] = &[
        "%p\n",
        "%f %s %m\n",
        "%P|%h|%d\n",
        "%y %Y %l\n",
        "%n %u %g %T@\n",
        "%H %k %b\n",
        "",
    ];
    prop_oneof![
        6 => with(&["-name", "-iname"], pattern()),
        3 => with(&["-path", "-ipath", "-wholename"], path_pattern()),
        1 => with(&["-lname", "-ilname"], pattern()),
        2 => with(&["-regex", "-iregex"], regex()),
        5 => with(&["-type", "-xtype"], among(&["f", "d", "l", "p", "s", "f,d", "l,p,s", "f,l,d"])),
        2 => with(&["-size"], (number(&["0", "1", "2", "3", "10"]), select(&["", "c", "w", "b", "k", "M", "G"][..]))
            .prop_map(|(number, unit)| format!("{number}{unit}"))),
        1 => with(&["-links"], number(&["0", "1", "2", "3"])),
        2 => with(&["-perm"], among(&["644", "-644", "/111", "u=rw", "-u+w", "/u+s,g+s", "-0", "/0", "a=r", "-1000"])),
        1 => with(&["-uid", "-gid"], number(&["0", "1", "2", "12345"])),
        1 => with(&["-user", "-group"], among(&["root", "bin", "0", "12345"])),
        2 => with(&["-mtime"], number(&["0", "1", "2", "5", "9.5"])),
        1 => with(&["-mmin"], number(&["1440", "200", "9000"])),
        1 => with(&["-ctime", "-atime"], number(&["7", "20"])),
        1 => with(&["-newer", "-newermm", "-newerma", "-samefile", "-newercm"], among(&["ref", "t", "t/links"])),
        1 => with(&["-newermt", "-newerct"], among(&["2020-01-01", "3 days ago 12:34:56", "@0", "2100-01-01"])),
        1 => with(&["-fstype"], among(&["ext4", "tmpfs", "overlay", "nonsense"])),
        3 => phrase(&["-empty", "-nouser", "-nogroup", "-readable", "-writable", "-executable", "-true", "-false"]),
        2 => phrase(&["-prune"]),
        1 => phrase(&["-print", "-daystart", "-noleaf", "-xdev"]),
        1 => select(formats).prop_map(|format| vec!["-printf".to_owned(), format.to_owned()]),
        1 => with(&["-regextype"], among(&["emacs", "posix-basic", "posix-extended", "egrep", "grep", "awk", "sed"])),
    ]
}

/// Returns an expression with necessary and unnecessary parentheses.
fn expression() -> impl Strategy<Value = Words> {
    leaf().prop_recursive(5, 24, 3, |inner| {
        let operators: &[&[&str]] = &[&[], &[], &["-a"], &["-and"], &["-o"], &["-o"], &["-or"]];
        prop_oneof![
            1 => (among(&["!", "-not"]), inner.clone()).prop_map(|(not, inner)| [vec![not], inner].concat()),
            2 => inner.clone().prop_map(parenthesized),
            1 => (among(&["!", "-not"]), inner.clone())
                .prop_map(|(not, inner)| [vec![not], parenthesized(inner)].concat()),
            8 => (inner.clone(), select(operators), inner.clone()).prop_map(|(left, operator, right)| {
                let operator = operator.iter().map(|&word| word.to_owned()).collect();
                [left, operator, right].concat()
            }),
            // GNU find swaps sides that only test, and then uses the value of the wrong side.
            1 => (inner.clone(), inner).prop_map(|(left, right)| {
                [left, vec![",".to_owned()], parenthesized(right), vec!["-print".to_owned()]].concat()
            }),
        ]
    })
}

fn parenthesized(inner: Words) -> Words {
    let mut all = vec!["(".to_owned()];
    all.extend(inner);
    all.push(")".to_owned());
    all
}

/// Returns a command line without the program's name, for the directory of the tree.
pub(crate) fn command_line() -> impl Strategy<Value = Words> {
    // At -O3 GNU find swaps sides of -o although one of them prunes or prints. That shows in the
    // output.
    let before = phrase(&["-P", "-P", "-P", "-H", "-L", "-O0", "-O1", "-O2", "-L -O2"]);
    let tops = phrase(&[
        "t",
        "t",
        "t",
        "./t",
        "t/",
        "t/links t",
        "t ref",
        "t/a t/b t/links/l0",
    ]);
    let options = vec(
        phrase(&[
            "-maxdepth 1",
            "-maxdepth 2",
            "-mindepth 1",
            "-mindepth 2",
            "-depth",
            "-maxdepth 0",
            "-nowarn",
        ]),
        0..2,
    );
    let line =
        (before, tops, options, expression()).prop_map(|(before, tops, options, expression)| {
            [before, tops, options.concat(), expression].concat()
        });
    line.prop_filter("GNU find may swap sides", |line| !may_be_swapped(line))
}

/// Returns true if GNU find may swap the sides of an `-o` although the left side prints or prunes.
/// GNU find forgets these side effects when at least two predicates follow in the same list:
/// `-print -name a -name b -o -name c` does not print files named `c`. This function returns true
/// too often rather than too rarely.
fn may_be_swapped(line: &[String]) -> bool {
    let is_action = |word: &String| matches!(&**word, "-print" | "-printf" | "-prune");
    let is_or = |word: &String| matches!(&**word, "-o" | "-or");
    let Some(action) = line.iter().position(is_action) else {
        return false;
    };
    let Some(or) = line.iter().rposition(is_or) else {
        return false;
    };
    let between = line.get(action + 1..or).unwrap_or_default();
    let is_predicate = |word: &&String| {
        word.starts_with('-') && !matches!(&***word, "-a" | "-and" | "-not" | "-o" | "-or")
    };
    between.iter().filter(is_predicate).count() >= 2
}

#[test]
fn lines_whose_sides_are_swapped_are_found() {
    let swapped = |line: &str| may_be_swapped(&words(line));
    assert!(swapped("t -print -name a -name b -o -name c"));
    assert!(swapped("t -prune -type f ( -name b ) -or -name c"));
    assert!(!swapped("t -name a -name b -prune -o -print"));
    assert!(!swapped("t -print -o -name a"));
    assert!(!swapped("t -name a -name b -o -name c"));
}
