//! A file that is whole, valid JSON after every write.

use std::fs::{self, File};
use std::io::{self, Seek};
use std::mem;
use std::path::{Path, PathBuf};

use super::complete_segment::{CompleteSegment, SegmentContents};
use crate::record::link::growing_traces::GrowingTrace;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::settings::name_pattern::FileNames;
use cpu_prof_core::base::system::files::{self, FileId};
use cpu_prof_core::files::exclusive::create_first_free;
use cpu_prof_core::files::own_file::OwnFile;
use cpu_prof_core::format::trace::lines::{FOOTER, SEPARATOR};

/// A growing array of events inside a JSON object, which is closed after every write.
///
/// Each flush is one positioned write of `events + footer` over the old footer.
#[derive(Debug)]
pub(crate) struct LiveTrace {
    /// Path of the file.
    pub path: PathBuf,
    file: GuardedFile,
    /// Position of the next event, bytes.
    end: u64,
    /// Length of the file, bytes.
    pub length: u64,
    /// Memory for the bytes of the next write.
    buffer: Vec<u8>,
    growing: GrowingTrace,
}

impl LiveTrace {
    /// Creates a file under the first free name, and writes `head + footer` to it. The head is the
    /// text up to and with the first events.
    pub(crate) fn create(
        dir: &Path,
        extension: &str,
        names: &mut FileNames,
        head: &[u8],
    ) -> Result<Self, Error> {
        let (path, file) = create_first_free(dir, extension, names)?;
        let file = GuardedFile::new(file);
        let end = head.len() as u64;
        let length = end + FOOTER.len() as u64;
        let growing = GrowingTrace::of(path.clone());
        let trace = Self { path, file, end, length, buffer: Vec::new(), growing };
        match trace.write_at(&[head, FOOTER].concat(), 0) {
            Ok(()) => Ok(trace),
            Err(source) => {
                let _ = fs::remove_file(&trace.path);
                Err(Error::Output { action: "write", path: trace.path.clone(), source })
            }
        }
    }

    /// Appends encoded events, without a separator at either end. Of these, `lasting` bytes stay,
    /// and the next write replaces the rest. After an error the file is as it was before, as far as
    /// the system lets it be restored, and [`Error::Unwritten`] tells that a later write can succeed.
    pub(crate) fn append(&mut self, events: &[u8], lasting: usize) -> Result<(), Error> {
        if !events.is_empty() {
            self.write(events)?;
        }
        if lasting > 0 {
            self.end += (SEPARATOR.len() + lasting) as u64;
        }
        Ok(())
    }

    fn write(&mut self, events: &[u8]) -> Result<(), Error> {
        /// One unusually large flush does not keep its memory.
        const MAX_BUFFER: usize = 256 << 10;
        let mut buffer = mem::take(&mut self.buffer);
        buffer.clear();
        buffer.extend_from_slice(SEPARATOR);
        buffer.extend_from_slice(events);
        buffer.extend_from_slice(FOOTER);
        // Events that are replaced can be longer. Spaces after the footer are valid JSON.
        let replaced = self.length.saturating_sub(self.end) as usize;
        buffer.resize(buffer.len().max(replaced), b' ');
        let length = buffer.len() as u64;
        let written = self.write_at(&buffer, self.end);
        buffer.shrink_to(MAX_BUFFER);
        self.buffer = buffer;
        if let Err(source) = written {
            self.restore(length);
            return Err(self.error(source));
        }
        self.length = self.end + length;
        Ok(())
    }

    /// Writes the footer again after a write of so many bytes that failed, and cuts off the rest. A
    /// full disk has room for the footer: its bytes were written before.
    fn restore(&mut self, bytes: u64) {
        let length = self.end + FOOTER.len() as u64;
        let restored = self.write_at(FOOTER, self.end);
        let is_cut = restored.and_then(|()| self.file.get()?.set_len(length)).is_ok();
        // The next write replaces what could not be cut off.
        self.length = if is_cut { length } else { self.length.max(self.end + bytes) };
    }

