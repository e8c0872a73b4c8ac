//! A file that is whole, valid JSON after every write.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::base::error::Error;
use crate::base::event_lines::{FOOTER, SEPARATOR};
use crate::base::name_pattern::FileNames;

/// A growing JSON array, not empty, inside a JSON object: closed at every moment.
///
/// Each flush is one positioned write of `events + footer` over the old footer.
#[derive(Debug)]
pub(crate) struct LiveTrace {
    path: PathBuf,
    file: GuardedFile,
    /// Where the footer stands, and the next event will.
    end: u64,
    /// The write's bytes, kept to be filled again.
    buffer: Vec<u8>,
}

impl LiveTrace {
    /// Creates a file, see [`create`], and writes `head + footer` to it: the text up to and with the
    /// first events.
    pub(crate) fn create(
        dir: &Path,
        extension: &str,
        names: &mut FileNames,
        head: &[u8],
    ) -> Result<Self, Error> {
        let (path, file) = create(dir, extension, names)?;
        let end = head.len() as u64;
        let mut output = Self { path, file: GuardedFile::new(file), end, buffer: Vec::new() };
        match output.write_at(&[head, FOOTER].concat(), 0) {
            Ok(()) => Ok(output),
            Err(source) => {
                let _ = std::fs::remove_file(&output.path);
                Err(output.error("write", source))
            }
        }
    }

    /// Appends encoded events (no separator at either end). After an error the file is as it was
    /// before, as far as the system let it be restored.
    pub(crate) fn append(&mut self, events: &[u8]) -> Result<(), Error> {
        if events.is_empty() {
            return Ok(());
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer.extend_from_slice(SEPARATOR);
        buffer.extend_from_slice(events);
        let length = buffer.len() as u64;
        buffer.extend_from_slice(FOOTER);
        let written = self.write_at(&buffer, self.end);
        buffer.shrink_to(256 << 10);
        self.buffer = buffer;
        match written {
            Ok(()) => {
                self.end += length;
                Ok(())
            }
            Err(source) => {
                // The footer's bytes are already paid for on a full disk: they can be written
                // again, and what came after them cut off.
                let restored = self.write_at(FOOTER, self.end);
                let length = self.end + FOOTER.len() as u64;
                let _ = restored.and_then(|()| self.file.get()?.set_len(length));
                Err(self.error("write", source))
            }
        }
    }

    /// Where the file is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn error(&self, action: &'static str, source: io::Error) -> Error {
        Error::Output { action, path: self.path.clone(), source }
    }

    fn write_at(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.file.get()?.write_all_at(bytes, at)
    }
}

/// A file whose descriptor is closed, and its number perhaps given to another file, by a program
/// that closes a descriptor twice or all of them. We must neither write to that file nor close it.
#[derive(Debug)]
struct GuardedFile {
    file: Option<File>,
    id: Option<(u64, u64)>,
}

impl GuardedFile {
    fn new(file: File) -> Self {
        let id = id(&file).ok();
        Self { file: Some(file), id }
    }

    fn get(&self) -> io::Result<&File> {
        match &self.file {
            Some(file) if self.id.is_some() && id(file).ok() == self.id => Ok(file),
            _ => Err(io::Error::other("the program closed the descriptor of the trace")),
        }
    }
}

impl Drop for GuardedFile {
    fn drop(&mut self) {
        if self.get().is_err() {
            std::mem::forget(self.file.take());
        }
    }
}

/// What a descriptor stands for: device and inode.
fn id(file: &File) -> io::Result<(u64, u64)> {
    let metadata = file.metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

/// Creates the first of `names` in `dir` that is free, which is the current one then.
///
/// An existing file is never opened, nor a link followed. The directory is made if missing.
pub(crate) fn create(
    dir: &Path,
    extension: &str,
    names: &mut FileNames,
) -> Result<(PathBuf, File), Error> {
    const TRIES: u32 = 10_000;
    let path = |names: &FileNames| dir.join(format!("{}{extension}", names.current()));
    for _ in 0..TRIES {
        let path = path(names);
        match open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => names.advance(),
            Err(source) => return Err(Error::Output { action: "create", path, source }),
        }
    }
    let source = io::Error::new(io::ErrorKind::AlreadyExists, "too many files of this name");
    Err(Error::Output { action: "create", path: path(names), source })
}

