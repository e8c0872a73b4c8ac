//! Files that come to their places when they are whole; until then they have names of their own.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use flate2::Compression;
use flate2::write::GzEncoder;
use parking_lot::Mutex;

/// What this process writes now: it would stay behind if the process were killed.
static PARTIAL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes what is not whole yet, for a process that is about to end.
pub(crate) fn remove_partial() {
    for path in PARTIAL.lock().drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// Why a file could not be written.
#[derive(Debug)]
pub(crate) struct FileError {
    /// What was being done.
    pub action: &'static str,
    /// The file's place.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { action, path, source } = self;
        write!(f, "could not {action} {}: {source}", path.display())?;
        f.write_str(match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                " (free some space, or write it to another disk; .gz is smaller)"
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                " (write it to a folder that can be written)"
            }
            io::ErrorKind::IsADirectory => " (give the name of a file in it)",
            _ => "",
        })
    }
}

impl std::error::Error for FileError {}

/// A file on its way, written by a thread of its own while the next piece is made. Dropped before it
/// is whole, it leaves nothing.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    partial: TemporaryFile,
    /// So far, uncompressed.
    bytes: u64,
    piece: Vec<u8>,
    /// None after an error.
    writing: Option<WriterThread>,
}

#[derive(Debug)]
struct WriterThread {
    pieces: SyncSender<Vec<u8>>,
    /// Pieces that are written, to be filled again.
    empty: Receiver<Vec<u8>>,
    thread: JoinHandle<io::Result<()>>,
}

enum FileOutput {
    Plain(File),
    /// One member: DevTools reads no more.
    Gzip(Box<GzEncoder<BufWriter<File>>>),
}

const PIECE: usize = 256 << 10;

impl AtomicFile {
    /// Begins a file for `place`, compressed if that ends in `.gz`, in a folder that is made if it
    /// is missing.
    pub(crate) fn create(place: &Path) -> Result<Self, FileError> {
        let fail = |action| move |source| FileError { action, path: place.into(), source };
        match fs::metadata(place) {
            Ok(metadata) if metadata.is_dir() => {
                return Err(fail("write")(io::ErrorKind::IsADirectory.into()));
            }
            Ok(metadata) if !metadata.is_file() => {
                return Err(fail("replace")(io::Error::other("it is no regular file")));
            }
            _ => {}
        }
        let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder {
            fs::create_dir_all(folder).map_err(fail("make the folder of"))?;
        }
        let (partial, file) = TemporaryFile::create(place).map_err(fail("create"))?;
        let is_gzip = place.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
        let out = if is_gzip {
            FileOutput::Gzip(Box::new(GzEncoder::new(BufWriter::new(file), Compression::new(4))))
        } else {
            FileOutput::Plain(file)
        };
        let writing = Some(WriterThread::start(out).map_err(fail("write"))?);
        Ok(Self { partial, bytes: 0, piece: Vec::with_capacity(PIECE), writing })
    }

    /// What is said if it cannot be written.
    pub(crate) fn error(&self, source: io::Error) -> FileError {
        self.partial.error("write", source)
    }

    /// Writes what is left. The file is at its place only after [`keep`].
    pub(crate) fn finish(mut self) -> Result<WholeFile, FileError> {
        let written = self.pass_on().and_then(|()| match self.writing.take() {
            Some(writing) => writing.finish(),
            None => Ok(()),
        });
        match written {
            Ok(()) => Ok(WholeFile { partial: self.partial, bytes: self.bytes }),
            Err(source) => Err(self.partial.error("write", source)),
        }
    }

    /// Gives the thread what was collected.
    fn pass_on(&mut self) -> io::Result<()> {
        let Some(writing) = &self.writing else {
            return Err(io::Error::other("it could not be written before"));
        };
        let empty = writing.empty.try_recv().unwrap_or_else(|_| Vec::with_capacity(PIECE));
        if writing.pieces.send(std::mem::replace(&mut self.piece, empty)).is_ok() {
            return Ok(());
        }
        // It has ended, and only an error ends it.
        self.writing.take().map_or(Ok(()), WriterThread::finish)
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.piece.len() + bytes.len() > PIECE && !self.piece.is_empty() {
            self.pass_on()?;
        }
        self.piece.extend_from_slice(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on()
    }
}

impl WriterThread {
    fn start(mut out: FileOutput) -> io::Result<Self> {
        // Few: what is made faster than it is written must wait.
        let (pieces, to_write) = mpsc::sync_channel::<Vec<u8>>(2);
        let (written, empty) = mpsc::channel();
        let thread = thread::Builder::new().name("cpu-prof file".into()).spawn(move || {
            for mut piece in to_write {
                out.write_all(&piece)?;
                piece.clear();
                // Whoever gives no more pieces needs no empty ones.
                let _ = written.send(piece);
            }
            out.finish()
        })?;
        Ok(Self { pieces, empty, thread })
    }

    fn finish(self) -> io::Result<()> {
        drop(self.pieces);
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("its writer failed")))
    }
}

