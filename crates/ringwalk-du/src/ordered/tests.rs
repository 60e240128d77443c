use super::*;
use crate::measurement::TimeKind;
use crate::one_sum::Usage;
use crate::rule::Rule;
use crate::test_host::TestHost;
use std::path::Path;

/// Two directories with files of 1000 and 200 bytes. One file has names in both.
fn tree() -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        std::fs::create_dir(tree.path().join(name)).unwrap();
        std::fs::write(tree.path().join(name).join("own"), [7; 200]).unwrap();
    }
    std::fs::write(tree.path().join("b/linked"), [7; 1000]).unwrap();
    std::fs::hard_link(tree.path().join("b/linked"), tree.path().join("a/linked")).unwrap();
    tree
}

fn measured(tree: &Path, operands: &[&str], rule: Rule) -> (Vec<String>, Totals) {
    let measurement = Measurement {
        rule: rule.several_operands(operands.len() > 1),
        size: Size::Apparent,
        time: Some(TimeKind::Modified),
        all: false,
        max_depth: usize::MAX,
        separate: false,
    };
    let operands: Vec<_> = operands.iter().map(|name| tree.join(name).into()).collect();
    let mut output = Vec::new();
    let measured = measure(measurement, &operands, &TestHost, &mut output);
    assert!(!measured.failed);
    let prefix = format!("{}/", tree.display());
    let text = String::from_utf8(output).unwrap().replace(&prefix, "");
    (text.lines().map(str::to_owned).collect(), measured.total)
}

#[test]
fn the_first_directory_in_the_order_is_charged() {
    let tree = tree();
    let never = Rule::new(Follow::Never);
    let (lines, _) = measured(tree.path(), &["a", "b"], never.clone());
    assert_eq!(lines, ["1200\ta", "200\tb"]);
    let (lines, total) = measured(tree.path(), &["b", "a", "b/linked"], never.clone());
    assert_eq!(lines, ["1200\tb", "200\ta"]);
    assert_eq!((total.size, total.inodes), (1400, 5));
    assert!(total.time.is_some_and(|time| time.secs > 0));
    let (lines, _) = measured(tree.path(), &["a", "b"], never.count_links(true));
    assert_eq!(lines, ["1200\ta", "1200\tb"]);
}

#[test]
fn lines_and_sum_agree() {
    let tree = tree();
    for name in ["link", "a/up"] {
        std::os::unix::fs::symlink(tree.path(), tree.path().join(name)).unwrap();
    }
    for follow in [Follow::Never, Follow::CommandLine, Follow::Always] {
        let rule = Rule::new(follow);
        let (_, total) = measured(tree.path(), &[""], rule.clone());
        let walk = Walk::new(tree.path()).fields(Usage::FIELDS).follow(follow);
        let usage = Usage::measure(walk, None, &rule, &|error| panic!("{error:?}"), &|| false);
        assert_eq!(u128::from(total.size), usage.apparent, "{follow:?}");
        assert_eq!(total.inodes, usage.files, "{follow:?}");
    }
}