    /// Returns whether the file was removed from its folder, or with it.
    pub(crate) fn is_removed(&self) -> bool {
        self.file.get().is_ok_and(files::is_removed)
    }

    /// Returns whether others have cut the file off: it is shorter than what was written, or begins with the zeros
    /// that a write after its end leaves.
    pub(crate) fn is_cut(&self) -> bool {
        let Ok(file) = self.file.get() else { return false };
        let is_short = files::identify(file).is_ok_and(|(_, length)| length < self.end);
        let mut first = [b'{'];
        is_short || files::read_at(file, &mut first, 0).is_ok() && first == [0]
    }

    /// Begins the file anew, with `head + footer`.
    pub(crate) fn begin_anew(&mut self, head: &[u8]) -> Result<(), Error> {
        let cut = self.file.get().and_then(|file| file.set_len(0));
        let text = [head, FOOTER].concat();
        cut.and_then(|()| self.write_at(&text, 0)).map_err(|source| self.error(source))?;
        (self.end, self.length) = (head.len() as u64, text.len() as u64);
        Ok(())
    }

    /// Writes a file that was removed again, under the first free name: the open file still has its
    /// contents. The folder is made if missing.
    pub(crate) fn write_again(
        &mut self,
        dir: &Path,
        extension: &str,
        names: &mut FileNames,
    ) -> Result<(), Error> {
        let (path, mut copy) = create_first_free(dir, extension, names)
            .map_err(|error| error.described(Error::Removed))?;
        if let Err(source) = self.copy_to(&mut copy) {
            let _ = fs::remove_file(&path);
            return Err(Error::Removed(path, source));
        }
        self.growing = GrowingTrace::of(path.clone());
        (self.path, self.file) = (path, GuardedFile::new(copy));
        Ok(())
    }

    fn copy_to(&self, copy: &mut File) -> io::Result<()> {
        let mut file = self.file.get()?;
        file.rewind()?;
        io::copy(&mut file, copy).map(|_| ())
    }

    /// Closes the file after its last event, at `end_us`.
    pub(super) fn finish(self, end_us: i64, contents: SegmentContents) -> CompleteSegment {
        let file = OwnFile::of(self.path, self.file.get());
        CompleteSegment { file, bytes: self.length, end_us, contents }
    }

    fn error(&self, source: io::Error) -> Error {
        let path = self.path.clone();
        match self.file.get() {
            Ok(_) => Error::Unwritten(path, source),
            Err(_) => Error::Output { action: "write", path, source },
        }
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        files::write_all_at(self.file.get()?, bytes, at)
    }
}

/// A file that is only used while its descriptor belongs to it.
///
/// A program that closes a descriptor twice, or closes all descriptors, can close this one too. The
/// system may then give its number to another file, which we must neither write to nor close.
#[derive(Debug)]
struct GuardedFile {
    file: Option<File>,
    id: Option<FileId>,
}

impl GuardedFile {
    fn new(file: File) -> Self {
        let id = id(&file).ok();
        Self { file: Some(file), id }
    }

    /// Returns the file if the descriptor is still the file's own.
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
            mem::forget(self.file.take());
        }
    }
}

