use super::*;

#[test]
fn columns_line_up_and_obstacles_stand_below() {
    let mut out = String::new();
    let source = Source {
        name: "xfs",
        usable: false,
        details: None,
        chosen_by_auto: false,
        why_not_auto: None,
        obstacles: vec![Obstacle::new("a problem", "a remedy")],
    };
    describe(&mut out, &source);
    let columns: Vec<_> = out
        .lines()
        .map(|line| line.find(|character| character != ' '))
        .collect();
    assert_eq!(columns, [Some(2), Some(COLUMN), Some(COLUMN + 2)]);
    assert!(out.contains("not usable here"), "{out}");
}

#[test]
fn what_others_chose_stays_in_its_row() {
    let mut out = String::new();
    row(&mut out, "name", "fuse.\u{1b}[2J\nuser  root\u{9b}");
    assert!(
        out.ends_with("  fuse.\\033[2J\\nuser  root\\302\\233\n"),
        "{out}"
    );
    assert_eq!(out.lines().count(), 1);
}

#[test]
fn no_limit_is_a_word() {
    assert_eq!(number(None), "unlimited");
    assert_eq!(number(Some(0)), "0");
}
