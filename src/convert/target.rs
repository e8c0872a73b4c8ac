//! Files that are all there in the end, or none of them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

/// Files that are being written, each beside its place until the last one is.
#[derive(Debug, Default)]
pub struct Target {
    /// Where it is, and where it will be.
    files: Vec<(PathBuf, PathBuf)>,
}

/// A file, and what is wrong with it.
type Failure = (PathBuf, io::Error);

impl Target {
    /// The first of the paths that is not one of these files yet; they are numbered from 1.
    pub fn free(&self, path: impl Fn(u32) -> PathBuf) -> PathBuf {
        let is_taken = |path: &PathBuf| self.files.iter().any(|(_, known)| known == path);
        let mut number = 1;
        loop {
            let path = path(number);
            if !is_taken(&path) {
                return path;
            }
            number += 1;
        }
    }

    /// Writes a file, compressed if its name ends in `.gz`.
    pub fn write(
        &mut self,
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.partial", std::process::id()));
        let partial = path.with_file_name(name);
        let fail = |error| (path.to_owned(), error);
        let mut file = create(&partial).map_err(fail)?;
        self.files.push((partial, path.to_owned()));
        let is_gzip = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
        let written = if is_gzip {
            // One member: DevTools reads no more.
            let mut gzip = GzEncoder::new(BufWriter::new(&mut file), Compression::default());
            write(&mut gzip).and_then(|()| gzip.finish()?.flush())
        } else {
            let mut plain = BufWriter::with_capacity(64 << 10, &mut file);
            write(&mut plain).and_then(|()| plain.flush())
        };
        written.map_err(fail)
    }

    /// Brings the files to their places, over what may be there.
    pub fn finish(mut self) -> Result<Vec<PathBuf>, Failure> {
        let files = std::mem::take(&mut self.files);
        for (index, (partial, path)) in files.iter().enumerate() {
            if let Err(error) = fs::rename(partial, path) {
                for (_, moved) in &files[..index] {
                    let _ = fs::remove_file(moved);
                }
                self.files = files[index..].to_vec();
                return Err((path.clone(), error));
            }
        }
        Ok(files.into_iter().map(|(_, path)| path).collect())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        for (partial, _) in &self.files {
            let _ = fs::remove_file(partial);
        }
    }
}

/// A new file, readable by its owner alone, as recordings are.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}