/// Returns the id of a descriptor's file.
fn id(file: &File) -> io::Result<FileId> {
    Ok(files::identify(file)?.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::testing::names::numbered_names;

    const HEAD: &[u8] = b"{\"traceEvents\":[\n0";

    fn events(trace: &LiveTrace) -> Vec<serde_json::Value> {
        let text = fs::read_to_string(&trace.path).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json["traceEvents"].as_array().unwrap().clone()
    }

    #[test]
    fn is_valid_after_every_write() {
        let dir = tempfile::tempdir().unwrap();
        let mut trace =
            LiveTrace::create(dir.path(), ".json", &mut numbered_names(), HEAD).unwrap();
        assert!(trace.path.ends_with("out001.json"));
        assert_eq!(events(&trace), [0]);
        trace.append(b"", 0).unwrap();
        assert_eq!(events(&trace), [0]);
        trace.append(b"1", 1).unwrap();
        trace.append(b"2,\n3", 4).unwrap();
        assert_eq!(events(&trace), [0, 1, 2, 3]);
        assert_eq!(trace.length, fs::metadata(&trace.path).unwrap().len());
        assert!(trace.finish(0, SegmentContents::default()).file.exists());
    }

    #[test]
    fn a_file_that_was_removed_is_written_again() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, names) = (dir.path().join("made"), &mut numbered_names());
        let mut trace = LiveTrace::create(&folder, ".json", names, HEAD).unwrap();
        trace.append(b"1", 1).unwrap();
        assert!(!trace.is_removed());
        fs::remove_dir_all(&folder).unwrap();
        assert!(trace.is_removed());
        trace.append(b"2", 1).unwrap();

        // A file is in the folder's place.
        fs::write(&folder, "mine").unwrap();
        let error = trace.write_again(&folder, ".json", names).unwrap_err();
        assert!(error.can_pass() && error.line().contains("was removed"), "{}", error.line());
        assert_eq!(fs::read(&folder).unwrap(), b"mine");

        // Another file has the name.
        fs::remove_file(&folder).unwrap();
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("out001.json"), "mine").unwrap();
        trace.write_again(&folder, ".json", names).unwrap();
        assert!(trace.path.ends_with("out002.json") && !trace.is_removed());
        assert_eq!(fs::read(folder.join("out001.json")).unwrap(), b"mine");
        trace.append(b"3", 1).unwrap();
        assert_eq!(events(&trace), [0, 1, 2, 3]);
    }

    #[test]
    fn a_file_that_others_cut_off_is_begun_anew() {
        let dir = tempfile::tempdir().unwrap();
        let mut trace =
            LiveTrace::create(dir.path(), ".json", &mut numbered_names(), HEAD).unwrap();
        trace.append(b"1", 1).unwrap();
        assert!(!trace.is_cut());
        let cut = |length| {
            File::options()
                .write(true)
                .open(dir.path().join("out001.json"))
                .unwrap()
                .set_len(length)
        };
        cut(5).unwrap();
        assert!(trace.is_cut());
        cut(0).unwrap();
        assert!(trace.is_cut());
        // The cut falls between the look and the write.
        trace.append(b"2", 1).unwrap();
        assert!(trace.is_cut());
        trace.begin_anew(HEAD).unwrap();
        assert!(!trace.is_cut());
        trace.append(b"3", 1).unwrap();
        assert_eq!(events(&trace), [0, 3]);
        assert_eq!(trace.length, fs::metadata(&trace.path).unwrap().len());
    }

    #[test]
    fn provisional_events_are_replaced_by_the_next_write() {
        let dir = tempfile::tempdir().unwrap();
        let mut trace =
            LiveTrace::create(dir.path(), ".json", &mut numbered_names(), HEAD).unwrap();
        let length = |trace: &LiveTrace| fs::metadata(&trace.path).unwrap().len();
        trace.append(b"111111", 0).unwrap();
        assert_eq!(events(&trace), [0, 111_111]);
        let extended = length(&trace);
        trace.append(b"22", 0).unwrap();
        assert_eq!(events(&trace), [0, 22]);
        assert_eq!(length(&trace), extended);
        trace.append(b"3", 1).unwrap();
        assert_eq!(events(&trace), [0, 3]);
        trace.append(b"4,\n5", 4).unwrap();
        assert_eq!(events(&trace), [0, 3, 4, 5]);
        trace.append(b"6", 0).unwrap();
        assert_eq!(events(&trace), [0, 3, 4, 5, 6]);
        trace.append(b"7,\n8", 1).unwrap();
        assert_eq!(events(&trace), [0, 3, 4, 5, 7, 8]);
        trace.append(b"9", 1).unwrap();
        assert_eq!(events(&trace), [0, 3, 4, 5, 7, 9]);
    }
}
