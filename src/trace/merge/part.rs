//! One file that a merge writes: under another name until it is whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use rustc_hash::FxHashMap;

use super::MergeError;
use crate::trace::encode::SEPARATOR;

/// The first member tells the scanner that one event stands in one line. The metadata comes last,
/// for what is in it is only known then.
const HEAD: &[u8] = b"{\"source\":\"cpu-prof\",\"traceEvents\":[\n";

/// A file on its way.
pub struct Part {
    out: Out,
    temporary: Temporary,
    /// Bytes so far, uncompressed.
    pub bytes: u64,
    has_events: bool,
    /// The processes that have something in it, by their pids in the trace: from when, until when,
    /// microseconds.
    pub pids: FxHashMap<u32, (i64, i64)>,
}

enum Out {
    Plain(BufWriter<File>),
    Gzip(Box<GzEncoder<BufWriter<File>>>),
}

impl Part {
    /// Begins a file for `path`, or beside it, compressed if that is called so.
    pub fn create(path: &Path) -> Result<Self, MergeError> {
        let fail = |action| move |source| MergeError::Output { action, path: path.into(), source };
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                return Err(fail("write")(io::ErrorKind::IsADirectory.into()));
            }
            Ok(metadata) if !metadata.is_file() => {
                return Err(fail("replace")(io::Error::other("it is no regular file")));
            }
            _ => {}
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder {
            fs::create_dir_all(folder).map_err(fail("make the folder of"))?;
        }
        let (temporary, file) = Temporary::create(path).map_err(fail("create"))?;
        let file = BufWriter::with_capacity(256 << 10, file);
        let is_gzip = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
        let out = if is_gzip {
            Out::Gzip(Box::new(GzEncoder::new(file, Compression::new(4))))
        } else {
            Out::Plain(file)
        };
        let pids = FxHashMap::default();
        let mut part = Self { out, temporary, bytes: 0, has_events: false, pids };
        part.write(HEAD)?;
        Ok(part)
    }

    /// Appends one event, or several with separators between them.
    pub fn events(&mut self, events: &[u8]) -> Result<(), MergeError> {
        if std::mem::replace(&mut self.has_events, true) {
            self.write(SEPARATOR)?;
        }
        self.write(events)
    }

    /// Notes that a process has something at this time.
    pub fn note(&mut self, pid: u32, ts: i64) {
        let (first, last) = self.pids.entry(pid).or_insert((ts, ts));
        *first = ts.min(*first);
        *last = ts.max(*last);
    }

    /// The earliest and the latest time of some processes.
    pub fn range(&self, is_meant: impl Fn(u32) -> bool) -> Option<(i64, i64)> {
        let ranges = self.pids.iter().filter(|(pid, _)| is_meant(**pid)).map(|(_, range)| *range);
        ranges.reduce(|(first, last), (start, end)| (first.min(start), last.max(end)))
    }

    /// Appends text as it is.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), MergeError> {
        self.bytes += bytes.len() as u64;
        let written = match &mut self.out {
            Out::Plain(out) => out.write_all(bytes),
            Out::Gzip(out) => out.write_all(bytes),
        };
        written.map_err(|source| self.temporary.error("write", source))
    }

    /// Appends a text of any length.
    pub fn copy(&mut self, mut reader: impl io::Read) -> Result<(), MergeError> {
        let mut room = vec![0; 64 << 10];
        loop {
            match reader.read(&mut room) {
                Ok(0) => return Ok(()),
                Ok(length) => self.write(&room[..length])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(self.temporary.error("write", source)),
            }
        }
    }

    /// Writes what is left. The file is at its place only after [`Finished::keep`].
    pub fn finish(self) -> Result<Finished, MergeError> {
        let Self { out, temporary, bytes, .. } = self;
        let flushed = match out {
            Out::Plain(mut out) => out.flush(),
            Out::Gzip(out) => out.finish().and_then(|mut out| out.flush()),
        };
        match flushed {
            Ok(()) => Ok(Finished { temporary, bytes }),
            Err(source) => Err(temporary.error("write", source)),
        }
    }
}

/// A file that is whole, and not yet at its place.
pub struct Finished {
    temporary: Temporary,
    /// Its size, uncompressed.
    pub bytes: u64,
}

impl Finished {
    /// Puts it at its place, in the same folder.
    pub fn keep(self, place: &Path) -> Result<(), MergeError> {
        self.temporary.keep(place)
    }
}

/// A file under a name of its own, which goes when this is dropped.
struct Temporary {
    path: PathBuf,
    place: PathBuf,
    is_kept: bool,
}

impl Temporary {
    fn create(place: &Path) -> io::Result<(Self, File)> {
        let name = place.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut number = 0_u32;
        loop {
            let mut partial = std::ffi::OsString::from(".");
            partial.push(name);
            partial.push(format!(".{}-{number}.partial", std::process::id()));
            let path = place.with_file_name(partial);
            let mut options = OpenOptions::new();
            // A trace holds paths and command lines.
            let opened = options.write(true).create_new(true).mode(0o600).open(&path);
            match opened {
                Ok(file) => return Ok((Self { path, place: place.into(), is_kept: false }, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {
                    number += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn error(&self, action: &'static str, source: io::Error) -> MergeError {
        MergeError::Output { action, path: self.place.clone(), source }
    }

    fn keep(mut self, place: &Path) -> Result<(), MergeError> {
        fs::rename(&self.path, place).map_err(|source| self.error("rename", source))?;
        self.is_kept = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Text that is kept for later on the disk, beside `place`, and has no name there.
pub struct Spool {
    file: File,
}

impl Spool {
    /// An empty one.
    pub fn create(place: &Path) -> Result<Self, MergeError> {
        let fail = |source| MergeError::Output { action: "write", path: place.into(), source };
        let (temporary, file) = Temporary::create(place).map_err(fail)?;
        let path = temporary.path.clone();
        drop(file);
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(fail)?;
        Ok(Self { file })
    }

    /// Appends text.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    /// All of it, from its beginning.
    pub fn read(&mut self) -> io::Result<&File> {
        io::Seek::rewind(&mut self.file)?;
        Ok(&self.file)
    }
}
