//! Pages with a checksum, which the writer of the `parquet` crate leaves out.

use parquet::basic::Encoding;
use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter};
use parquet::errors::ParquetError;
use parquet::file::writer::TrackedWrite;
use std::io::Write;

/// The numbers of kinds of pages in `parquet.thrift`.
const DATA_PAGE: i32 = 0;
const DICTIONARY_PAGE: i32 = 2;

/// Field headers of Thrift's compact protocol: the type, with the distance from the field before
/// in the upper four bits.
const NEXT_INTEGER: u8 = 0x15;
const NEXT_STRUCT: u8 = 0x1c;
/// A struct three fields behind: `dictionary_page_header` behind `crc`.
const THIRD_STRUCT: u8 = 0x3c;
const NEXT_TRUE: u8 = 0x11;
const NEXT_FALSE: u8 = 0x12;
const END: u8 = 0;

/// Writes the pages of a column of a row group, each with the CRC-32 of its stored bytes.
pub(super) struct ChecksummedPages<'a, W: Write> {
    sink: &'a mut TrackedWrite<W>,
    header: Vec<u8>,
}

impl<'a, W: Write> ChecksummedPages<'a, W> {
    pub(super) fn new(sink: &'a mut TrackedWrite<W>) -> Self {
        Self {
            sink,
            header: Vec::new(),
        }
    }
}

impl<W: Write + Send> PageWriter for ChecksummedPages<'_, W> {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec, ParquetError> {
        self.header.clear();
        write_header(&page, &mut self.header)?;
        let begin = self.sink.bytes_written();
        self.sink.write_all(&self.header)?;
        self.sink.write_all(page.data())?;
        let mut spec = PageWriteSpec::new();
        spec.page_type = page.page_type();
        spec.uncompressed_size = page.uncompressed_size() + self.header.len();
        spec.compressed_size = page.compressed_size() + self.header.len();
        spec.num_values = page.num_values();
        spec.offset = begin as u64;
        spec.bytes_written = (self.sink.bytes_written() - begin) as u64;
        Ok(spec)
    }

    fn close(&mut self) -> Result<(), ParquetError> {
        Ok(self.sink.flush()?)
    }
}

/// Appends a `PageHeader` of `parquet.thrift`.
fn write_header(page: &CompressedPage, out: &mut Vec<u8>) -> Result<(), ParquetError> {
    let kind = match page.compressed_page() {
        Page::DataPage { .. } => DATA_PAGE,
        Page::DictionaryPage { .. } => DICTIONARY_PAGE,
        Page::DataPageV2 { .. } => {
            let message = "a page of the second version: expected the first";
            return Err(ParquetError::General(message.to_owned()));
        }
    };
    let crc = crc32fast::hash(page.data());
    integer(kind, out);
    integer(number(page.uncompressed_size())?, out);
    integer(number(page.compressed_size())?, out);
    integer(crc.cast_signed(), out);
    let values = number(page.num_values())?;
    if let Page::DictionaryPage { is_sorted, .. } = page.compressed_page() {
        out.push(THIRD_STRUCT);
        integer(values, out);
        integer(page.encoding() as i32, out);
        out.push(if *is_sorted { NEXT_TRUE } else { NEXT_FALSE });
    } else {
        out.push(NEXT_STRUCT);
        integer(values, out);
        integer(page.encoding() as i32, out);
        // The encodings of the marks of nulls and of the levels of maps.
        integer(Encoding::RLE as i32, out);
        integer(Encoding::RLE as i32, out);
    }
    out.extend([END, END]);
    Ok(())
}

/// Appends the next field of a struct, an integer.
fn integer(value: i32, out: &mut Vec<u8>) {
    out.push(NEXT_INTEGER);
    let mut rest = ((value << 1) ^ (value >> 31)).cast_unsigned();
    while rest >= 0x80 {
        out.push(rest.to_le_bytes()[0] | 0x80);
        rest >>= 7;
    }
    out.push(rest.to_le_bytes()[0]);
}

fn number(value: impl TryInto<i32>) -> Result<i32, ParquetError> {
    let too_large = |_| ParquetError::General("a page has 2 GiB or more".to_owned());
    value.try_into().map_err(too_large)
}