/// Writes a whole file at once: it is there completely or not at all.
pub(crate) fn write_whole(
    dir: &Path,
    extension: &str,
    names: &mut FileNames,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<PathBuf, Error> {
    let (partial, mut file) = create(dir, &format!("{extension}.partial"), names)?;
    let written = write(&mut file).map_err(|source| {
        let path = partial.clone();
        Error::Output { action: "write", path, source }
    });
    let moved = written.and_then(|()| {
        // What is replaced is our own: made in this moment, and empty.
        let (path, _) = create(dir, extension, names)?;
        match std::fs::rename(&partial, &path) {
            Ok(()) => Ok(path),
            Err(source) => {
                let _ = std::fs::remove_file(&path);
                Err(Error::Output { action: "rename", path, source })
            }
        }
    });
    if moved.is_err() {
        let _ = std::fs::remove_file(&partial);
    }
    moved
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // `create_new` neither opens an existing file nor follows a link that stands in the way.
    options.write(true).create_new(true);
    options.mode(0o600);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).map_err(|error| match error.kind() {
                    // A link that leads nowhere, say. It is no taken name, so the next is no better.
                    io::ErrorKind::AlreadyExists => io::ErrorKind::NotADirectory.into(),
                    _ => error,
                })?;
            }
            options.open(path)
        }
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::os::unix::fs::PermissionsExt;

    use chrono::DateTime;

    use super::*;
    use crate::base::name_pattern::{NameFields, NamePattern};

    const HEAD: &[u8] = b"{\"traceEvents\":[\n0";

    thread_local! {
        static SEQUENCE: Cell<u32> = const { Cell::new(1) };
    }

    /// `out001`, `out002`, …
    fn names() -> FileNames {
        fn next() -> u32 {
            SEQUENCE.set(SEQUENCE.get() + 1);
            SEQUENCE.get()
        }
        let started = DateTime::UNIX_EPOCH.fixed_offset();
        let fields = NameFields { started, pid: 1, thread_id: 0, sequence: 1 };
        FileNames::new(NamePattern::parse("out%N").unwrap(), fields, next)
    }

    fn create(dir: &Path) -> LiveTrace {
        LiveTrace::create(dir, ".json", &mut names(), HEAD).unwrap()
    }

    fn events(output: &LiveTrace) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(output.path()).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json["traceEvents"].as_array().unwrap().clone()
    }

    #[test]
    fn is_valid_after_every_write() {
        let dir = tempfile::tempdir().unwrap();
        let mut output = create(&dir.path().join("made/if missing"));
        assert_eq!(events(&output), [0]);
        output.append(b"").unwrap();
        assert_eq!(events(&output), [0]);
        output.append(b"1").unwrap();
        output.append(b"2,\n3").unwrap();
        assert_eq!(events(&output), [0, 1, 2, 3]);
        let mode = std::fs::metadata(output.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn never_touches_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("target");
        std::fs::write(dir.path().join("out001.json"), "mine").unwrap();
        std::os::unix::fs::symlink(&target, dir.path().join("out002.json")).unwrap();
        std::fs::create_dir(dir.path().join("out003.json")).unwrap();
        let output = create(dir.path());
        assert!(output.path().ends_with("out004.json"));
        assert_eq!(std::fs::read(dir.path().join("out001.json")).unwrap(), b"mine");
        assert!(!target.exists());
    }

    #[test]
    fn says_what_failed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        let error = LiveTrace::create(&file, ".json", &mut names(), HEAD).unwrap_err();
        assert!(error.line().contains("could not create"), "{}", error.line());
    }

    #[test]
    fn a_directory_that_is_a_link_to_nowhere_is_tried_once() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        let error = LiveTrace::create(&link, ".json", &mut names(), HEAD).unwrap_err();
        assert!(error.line().contains("not a directory"), "{}", error.line());
        assert_eq!(SEQUENCE.get(), 1);
    }

    #[test]
    fn a_whole_file_is_there_or_not() {
        let dir = tempfile::tempdir().unwrap();
        let list = || -> Vec<_> {
            let files = std::fs::read_dir(dir.path()).unwrap();
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
        };
        let fail = |_: &mut File| Err(io::Error::from(io::ErrorKind::StorageFull));
        let error = write_whole(dir.path(), ".x", &mut names(), fail).unwrap_err();
        assert!(error.line().contains("could not write"), "{}", error.line());
        assert!(list().is_empty());

        std::fs::write(dir.path().join("out001.x"), "mine").unwrap();
        let write = |file: &mut File| {
            assert!(list().contains(&"out001.x.partial".to_owned()));
            io::Write::write_all(file, b"whole")
        };
        let path = write_whole(dir.path(), ".x", &mut names(), write).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
        assert_eq!(std::fs::read(dir.path().join("out001.x")).unwrap(), b"mine");
        assert_eq!(list().len(), 2);
    }
}
