//! Opens the files of modules. A recording can name any file, and a file can claim anything of itself.

use std::cell::Cell;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use object::{ReadCache, ReadRef};

use cpu_prof_core::base::path_text::is_local_file;
use cpu_prof_core::base::system::{IS_WINDOWS, regular_file};

/// What is read of one file besides names: bytes. It is enough for five million symbols.
const MOST_READ: u64 = 128 << 20;

/// What a name of a section or a note can cost: bytes.
const TEXT_COST: u64 = 256;

/// Where files may be read.
#[derive(Debug, Default)]
pub(super) struct ReadableFiles {
    /// The folder below which files are read; none for everywhere.
    within: Option<PathBuf>,
}

/// Why a file is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnreadFile {
    /// There is none, or it is no ordinary file of a local disk.
    Absent,
    /// It is outside of the folder.
    Outside,
}

impl ReadableFiles {
    /// Allows files below a folder, or everywhere.
    pub(super) fn within(folder: Option<PathBuf>) -> Self {
        Self { within: folder }
    }

    /// Opens a file that a recording names.
    pub(super) fn open_named(&self, path: &str) -> Result<File, UnreadFile> {
        match is_local_file(path, IS_WINDOWS) {
            true => self.open(Path::new(path)),
            false => Err(UnreadFile::Absent),
        }
    }

    /// Opens a file in a folder that the user or the system names.
    pub(super) fn open(&self, path: &Path) -> Result<File, UnreadFile> {
        if self.within.as_deref().is_some_and(|folder| !regular_file::is_below(path, folder)) {
            return Err(UnreadFile::Outside);
        }
        regular_file::open_on_disk(path).map_err(|_| UnreadFile::Absent)
    }
}

/// Reads the parts of a file that are needed, up to a limit; none if the file is no ELF file. A file that
/// shrinks meanwhile is an error of a read, and would be a signal if it were mapped.
pub(super) fn with_elf<T>(
    file: &File,
    read: impl for<'data> FnOnce(&object::File<'data, MeteredFile<'data>>) -> Option<T>,
) -> Option<T> {
    let (cache, left) = (ReadCache::new(file), Cell::new(MOST_READ));
    let parsed = object::File::parse(MeteredFile { cache: &cache, left: &left }).ok()?;
    read(&parsed)
}

/// A file of which a limited part is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct MeteredFile<'data> {
    cache: &'data ReadCache<&'data File>,
    /// Bytes that may still be read.
    left: &'data Cell<u64>,
}

impl MeteredFile<'_> {
    fn pay(&self, bytes: u64) -> Result<(), ()> {
        self.left.set(self.left.get().checked_sub(bytes).ok_or(())?);
        Ok(())
    }
}

impl<'data> ReadRef<'data> for MeteredFile<'data> {
    fn len(self) -> Result<u64, ()> {
        self.cache.len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'data [u8], ()> {
        // Before memory is taken for them.
        self.pay(size)?;
        self.cache.read_bytes_at(offset, size)
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'data [u8], ()> {
        self.pay(TEXT_COST)?;
        self.cache.read_bytes_at_until(range, delimiter)
    }
}
