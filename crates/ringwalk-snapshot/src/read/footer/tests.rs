use super::*;

fn element(name: &str, children: i64) -> Element {
    Element {
        name: name.to_owned(),
        physical: (children == 0).then_some(1),
        repetition: Some(0),
        children,
    }
}

fn names(elements: &[(&str, i64)]) -> Option<Vec<String>> {
    let elements = elements.iter().map(|(name, count)| element(name, *count));
    let leaves = leaves_of(elements.collect())?;
    Some(leaves.into_iter().map(|leaf| leaf.path.join(".")).collect())
}

#[test]
fn columns_have_the_names_of_their_groups() {
    let schema = [
        ("top", 3),
        ("a", 0),
        ("map", 1),
        ("pair", 2),
        ("k", 0),
        ("v", 0),
        ("b", 0),
    ];
    let expected = ["a", "map.pair.k", "map.pair.v", "b"].map(str::to_owned);
    assert_eq!(names(&schema), Some(expected.to_vec()));
    assert_eq!(names(&[("top", 0)]), Some(Vec::new()));
}

#[test]
fn numbers_of_children_that_are_wrong() {
    for schema in [
        &[][..],
        &[("top", 1)],
        &[("top", -1)],
        &[("top", i64::MIN), ("a", 0)],
        &[("top", 0), ("a", 0)],
        &[("top", 1), ("a", 0), ("b", 0)],
        &[("top", 1), ("a", 1)],
        &[("top", 1), ("a", -1)],
        &[("top", 1), ("a", i64::MAX), ("b", 0)],
    ] {
        assert_eq!(names(schema), None, "{schema:?}");
    }
}

#[test]
fn a_schema_of_any_depth_takes_no_stack() {
    let mut schema = vec![("top", 1); 200_000];
    schema.push(("a", 0));
    assert_eq!(names(&schema), Some(vec![String::new()]));
}
