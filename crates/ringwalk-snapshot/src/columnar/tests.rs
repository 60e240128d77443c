use super::*;
use ::parquet::basic::BoundaryOrder;
use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::file::page_index::column_index::ColumnIndexMetaData;
use ::parquet::file::reader::{FileReader as _, SerializedFileReader};
use ::parquet::file::serialized_reader::ReadOptionsBuilder;
use ::parquet::record::Field as Value;
use bytes::Bytes;
use proptest::prelude::*;

const PLAIN: Settings = Settings {
    dictionary: false,
    encoding: Encoding::Plain,
    bounds: true,
};
const DICTIONARY: Settings = Settings {
    dictionary: true,
    ..PLAIN
};
const DELTA: Settings = Settings {
    encoding: Encoding::DeltaBinaryPacked,
    ..PLAIN
};
const PREFIXES: Settings = Settings {
    encoding: Encoding::DeltaByteArray,
    ..PLAIN
};

/// Writes one column of optional values in pages of these cells.
fn written(
    physical: Physical,
    logical: Option<Logical>,
    settings: Settings,
    pages: &[Cells],
) -> Bytes {
    let column = Field::column("c", Repetition::Optional, physical, logical);
    let schema = Field::group("s", None, vec![column]);
    let leaf = schema.leaves().remove(0);
    let mut zstd = compressor().unwrap();
    let mut column = ColumnWriter::new(leaf, settings);
    for page in pages {
        column.page(page, &mut zstd).unwrap();
    }
    let mut file = FileWriter::new(Vec::new(), schema).unwrap();
    file.group(vec![column.finish(&mut zstd).unwrap()]).unwrap();
    let pairs = [("key", "value".to_owned())];
    file.finish("tests", &pairs).unwrap().into()
}

/// Returns the values as the parquet crate reads them.
fn values(file: &Bytes) -> Vec<Value> {
    let reader = SerializedFileReader::new(file.clone()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| row.unwrap().into_columns().remove(0).1)
        .collect()
}

fn metadata(file: &Bytes) -> ParquetMetaData {
    let options = ReadOptionsBuilder::new().with_page_index().build();
    let reader = SerializedFileReader::new_with_options(file.clone(), options).unwrap();
    reader.metadata().clone()
}

fn numbers(numbers: &[Option<i64>]) -> Cells {
    let mut cells = Cells::default();
    for number in numbers {
        cells.definitions.push(u8::from(number.is_some()));
        cells.numbers.extend(number);
    }
    cells
}

fn texts(texts: &[Option<Vec<u8>>]) -> Cells {
    let mut cells = Cells::default();
    for text in texts {
        cells.definitions.push(u8::from(text.is_some()));
        if let Some(text) = text {
            cells.push_bytes(text);
        }
    }
    cells
}

fn any_numbers() -> impl Strategy<Value = Vec<Vec<Option<i64>>>> {
    let number = prop_oneof![
        4 => 0..3_i64,
        2 => -500..500_i64,
        1 => any::<i64>(),
        1 => Just(i64::MIN),
        1 => Just(i64::MAX),
    ];
    let run = (prop::option::weighted(0.9, number), 1..40_usize);
    let page = prop::collection::vec(run, 1..20);
    let page = page.prop_map(|runs| {
        let runs = runs.into_iter();
        runs.flat_map(|(value, times)| std::iter::repeat_n(value, times))
            .collect()
    });
    prop::collection::vec(page, 1..4)
}

