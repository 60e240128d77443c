use super::*;
use crate::info::keys;

#[test]
fn the_table_is_in_the_order_of_the_columns() {
    for (index, facts) in COLUMNS.iter().enumerate() {
        assert_eq!(facts.column as usize, index, "{}", facts.name);
        assert_eq!(Column::of_name(facts.name), Some(facts.column));
        assert!(facts.description.ends_with('.'), "{}", facts.name);
    }
    // Later columns come behind it.
    assert_eq!(Column::all().last(), Some(Column::Projid));
}

#[test]
fn optional_columns() {
    let fields = |contents: Contents| contents.schema(Shape::Snapshot).fields.len();
    let asked = COLUMNS.iter().filter(|facts| facts.asked.is_some()).count();
    assert_eq!(fields(Contents::default()), COLUMNS.len() - asked);
    let hash = Contents {
        hash: true,
        ..Contents::default()
    };
    assert_eq!(fields(hash), COLUMNS.len() - asked + 1);
    assert_eq!(fields(Contents::ALL), COLUMNS.len() + 1);
}

#[test]
fn sets_of_columns_have_what_was_put_in() {
    let mut set = ColumnSet::default();
    assert!(set.is_empty());
    set.insert(Column::Mtime);
    set.insert(Column::Size);
    assert_eq!(
        set.iter().collect::<Vec<_>>(),
        [Column::Size, Column::Mtime]
    );
    set.remove(Column::Size);
    assert!(set.contains(Column::Mtime) && !set.contains(Column::Size));
}

/// Returns the type as the documentation names it.
fn type_name(facts: &Facts) -> String {
    let name = match facts.values {
        Values::Int32 => "INT32",
        Values::Uint32 => "UINT32",
        Values::Int64 => "INT64",
        Values::Uint64 => "UINT64",
        Values::Time => "TIMESTAMP",
        Values::Boolean => "BOOLEAN",
        Values::Text => "STRING",
        Values::Bytes => "BINARY",
    };
    if facts.unit == "bytes" {
        format!("{name}, bytes")
    } else {
        name.to_owned()
    }
}

#[test]
fn the_documentation_has_the_same_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/snapshot.md");
    // The published crate has no documentation beside it.
    let Ok(text) = std::fs::read_to_string(path) else {
        return;
    };
    let table: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    for (facts, row) in COLUMNS.iter().zip(&table) {
        let (name, type_name) = (facts.name, type_name(facts));
        assert_eq!(
            *row,
            format!("| `{name}` | {type_name} | {} |", facts.description)
        );
    }
    for key in [
        keys::SCHEMA,
        keys::TOOL,
        keys::ROOTS,
        keys::FILE_SYSTEMS,
        keys::USERS,
        keys::GROUPS,
        keys::VERDICT,
        keys::RUN,
        keys::COLUMNS,
        keys::ROW_GROUPS,
    ] {
        assert!(text.contains(&format!("`{key}`")), "{key}");
    }
    assert!(text.contains(&format!("The version of this schema is {VERSION}.")));
}
