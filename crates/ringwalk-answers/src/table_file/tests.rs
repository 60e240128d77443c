use super::*;
use bytes::Bytes;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader as _, SerializedFileReader};

/// Fails like a full disk.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }
}

fn numbers() -> Vec<Column<'static, i64>> {
    vec![Column::new("number", Values::Number, |row: &i64| {
        Cell::Number(*row)
    })]
}

#[test]
fn rows_are_written_in_groups_of_a_limited_size() {
    let mut file = Vec::new();
    let mut table = TableWriter::new("numbers", numbers(), &mut file).unwrap();
    let rows = i64::try_from(GROUP_ROWS).unwrap() + 3;
    for row in 0..rows {
        table.push(row).unwrap();
        assert!(table.rows.len() < GROUP_ROWS);
    }
    table.finish().unwrap();
    let reader = SerializedFileReader::new(Bytes::from(file)).unwrap();
    let groups = reader.metadata().row_groups().iter();
    let sizes: Vec<_> = groups.map(RowGroupMetaData::num_rows).collect();
    assert_eq!(sizes, [rows - 3, 3]);
    for (row, read) in (0..).zip(reader.get_row_iter(None).unwrap()) {
        assert_eq!(read.unwrap().to_string(), format!("{{number: {row}}}"));
    }
}

#[test]
fn a_table_without_rows_is_a_file_with_columns() {
    let mut file = Vec::new();
    let table = TableWriter::new("numbers", numbers(), &mut file).unwrap();
    table.finish().unwrap();
    let reader = SerializedFileReader::new(Bytes::from(file)).unwrap();
    let metadata = reader.metadata().file_metadata();
    assert_eq!(metadata.num_rows(), 0);
    assert_eq!(metadata.schema_descr().column(0).name(), "number");
}

#[test]
fn a_failed_write_keeps_its_reason() {
    let write = || {
        let mut table = TableWriter::new("numbers", numbers(), Full)?;
        table.push(1)?;
        table.finish()
    };
    assert_eq!(write().unwrap_err().kind(), io::ErrorKind::StorageFull);
}

#[test]
fn csv_has_a_field_for_each_kind_of_cell() {
    let cells = [
        (Values::Text, Cell::from("a \"b\", c")),
        (Values::Text, Cell::from("")),
        (Values::Text, Cell::Null),
        (Values::Bytes, Cell::Text(b"a\xff".to_vec())),
        (Values::Number, Cell::Number(-5)),
        (Values::Unsigned, Cell::Number(-1)),
        (Values::Time, Cell::Number(1_000_000_001)),
        (Values::Real, Cell::Real(33.3)),
        (Values::Boolean, Cell::Boolean(true)),
    ];
    let columns = cells.map(|(values, cell)| {
        Column::new(format!("{values:?}"), values, move |(): &()| cell.clone())
    });
    let mut out = Vec::new();
    push_csv_names(&columns, &mut out);
    push_csv_row(&columns, &(), &mut out);
    let expected = "Text,Text,Text,Bytes,Number,Unsigned,Time,Real,Boolean\r\n\
        \"a \"\"b\"\", c\",\"\",,61ff,-5,18446744073709551615,\
        1970-01-01T00:00:01.000000001Z,33.3,true\r\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}
