//! What files there are to read: those named, and those in the folders named.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;
use serde::{Serialize, Serializer};

/// A file to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Input {
    /// Where it is.
    pub path: PathBuf,
    /// Its size on the disk.
    pub bytes: u64,
    /// Whether it was named itself, and not found in a folder.
    pub is_named: bool,
}

/// A file that cannot be read, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Failed {
    /// Where it is.
    #[serde(rename = "file", serialize_with = "lossy")]
    pub path: PathBuf,
    /// The end of a sentence that begins with the file.
    pub reason: String,
}

impl Input {
    /// Its text; what is compressed is told by its first bytes.
    pub(crate) fn open(&self) -> io::Result<Box<dyn Read>> {
        self.open_counted(&Arc::default())
    }

    /// The same, and adds the bytes of the file that were read to `done`.
    pub(crate) fn open_counted(&self, done: &Arc<AtomicU64>) -> io::Result<Box<dyn Read>> {
        const GZIP: [u8; 2] = [0x1f, 0x8b];
        let file = Counted { file: File::open(&self.path)?, done: Arc::clone(done) };
        let (start, rest) = first_bytes(file, GZIP.len())?;
        let is_gzip = start == GZIP;
        let whole = io::Cursor::new(start).chain(rest);
        Ok(if is_gzip {
            Box::new(MultiGzDecoder::new(io::BufReader::with_capacity(64 << 10, whole)))
        } else {
            Box::new(whole)
        })
    }
}

struct Counted {
    file: File,
    done: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(out)?;
        self.done.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

/// A path as text; what is no Unicode in it is replaced.
pub(crate) fn lossy<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

/// The same, for many.
pub(crate) fn lossy_list<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

/// The first bytes of a reader, fewer if it has no more.
pub(crate) fn first_bytes<R: Read>(mut reader: R, most: usize) -> io::Result<(Vec<u8>, R)> {
    let mut start = Vec::with_capacity(most);
    reader.by_ref().take(most as u64).read_to_end(&mut start)?;
    Ok((start, reader))
}

/// The files named, and the files in the folders named and in their folders, in the order of their
/// names; each file once.
///
/// In a folder only what is called as traces are is taken, and neither hidden files nor
/// `node_modules` are looked into.
pub(crate) fn find(paths: &[PathBuf]) -> (Vec<Input>, Vec<Failed>) {
    let mut found = FileSearch::default();
    for path in paths {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => found.folder(path),
            Ok(metadata) => found.file(path, &metadata, true),
            Err(error) => found.fail(path, &error),
        }
    }
    (found.inputs, found.failed)
}

#[derive(Default)]
struct FileSearch {
    inputs: Vec<Input>,
    failed: Vec<Failed>,
    /// Device and inode.
    seen: HashSet<(u64, u64)>,
}

impl FileSearch {
    fn folder(&mut self, folder: &Path) {
        let entries =
            fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return self.fail(folder, &error),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if name.starts_with('.') || name == "node_modules" {
                continue;
            }
            // A link to a folder could lead round in a circle.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.folder(&path);
            } else if has_trace_extension(&name) {
                match fs::metadata(&path) {
                    Ok(metadata) if metadata.is_dir() => {}
                    Ok(metadata) => self.file(&path, &metadata, false),
                    Err(error) => self.fail(&path, &error),
                }
            }
        }
    }

    fn file(&mut self, path: &Path, metadata: &fs::Metadata, is_named: bool) {
        if !metadata.is_file() {
            let reason = "it is no regular file; write it to one first".to_owned();
            self.failed.push(Failed { path: path.to_owned(), reason });
        } else if self.seen.insert((metadata.dev(), metadata.ino())) {
            self.inputs.push(Input { path: path.to_owned(), bytes: metadata.len(), is_named });
        }
    }

    fn fail(&mut self, path: &Path, error: &io::Error) {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => "it does not exist".to_owned(),
            _ => format!("it cannot be read: {error}"),
        };
        self.failed.push(Failed { path: path.to_owned(), reason });
    }
}

fn has_trace_extension(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    [".json", ".cpuprofile", ".trace"].iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn text(input: &Input) -> io::Result<String> {
        let mut text = String::new();
        input.open()?.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn folders_are_read_in_order_and_files_once() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for folder in ["b", "node_modules", ".git"] {
            fs::create_dir(at(folder)).unwrap();
        }
        for name in [
            "c.cpuprofile",
            "a.trace.json",
            "b/x.json.gz",
            "b/notes.txt",
            "b/x.trace.json.partial",
            "node_modules/package.json",
            ".git/x.json",
            ".x.json",
            "named.txt",
        ] {
            fs::write(at(name), "{}").unwrap();
        }
        std::os::unix::fs::symlink(dir.path(), at("b/round.json")).unwrap();
        let (inputs, failed) =
            find(&[at("named.txt"), dir.path().into(), at("a.trace.json"), at("missing")]);
        let names: Vec<_> = inputs
            .iter()
            .map(|input| input.path.strip_prefix(dir.path()).unwrap().to_str().unwrap())
            .collect();
        assert_eq!(names, ["named.txt", "a.trace.json", "b/x.json.gz", "c.cpuprofile"]);
        assert!(inputs[0].is_named && !inputs[1].is_named);
        assert_eq!(inputs[0].bytes, 2);
        let reason = "it does not exist".to_owned();
        assert_eq!(failed, [Failed { path: at("missing"), reason }]);
    }

    #[test]
    fn what_is_no_regular_file_is_said() {
        let (inputs, failed) = find(&["/dev/null".into()]);
        assert!(inputs.is_empty());
        assert!(failed[0].reason.contains("no regular file"));
    }

    #[test]
    fn compression_is_told_by_content() {
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
            let input = Input { path, bytes: 0, is_named: true };
            assert_eq!(text(&input).ok().as_deref(), expected);
        }
    }
}
