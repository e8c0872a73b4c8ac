//! The values of a column in the rows that are written at once.

use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};

/// The values of a column.
#[derive(Debug)]
pub(in crate::tables) enum LakeColumn {
    /// One text in all rows; none for null.
    SameText(Option<String>),
    /// One number in all rows; none for null.
    SameInt(Option<i32>),
    /// One number in all rows.
    SameLong(i64),
    Texts(Vec<ByteArray>),
    Ints(Vec<i32>),
    OptionalInts(Vec<Option<i32>>),
    Longs(Vec<i64>),
    OptionalLongs(Vec<Option<i64>>),
    Lists(IntLists),
}

/// Lists of numbers, none of which is empty.
#[derive(Debug, Default)]
pub(in crate::tables) struct IntLists {
    values: Vec<i32>,
    /// 0 for the first number of a list, 1 for the others.
    repetitions: Vec<i16>,
}

impl IntLists {
    /// Adds a list.
    pub(in crate::tables) fn push(&mut self, list: impl Iterator<Item = i32>) {
        for (place, value) in list.enumerate() {
            self.values.push(value);
            self.repetitions.push(i16::from(place > 0));
        }
    }

    /// Returns the count of numbers in all lists.
    pub(in crate::tables) fn values(&self) -> usize {
        self.values.len()
    }
}

/// Returns the text of a column.
pub(in crate::tables) fn text(text: &str) -> ByteArray {
    ByteArray::from(text)
}

/// Returns a number as a column has it: no table has numbers without a sign.
pub(in crate::tables) fn long(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl LakeColumn {
    /// Writes the values of so many rows.
    pub(super) fn write(self, writer: &mut ColumnWriter<'_>, rows: usize) -> Result<()> {
        match (self, writer) {
            (Self::SameText(value), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                write_same(writer, value.map(|value| text(&value)), rows)
            }
            (Self::SameInt(value), ColumnWriter::Int32ColumnWriter(writer)) => {
                write_same(writer, value, rows)
            }
            (Self::SameLong(value), ColumnWriter::Int64ColumnWriter(writer)) => {
                write_same(writer, Some(value), rows)
            }
            (Self::Texts(values), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                writer.write_batch(&values, None, None).map(drop)
            }
            (Self::Ints(values), ColumnWriter::Int32ColumnWriter(writer)) => {
                writer.write_batch(&values, None, None).map(drop)
            }
            (Self::Longs(values), ColumnWriter::Int64ColumnWriter(writer)) => {
                writer.write_batch(&values, None, None).map(drop)
            }
            (Self::OptionalInts(values), ColumnWriter::Int32ColumnWriter(writer)) => {
                write_optional(writer, values)
            }
            (Self::OptionalLongs(values), ColumnWriter::Int64ColumnWriter(writer)) => {
                write_optional(writer, values)
            }
            (Self::Lists(lists), ColumnWriter::Int32ColumnWriter(writer)) => {
                let definitions = vec![1; lists.values.len()];
                let repetitions = Some(lists.repetitions.as_slice());
                writer.write_batch(&lists.values, Some(&definitions), repetitions).map(drop)
            }
            _ => Err(ParquetError::General("a column has values of another type".into())),
        }
    }
}

/// Writes one value in all rows.
fn write_same<T: DataType>(
    writer: &mut ColumnWriterImpl<'_, T>,
    value: Option<T::T>,
    rows: usize,
) -> Result<()> {
    /// Rows that are written at once.
    const BATCH: usize = 1024;
    let is_optional = writer.get_descriptor().max_def_level() > 0;
    let levels = [i16::from(value.is_some()); BATCH];
    let values: Vec<T::T> = value.map_or(Vec::new(), |value| vec![value; rows.min(BATCH)]);
    let mut left = rows;
    while left > 0 {
        let count = left.min(BATCH);
        let levels = is_optional.then_some(&levels[..count]);
        writer.write_batch(&values[..count.min(values.len())], levels, None)?;
        left -= count;
    }
    Ok(())
}

/// Writes values, of which none are null.
fn write_optional<T: DataType>(
    writer: &mut ColumnWriterImpl<'_, T>,
    values: Vec<Option<T::T>>,
) -> Result<()> {
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.into_iter().flatten().collect();
    writer.write_batch(&values, Some(&levels), None).map(drop)
}
