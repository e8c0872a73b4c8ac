//! A file to read, compressed or not.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;
use serde::{Serialize, Serializer};

use crate::base::system::regular_file;

/// A file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Path, as it was given or found.
    pub path: PathBuf,
    /// Size on the disk, bytes.
    pub bytes: u64,
    /// Whether the file's own path was given, and not that of a folder.
    pub is_named: bool,
    /// Index of the path that was given, which can be that of a folder.
    pub group: usize,
}

/// A file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failed {
    /// Path, as it was given or found.
    #[serde(rename = "file", serialize_with = "lossy")]
    pub path: PathBuf,
    /// The end of a sentence that begins with the file.
    pub reason: String,
}

impl Input {
    /// Returns whether the folder of one of the files holds the other.
    pub fn is_near(&self, other: &Self) -> bool {
        let holds = |one: &Self, other: &Self| {
            one.path.parent().is_some_and(|folder| other.path.starts_with(folder))
        };
        holds(self, other) || holds(other, self)
    }

    /// Opens the file for reading, and decompresses its text if it begins as gzip does.
    pub fn open(&self) -> io::Result<Box<dyn Read>> {
        self.open_counted(&Arc::default())
    }

    /// Opens the file as `open` does, and adds the bytes that are read from the disk to `done`.
    pub fn open_counted(&self, done: &Arc<AtomicU64>) -> io::Result<Box<dyn Read>> {
        const GZIP: [u8; 2] = [0x1f, 0x8b];
        let file = CountedReader { file: regular_file::open(&self.path)?, done: Arc::clone(done) };
        let (start, rest) = first_bytes(file, GZIP.len())?;
        let is_gzip = start == GZIP;
        let whole = Cursor::new(start).chain(rest);
        Ok(if is_gzip {
            Box::new(MultiGzDecoder::new(BufReader::with_capacity(64 << 10, whole)))
        } else {
            Box::new(whole)
        })
    }
}

/// A file that counts the bytes that are read from it.
struct CountedReader {
    file: File,
    done: Arc<AtomicU64>,
}

impl Read for CountedReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(out)?;
        self.done.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

/// Returns the first bytes of a reader, fewer if it has no more, and the reader after them.
pub fn first_bytes<R: Read>(mut reader: R, most: usize) -> io::Result<(Vec<u8>, R)> {
    let mut start = Vec::with_capacity(most);
    reader.by_ref().take(most as u64).read_to_end(&mut start)?;
    Ok((start, reader))
}

/// Serializes a path as text. Replaces bytes that are not Unicode.
pub fn lossy<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

/// Serializes paths as a list of texts. Replaces bytes that are not Unicode.
pub fn lossy_list<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::fs;
    use std::io::Write;

    fn text(input: &Input) -> io::Result<String> {
        let mut text = String::new();
        input.open()?.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn content_tells_compression() {
        let dir = tempfile::tempdir().unwrap();
        let gzip = |text: &str| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(text.as_bytes()).unwrap();
            encoder.finish().unwrap()
        };
        let several = [gzip("a"), gzip("b")].concat();
        let cut = gzip(&"x".repeat(9999));
        for (bytes, expected) in [
            (b"plain".to_vec(), Some("plain")),
            (b"".to_vec(), Some("")),
            (b"\x1f".to_vec(), Some("\u{1f}")),
            (several, Some("ab")),
            (cut[..cut.len() - 9].to_vec(), None),
        ] {
            let path = dir.path().join("x.json");
            fs::write(&path, &bytes).unwrap();
            let input = Input { path, bytes: 0, is_named: true, group: 0 };
            assert_eq!(text(&input).ok().as_deref(), expected);
        }
    }
}
