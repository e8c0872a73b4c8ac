//! Text that waits on the disk until it is copied into a file.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use super::error::FileError;
use super::target::replaced_path;
use super::temporary::TemporaryFile;

/// Text in a file without a name, which the system removes when it is closed.
#[derive(Debug)]
pub struct Spool {
    file: File,
    /// The path of the output that the text is for.
    target: PathBuf,
}

impl Spool {
    /// Creates an empty spool on the disk of `target`, or of the system's temporary files if the
    /// target is written through.
    pub fn create(target: &Path) -> Result<Self, FileError> {
        let fail = |source| FileError { action: "write", path: target.into(), source };
        let beside = replaced_path(target)?.unwrap_or_else(|| std::env::temp_dir().join("spool"));
        // The name goes with the temporary file, which is dropped here.
        let (_, file) = TemporaryFile::create(&beside).map_err(fail)?;
        Ok(Self { file, target: target.into() })
    }

    /// Appends text.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.file.write_all(bytes).map_err(|source| self.error(source))
    }

    /// Copies all of the text to `out`.
    pub fn copy_to(&mut self, out: &mut impl Write) -> Result<(), FileError> {
        let copied = self.file.rewind().and_then(|()| io::copy(&mut self.file, out));
        copied.map(|_| ()).map_err(|source| self.error(source))
    }

    fn error(&self, source: io::Error) -> FileError {
        FileError { action: "write", path: self.target.clone(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::names::list;

    #[test]
    fn a_spool_has_no_name() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::create(&dir.path().join("out")).unwrap();
        assert!(list(dir.path()).is_empty());
        spool.write(b"a").unwrap();
        spool.write(b"b").unwrap();
        for _ in 0..2 {
            let mut text = Vec::new();
            spool.copy_to(&mut text).unwrap();
            assert_eq!(text, b"ab");
        }
    }
}
