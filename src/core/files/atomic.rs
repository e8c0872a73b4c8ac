//! Files that appear at their paths only when they are complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::error::FileError;
use super::exclusive::{create_first_free, current_path};
use super::target::{open_through, replaced_path, without_links};
use super::temporary::TemporaryFile;
use crate::base::error::Error;
use crate::base::settings::name_pattern::FileNames;

/// Writes a file under the first free name in `dir`, completely or not at all. Returns its path.
pub fn write_whole(
    dir: &Path,
    extension: &str,
    names: &mut FileNames,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<PathBuf, Error> {
    let wanted = current_path(dir, extension, names);
    let fail = |action, path: &Path, source| Error::Output { action, path: path.into(), source };
    let (temporary, mut file) =
        TemporaryFile::create(&wanted).map_err(|source| fail("create", &wanted, source))?;
    write(&mut file).map_err(|source| fail("write", &wanted, source))?;
    // Reserves the name with an empty file, so that the rename replaces only this file.
    let (path, _) = create_first_free(dir, extension, names)?;
    temporary.rename_to(&path).map_err(|source| {
        let _ = fs::remove_file(&path);
        fail("rename", &path, source)
    })?;
    Ok(path)
}

/// A file that is being written, on a thread of its own. Leaves nothing if it is dropped.
#[derive(Debug)]
pub struct AtomicFile {
    /// None if the target is written through.
    temporary: Option<TemporaryFile>,
    /// Path in error messages.
    target: PathBuf,
    /// Uncompressed size so far.
    bytes: u64,
    /// Bytes for the thread's next write.
    piece: Vec<u8>,
    /// None after an error.
    thread: Option<WriterThread>,
}

/// Size of a write.
const PIECE_BYTES: usize = 256 << 10;

impl AtomicFile {
    /// Begins a file in the folder of `target`, which is made if missing. Compresses the file if
    /// `target` ends in `.gz`. A device or a pipe is written at once.
    pub fn create(target: &Path) -> Result<Self, FileError> {
        let fail = |action| move |source| FileError { action, path: target.into(), source };
        let (temporary, file) = match replaced_path(target)? {
            Some(path) => {
                if let Some(folder) = path.parent().filter(|path| !path.as_os_str().is_empty()) {
                    fs::create_dir_all(folder).map_err(fail("make the folder of"))?;
                }
                let (temporary, file) = TemporaryFile::create(&path).map_err(fail("create"))?;
                (Some(temporary), file)
            }
            None => (None, open_through(target).map_err(fail("open"))?),
        };
        let thread = WriterThread::start(FileOutput::new(file, target)).map_err(fail("write"))?;
        Ok(Self {
            temporary,
            target: target.into(),
            bytes: 0,
            piece: Vec::with_capacity(PIECE_BYTES),
            thread: Some(thread),
        })
    }

    /// Returns the error for a write that failed.
    pub fn error(&self, source: io::Error) -> FileError {
        FileError { action: "write", path: self.target.clone(), source }
    }

    /// Writes the rest. The file gets its path from [`keep`].
    pub fn finish(mut self) -> Result<WholeFile, FileError> {
        let written = self.send_piece().and_then(|()| match self.thread.take() {
            Some(thread) => thread.finish(),
            None => Ok(()),
        });
        written.map_err(|source| self.error(source))?;
        Ok(WholeFile { temporary: self.temporary, bytes: self.bytes })
    }

    /// Sends the collected bytes to the thread.
    fn send_piece(&mut self) -> io::Result<()> {
        let Some(thread) = &self.thread else {
            return Err(io::Error::other("an earlier write failed"));
        };
        let empty = thread.empty.try_recv().unwrap_or_else(|_| Vec::with_capacity(PIECE_BYTES));
        if thread.pieces.send(mem::replace(&mut self.piece, empty)).is_ok() {
            return Ok(());
        }
        // Only an error ends the thread early.
        self.thread.take().map_or(Ok(()), WriterThread::finish)
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.piece.len() + bytes.len() > PIECE_BYTES && !self.piece.is_empty() {
            self.send_piece()?;
        }
        // A large event takes several pieces: the memory of pieces is kept.
        let bytes = &bytes[..bytes.len().min(PIECE_BYTES)];
        self.piece.extend_from_slice(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send_piece()
    }
}

/// The thread that compresses and writes, while the caller makes the next piece.
#[derive(Debug)]
struct WriterThread {
    pieces: SyncSender<Vec<u8>>,
    /// Memory of written pieces, for the next pieces.
    empty: Receiver<Vec<u8>>,
    handle: JoinHandle<io::Result<()>>,
}

impl WriterThread {
    fn start(mut output: FileOutput) -> io::Result<Self> {
        /// Pieces that may wait. A caller that is faster than the disk waits too.
        const MAX_WAITING: usize = 2;
        let (pieces, to_write) = mpsc::sync_channel::<Vec<u8>>(MAX_WAITING);
        let (written, empty) = mpsc::channel();
        let handle = thread::Builder::new().name("cpu-prof file".into()).spawn(move || {
            for mut piece in to_write {
                output.write_all(&piece)?;
                piece.clear();
                // Fails if the caller is finished, and needs no more memory.
                let _ = written.send(piece);
            }
            output.finish()
        })?;
        Ok(Self { pieces, empty, handle })
    }

    /// Waits until all pieces are written.
    fn finish(self) -> io::Result<()> {
        drop(self.pieces);
        let panicked = |_| Err(io::Error::other("the thread that writes the file panicked"));
        self.handle.join().unwrap_or_else(panicked)
    }
}

/// Writes to a file, or to a pipe that another program may have made non-blocking.
fn write_patiently(file: &mut File, mut bytes: &[u8]) -> io::Result<()> {
    const PAUSE: Duration = Duration::from_millis(1);
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(length) => bytes = &bytes[length..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(PAUSE),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

enum FileOutput {
    Plain(File),
    /// A single gzip member: DevTools reads only the first.
    Gzip(Box<GzEncoder<BufWriter<File>>>),
}

impl FileOutput {
    fn new(file: File, target: &Path) -> Self {
        const LEVEL: Compression = Compression::new(4);
        if target.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz")) {
            Self::Gzip(Box::new(GzEncoder::new(BufWriter::new(file), LEVEL)))
        } else {
            Self::Plain(file)
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(out) => write_patiently(out, bytes),
            Self::Gzip(out) => out.write_all(bytes),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Gzip(out) => out.finish()?.flush(),
        }
    }
}

/// Writes a file at once.
pub fn write(target: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file = AtomicFile::create(target)?;
    file.write_all(bytes).map_err(|source| file.error(source))?;
    keep(vec![(file.finish()?, target.into())]).map(drop)
}

/// A complete file that is not at its path yet.
#[derive(Debug)]
pub struct WholeFile {
    /// None if the file was written through.
    temporary: Option<TemporaryFile>,
    /// Uncompressed size.
    pub bytes: u64,
}

/// Moves files to their paths, in the folders that they were begun for. Replaces the files there,
/// also behind links. Removes all of them if one cannot be moved.
pub fn keep(files: Vec<(WholeFile, PathBuf)>) -> Result<Vec<PathBuf>, FileError> {
    let mut kept: Vec<PathBuf> = Vec::with_capacity(files.len());
    for (file, path) in files {
        let rename = |file: TemporaryFile| file.rename_to(&without_links(&path)?);
        let renamed = file.temporary.map(rename);
        if let Some(Err(source)) = renamed {
            for path in kept {
                let _ = fs::remove_file(path);
            }
            return Err(FileError { action: "rename", path, source });
        }
        kept.push(path);
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;
    use crate::files::find::find;
    use crate::testing::names::{list, numbered_names};

    fn whole(target: &Path, text: &str) -> WholeFile {
        let mut file = AtomicFile::create(target).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.finish().unwrap()
    }

    #[test]
    fn a_file_is_there_when_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("made/if/missing.txt");
        let folder = target.parent().unwrap();
        let file = whole(&target, "new");
        assert_eq!(list(folder).len(), 1);
        assert!(!target.exists());
        assert_eq!(keep(vec![(file, target.clone())]).unwrap(), [target.as_path()]);
        assert_eq!(fs::read(&target).unwrap(), b"new");
        drop(whole(&target, "dropped"));
        assert_eq!(list(folder), ["missing.txt"]);
    }

    #[test]
    fn pieces_come_in_their_order() {
        let dir = tempfile::tempdir().unwrap();
        let texts: Vec<String> =
            (0..9).map(|i| i.to_string().repeat(PIECE_BYTES / 3 * i)).collect();
        for name in ["plain", "packed.gz"] {
            let target = dir.path().join(name);
            let mut file = AtomicFile::create(&target).unwrap();
            for text in &texts {
                file.write_all(text.as_bytes()).unwrap();
            }
            let file = file.finish().unwrap();
            assert_eq!(file.bytes, texts.concat().len() as u64);
            keep(vec![(file, target.clone())]).unwrap();
            let input = find(&[target]).0.remove(0);
            let mut text = String::new();
            io::Read::read_to_string(&mut input.open().unwrap(), &mut text).unwrap();
            assert!(text == texts.concat(), "{name}");
        }
    }

    #[test]
    fn a_full_disk_is_reported_by_a_later_write() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("x");
        let (temporary, _) = TemporaryFile::create(&target).unwrap();
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let thread = Some(WriterThread::start(FileOutput::Plain(full)).unwrap());
        let mut file =
            AtomicFile { temporary: Some(temporary), target, bytes: 0, piece: Vec::new(), thread };
        let piece = vec![b'x'; PIECE_BYTES];
        let error = (0..9).find_map(|_| file.write_all(&piece).err()).unwrap();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(file.write_all(&piece).and_then(|()| file.write_all(&piece)).is_err());
        assert!(file.finish().is_err());
    }

    #[test]
    fn all_files_are_kept_or_none() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let files = vec![
            (whole(&at("out"), "one"), at("one")),
            (whole(&at("out"), "two"), at("two")),
            (whole(&at("out"), "three"), at("three")),
        ];
        fs::create_dir(at("two")).unwrap();
        let error = keep(files).unwrap_err();
        assert_eq!(error.path, at("two"));
        assert_eq!(list(dir.path()), ["two"]);
    }

    #[test]
    fn only_regular_files_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let error = AtomicFile::create(dir.path()).unwrap_err();
        assert!(error.to_string().contains("name of a file"), "{error}");
        assert!(list(dir.path()).is_empty());
    }

    #[test]
    fn a_device_is_written_through_and_stays() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        assert_eq!(keep(vec![(whole(&link, "text"), link.clone())]).unwrap(), [link.as_path()]);
        assert!(link.is_symlink() && !fs::metadata(&link).unwrap().is_file());
        assert_eq!(list(dir.path()), ["link"]);
    }

    #[test]
    fn the_file_behind_a_link_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("real")).unwrap();
        fs::write(at("real/trace.json"), "old").unwrap();
        std::os::unix::fs::symlink("real/trace.json", at("link.json")).unwrap();
        keep(vec![(whole(&at("link.json"), "new"), at("link.json"))]).unwrap();
        assert!(at("link.json").is_symlink());
        assert_eq!(fs::read(at("real/trace.json")).unwrap(), b"new");
        assert_eq!(list(&at("real")), ["trace.json"]);
    }

    #[test]
    fn a_whole_file_is_there_or_not() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let fail = |_: &mut File| Err(io::Error::from(io::ErrorKind::StorageFull));
        let error = write_whole(dir.path(), ".x", &mut numbered_names(), fail).unwrap_err();
        assert!(error.line().contains("could not write"), "{}", error.line());
        assert!(list(dir.path()).is_empty());

        fs::write(at("out001.x"), "mine").unwrap();
        let write = |file: &mut File| {
            let names = list(dir.path());
            let [temporary, own] = names.as_slice() else { panic!("{names:?}") };
            assert!(temporary.ends_with(".partial") && own == "out001.x", "{names:?}");
            file.write_all(b"whole")
        };
        let path = write_whole(dir.path(), ".x", &mut numbered_names(), write).unwrap();
        assert_eq!(path, at("out002.x"));
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(fs::read(at("out001.x")).unwrap(), b"mine");
        assert_eq!(list(dir.path()), ["out001.x", "out002.x"]);
    }
}