fn any_texts() -> impl Strategy<Value = Vec<Vec<Option<Vec<u8>>>>> {
    let text = prop_oneof![
        prop::collection::vec(b'a'..b'c', 0..30),
        prop::collection::vec(any::<u8>(), 0..3),
    ];
    let page = prop::collection::vec(prop::option::weighted(0.9, text), 1..300);
    prop::collection::vec(page, 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn numbers_are_read_as_they_were(pages in any_numbers()) {
        let cells: Vec<_> = pages.iter().map(|page| numbers(page)).collect();
        let narrow: Vec<Vec<Option<i64>>> = pages
            .iter()
            .map(|page| page.iter().map(|one| one.map(|one| one % (1 << 31))).collect())
            .collect();
        let narrow_cells: Vec<_> = narrow.iter().map(|page| numbers(page)).collect();
        let truths: Vec<Vec<Option<i64>>> = pages
            .iter()
            .map(|page| page.iter().map(|one| one.map(|one| one & 1)).collect())
            .collect();
        let truth_cells: Vec<_> = truths.iter().map(|page| numbers(page)).collect();
        for settings in [PLAIN, DICTIONARY, DELTA] {
            let expected = pages.iter().flatten().map(|one| one.map_or(Value::Null, Value::Long));
            let file = written(Physical::Int64, None, settings, &cells);
            prop_assert_eq!(values(&file), expected.collect::<Vec<_>>());
        }
        let int = |one: i64| Value::Int(i32::try_from(one).unwrap());
        for settings in [PLAIN, DICTIONARY] {
            let expected = narrow.iter().flatten().map(|one| one.map_or(Value::Null, int));
            let file = written(Physical::Int32, None, settings, &narrow_cells);
            prop_assert_eq!(values(&file), expected.collect::<Vec<_>>());
        }
        let expected = truths.iter().flatten().map(|one| one.map_or(Value::Null, |one| Value::Bool(one == 1)));
        let file = written(Physical::Boolean, None, DICTIONARY, &truth_cells);
        prop_assert_eq!(values(&file), expected.collect::<Vec<_>>());
    }

    #[test]
    fn texts_are_read_as_they_were(pages in any_texts()) {
        let cells: Vec<_> = pages.iter().map(|page| texts(page)).collect();
        for settings in [PLAIN, DICTIONARY, PREFIXES] {
            let file = written(Physical::ByteArray, None, settings, &cells);
            let value = |text: &Option<Vec<u8>>| {
                text.clone().map_or(Value::Null, |text| Value::Bytes(text.into()))
            };
            let expected: Vec<_> = pages.iter().flatten().map(value).collect();
            prop_assert_eq!(values(&file), expected);
        }
    }
}

#[test]
fn a_large_dictionary_ends() {
    let page = |begin: i64| numbers(&(begin..begin + 100_000).map(Some).collect::<Vec<_>>());
    let pages = [page(0), page(100_000), page(0), page(7)];
    let file = written(Physical::Int64, None, DICTIONARY, &pages);
    let expected = (0..200_000).chain(0..100_000).chain(7..100_007);
    assert!(values(&file).into_iter().eq(expected.map(Value::Long)));
    let metadata = metadata(&file);
    let column = metadata.row_group(0).column(0);
    let encodings: Vec<_> = column.encodings().map(|one| one.to_string()).collect();
    assert_eq!(encodings, ["PLAIN", "RLE", "RLE_DICTIONARY"]);
    assert!(column.dictionary_page_offset().is_some());
}

#[test]
fn bounds_of_pages_and_columns() {
    let pages = [
        numbers(&[Some(-5), None, Some(3)]),
        numbers(&[None, None]),
        numbers(&[Some(4), Some(4)]),
    ];
    let file = written(Physical::Int64, None, DELTA, &pages);
    let metadata = metadata(&file);
    let column = metadata.row_group(0).column(0);
    let statistics = column.statistics().unwrap();
    assert_eq!(statistics.null_count_opt(), Some(3));
    assert_eq!(
        statistics.min_bytes_opt(),
        Some(&(-5_i64).to_le_bytes()[..])
    );
    assert_eq!(statistics.max_bytes_opt(), Some(&4_i64.to_le_bytes()[..]));
    let indexes = metadata.page_index_for_row_group(0);
    let index = indexes.column_index(0).unwrap();
    assert_eq!(index.get_boundary_order(), Some(BoundaryOrder::ASCENDING));
    assert_eq!(index.null_counts(), Some(&vec![1, 2, 0]));
    let ColumnIndexMetaData::INT64(index) = index else {
        panic!("{index:?}")
    };
    let least: Vec<_> = index.min_values_iter().collect();
    let largest: Vec<_> = index.max_values_iter().collect();
    assert_eq!(least, [Some(&-5), None, Some(&4)]);
    assert_eq!(largest, [Some(&3), None, Some(&4)]);
    let places = indexes.offset_index(0).unwrap().page_locations();
    let rows: Vec<_> = places.iter().map(|place| place.first_row_index).collect();
    assert_eq!(rows, [0, 3, 5]);
}

#[test]
fn bounds_compare_as_the_values_do() {
    let bounds = |physical, logical, cells: Cells| {
        let metadata = metadata(&written(physical, logical, PLAIN, &[cells]));
        let statistics = metadata.row_group(0).column(0).statistics()?.clone();
        let bytes = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
        bytes(statistics.min_bytes_opt()).zip(bytes(statistics.max_bytes_opt()))
    };
    let unsigned = numbers(&[Some(-1), Some(5), Some(7)]);
    let stored = |number: i64| number.to_le_bytes().to_vec();
    assert_eq!(
        bounds(Physical::Int64, Some(Logical::Unsigned), unsigned),
        Some((stored(5), stored(-1)))
    );
    let text = texts(&[
        Some(b"b".to_vec()),
        Some(b"a\xff".to_vec()),
        Some(b"ab".to_vec()),
    ]);
    assert_eq!(
        bounds(Physical::ByteArray, None, text),
        Some((b"ab".to_vec(), b"b".to_vec()))
    );
    let real = |reals: &[f64]| {
        let bits = |real: &f64| Some(real.to_bits().cast_signed());
        let cells = numbers(&reals.iter().map(bits).collect::<Vec<_>>());
        bounds(Physical::Double, None, cells)
    };
    let stored = |least: f64, largest: f64| {
        Some((least.to_le_bytes().to_vec(), largest.to_le_bytes().to_vec()))
    };
    assert_eq!(real(&[-2.5, f64::NAN, 1.0, -3.0]), stored(-3.0, 1.0));
    assert_eq!(real(&[0.0]), stored(-0.0, 0.0));
    assert_eq!(real(&[-0.0, -1.0]), stored(-1.0, 0.0));
    assert_eq!(real(&[f64::NAN]), None);
}

#[test]
fn the_footer_says_what_columns_mean() {
    let metadata = metadata(&written(
        Physical::Int64,
        Some(Logical::Nanoseconds),
        DELTA,
        &[numbers(&[Some(1)])],
    ));
    let file = metadata.file_metadata();
    assert_eq!(file.created_by(), Some("tests"));
    let pair = &file.key_value_metadata().unwrap()[0];
    assert_eq!((&*pair.key, pair.value.as_deref()), ("key", Some("value")));
    let column = file.schema_descr().column(0);
    let meaning = format!("{:?}", column.logical_type_ref().unwrap());
    assert!(meaning.contains("NANOS"), "{meaning}");
}
