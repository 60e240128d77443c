use super::*;
use clap::{Parser, ValueEnum as _};

formats! {
    /// Some formats.
    Some: Table, Parquet
}

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    output: OutputArgs<Some>,
}

fn parsed(words: &[&str]) -> Result<OutputArgs<Some>, clap::Error> {
    let words = ["x"].iter().chain(words);
    Line::try_parse_from(words).map(|line| line.output)
}

#[test]
fn a_command_takes_its_formats_and_no_others() {
    assert_eq!(parsed(&[]).unwrap(), OutputArgs::default());
    assert_eq!(parsed(&["--format=parquet"]).unwrap().format, Some::Parquet);
    let error = parsed(&["--format", "csv"]).unwrap_err().to_string();
    assert!(
        error.contains("[possible values: table, parquet]"),
        "{error}"
    );
    let names = Some::value_variants()
        .iter()
        .map(|some| some.format().name());
    assert_eq!(names.collect::<Vec<_>>(), ["table", "parquet"]);
}

#[test]
fn a_file_appears_when_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let name = path.to_str().unwrap();
    let args = parsed(&["-o", name]).unwrap();
    let failed = args.open(&[]).unwrap().write(|out| {
        out.write_all(b"a part")?;
        Err(io::Error::other("full").into())
    });
    assert!(failed.is_err() && !path.exists());
    args.open(&[]).unwrap().write_all(b"all").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"all");
    assert!(args.open(&[path.as_os_str()]).is_err());
    assert_eq!(fs::read(&path).unwrap(), b"all");
}

#[test]
fn a_minus_is_standard_output() {
    let args = parsed(&["-o", "-"]).unwrap();
    assert!(matches!(args.open(&[]), Ok(Output::Standard { .. })));
    assert!(!Path::new("-").exists());
}
