//! Parquet files, which are at their paths when they are whole.

use std::hash::Hasher;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, GzipLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use twox_hash::XxHash64;

use super::column::LakeColumn;
use super::schema::LakeTable;
use cpu_prof_core::files::atomic::{AtomicFile, WholeFile};
use cpu_prof_core::files::error::FileError;

/// The most rows of a row group: as many as engines read at once, and little memory.
pub(in crate::tables) const MAX_ROWS: usize = 122_880;

/// Key and value in each file that tell the version of the tables.
const VERSION: (&str, &str) = ("cpu-prof.lake", "1");

/// Columns whose values hardly repeat, so that a dictionary of them would only take room.
const UNIQUE: [&str; 4] = ["function_id", "stack_id", "self_us", "total_us"];

/// Why a table was not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TableError {
    /// The file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The contents do not make a table.
    #[error("could not write {}: {}", .0.display(), .1)]
    Table(PathBuf, ParquetError),
}

/// A table that is being written. Leaves nothing if it is dropped.
pub(in crate::tables) struct LakeFile {
    path: PathBuf,
    writer: SerializedFileWriter<HashedFile>,
}

/// A table that is whole, and not at its path yet.
#[derive(Debug)]
pub(in crate::tables) struct WholeTable {
    pub path: PathBuf,
    pub file: WholeFile,
    /// Hash of all bytes.
    pub hash: u64,
}

impl LakeFile {
    /// Begins a table in a folder.
    pub(in crate::tables) fn create(folder: &Path, table: LakeTable) -> Result<Self, TableError> {
        let path = folder.join(format!("{}.parquet", table.name));
        let file = HashedFile { file: AtomicFile::create(&path)?, hasher: new_hasher() };
        let schema = parse_message_type(table.schema).map(Arc::new);
        let writer = schema
            .and_then(|schema| SerializedFileWriter::new(file, schema, Arc::new(properties())));
        match writer {
            Ok(writer) => Ok(Self { path, writer }),
            Err(error) => Err(TableError::Table(path, error)),
        }
    }

    /// Writes rows, all columns of them, as a row group.
    pub(in crate::tables) fn write(
        &mut self,
        rows: usize,
        columns: impl IntoIterator<Item = LakeColumn>,
    ) -> Result<(), TableError> {
        if rows == 0 {
            return Ok(());
        }
        let written = write_group(&mut self.writer, rows, columns);
        written.map_err(|error| TableError::Table(self.path.clone(), error))
    }

    /// Writes the end of the file.
    pub(in crate::tables) fn finish(self) -> Result<WholeTable, TableError> {
        let Self { path, writer } = self;
        match writer.into_inner() {
            Ok(HashedFile { file, hasher }) => {
                let file = file.finish()?;
                Ok(WholeTable { path, file, hash: hasher.finish() })
            }
            Err(error) => Err(TableError::Table(path, error)),
        }
    }
}

fn write_group(
    writer: &mut SerializedFileWriter<HashedFile>,
    rows: usize,
    columns: impl IntoIterator<Item = LakeColumn>,
) -> parquet::errors::Result<()> {
    let mut group = writer.next_row_group()?;
    for column in columns {
        let Some(mut next) = group.next_column()? else {
            return Err(ParquetError::General("the table has fewer columns".into()));
        };
        column.write(next.untyped(), rows)?;
        next.close()?;
    }
    group.close().map(drop)
}

fn properties() -> WriterProperties {
    let (key, version) = VERSION;
    let builder = UNIQUE.iter().fold(WriterProperties::builder(), |builder, column| {
        builder.set_column_dictionary_enabled((*column).into(), false)
    });
    builder
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::GZIP(GzipLevel::default()))
        .set_dictionary_enabled(true)
        // Indices of pages take more room than small tables.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_created_by(tool())
        .set_key_value_metadata(Some(vec![KeyValue::new(key.to_owned(), version.to_owned())]))
        .build()
}

/// Returns the name and the version of this program.
pub(in crate::tables) fn tool() -> String {
    format!("cpu-prof {}", env!("CARGO_PKG_VERSION"))
}

/// Returns a hasher whose results are the same in all versions and on all systems: XXH64 is a published
/// algorithm, and names of files depend on it. That of `rustc-hash` may change with its version.
pub(in crate::tables) fn new_hasher() -> XxHash64 {
    XxHash64::with_seed(0)
}

/// A file that is hashed while it is written.
struct HashedFile {
    file: AtomicFile,
    hasher: XxHash64,
}

impl Write for HashedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hasher.write(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