impl FileOutput {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.write_all(bytes),
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

/// A file that is whole, and not yet at its place.
#[derive(Debug)]
pub(crate) struct WholeFile {
    partial: TemporaryFile,
    /// Its size, uncompressed.
    pub bytes: u64,
}

/// Brings files to these places, in the folders that they were begun for: all or none. What was
/// there is replaced.
pub(crate) fn keep(files: Vec<(WholeFile, PathBuf)>) -> Result<Vec<PathBuf>, FileError> {
    let mut kept: Vec<PathBuf> = Vec::with_capacity(files.len());
    for (file, place) in files {
        if let Err(error) = file.partial.keep(&place) {
            for path in kept {
                let _ = fs::remove_file(path);
            }
            return Err(error);
        }
        kept.push(place);
    }
    Ok(kept)
}

/// A file under a name of its own, which goes when this is dropped.
#[derive(Debug)]
struct TemporaryFile {
    path: PathBuf,
    place: PathBuf,
    is_kept: bool,
}

impl TemporaryFile {
    fn create(place: &Path) -> io::Result<(Self, File)> {
        const TRIES: u32 = 1000;
        if place.file_name().is_none() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut options = OpenOptions::new();
        // A trace holds paths and command lines.
        options.read(true).write(true).create_new(true).mode(0o600);
        let mut number = 0;
        loop {
            // Without the file's own name, which may be as long as a name can be.
            let name = format!(".cpu-prof.{}-{number}.partial", std::process::id());
            let path = place.with_file_name(name);
            match options.open(&path) {
                Ok(file) => {
                    PARTIAL.lock().push(path.clone());
                    let place = place.into();
                    return Ok((Self { path, place, is_kept: false }, file));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < TRIES => {
                    number += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn error(&self, action: &'static str, source: io::Error) -> FileError {
        FileError { action, path: self.place.clone(), source }
    }

    fn keep(mut self, place: &Path) -> Result<(), FileError> {
        let fail = |source| FileError { action: "rename", path: place.into(), source };
        fs::rename(&self.path, place).map_err(fail)?;
        self.is_kept = true;
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // Once it is kept, its old name may be another's.
        if !self.is_kept {
            let _ = fs::remove_file(&self.path);
        }
        PARTIAL.lock().retain(|path| *path != self.path);
    }
}

/// Text that is kept for later on the disk, and has no name there.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    place: PathBuf,
}

impl Spool {
    /// An empty one, on the disk where `place` is.
    pub(crate) fn create(place: &Path) -> Result<Self, FileError> {
        let created = TemporaryFile::create(place);
        let fail = |source| FileError { action: "write", path: place.into(), source };
        let (_, file) = created.map_err(fail)?;
        Ok(Self { file, place: place.into() })
    }

    /// Appends text.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        let written = self.file.write_all(bytes);
        written.map_err(|source| self.error(source))
    }

    /// Copies all of it.
    pub(crate) fn copy_to(&mut self, out: &mut impl Write) -> Result<(), FileError> {
        let copied = io::Seek::rewind(&mut self.file).and_then(|()| io::copy(&mut self.file, out));
        copied.map(|_| ()).map_err(|source| self.error(source))
    }

    fn error(&self, source: io::Error) -> FileError {
        FileError { action: "write", path: self.place.clone(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let files = fs::read_dir(dir).unwrap();
        let mut names: Vec<_> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn whole(place: &Path, text: &str) -> WholeFile {
        let mut file = AtomicFile::create(place).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.finish().unwrap()
    }

    #[test]
    fn a_file_is_there_when_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("made/if/missing.txt");
        let folder = place.parent().unwrap();
        let file = whole(&place, "new");
        assert_eq!(names(folder).len(), 1);
        assert!(!place.exists());
        assert_eq!(keep(vec![(file, place.clone())]).unwrap(), [place.as_path()]);
        assert_eq!(fs::read(&place).unwrap(), b"new");
        drop(whole(&place, "dropped"));
        assert_eq!(names(folder), ["missing.txt"]);
        assert!(PARTIAL.lock().iter().all(|path| !path.starts_with(dir.path())));
    }

    #[test]
    fn pieces_come_in_their_order() {
        let dir = tempfile::tempdir().unwrap();
        let texts: Vec<String> = (0..9).map(|i| i.to_string().repeat(PIECE / 3 * i)).collect();
        for name in ["plain", "packed.gz"] {
            let place = dir.path().join(name);
            let mut file = AtomicFile::create(&place).unwrap();
            for text in &texts {
                file.write_all(text.as_bytes()).unwrap();
            }
            let file = file.finish().unwrap();
            assert_eq!(file.bytes, texts.concat().len() as u64);
            keep(vec![(file, place.clone())]).unwrap();
            let input = crate::files::input::find(&[place]).0.remove(0);
            let mut text = String::new();
            io::Read::read_to_string(&mut input.open().unwrap(), &mut text).unwrap();
            assert!(text == texts.concat(), "{name}");
        }
    }

    #[test]
    fn a_full_disk_is_said_sooner_or_later() {
        let dir = tempfile::tempdir().unwrap();
        let (partial, _) = TemporaryFile::create(&dir.path().join("x")).unwrap();
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let writing = Some(WriterThread::start(FileOutput::Plain(full)).unwrap());
        let mut file = AtomicFile { partial, bytes: 0, piece: Vec::new(), writing };
        let piece = vec![b'x'; PIECE];
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
        assert_eq!(names(dir.path()), ["two"]);
    }

    #[test]
    fn what_is_no_file_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let error = AtomicFile::create(dir.path()).unwrap_err();
        assert!(error.to_string().contains("name of a file"), "{error}");
        let error = AtomicFile::create(Path::new("/dev/null")).unwrap_err();
        assert!(error.to_string().contains("no regular file"), "{error}");
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn a_spool_has_no_name() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::create(&dir.path().join("out")).unwrap();
        assert!(names(dir.path()).is_empty());
        spool.write(b"a").unwrap();
        spool.write(b"b").unwrap();
        for _ in 0..2 {
            let mut text = Vec::new();
            spool.copy_to(&mut text).unwrap();
            assert_eq!(text, b"ab");
        }
    }
}
