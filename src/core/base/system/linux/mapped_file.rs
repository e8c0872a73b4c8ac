//! A file of code as memory, of which only what is read takes room.

use std::fs::{self, File};
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::ptr::{self, NonNull};

use crate::base::system::code_mapping::MappedPart;

/// The bytes of a file.
#[derive(Debug)]
pub struct MappedFile {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the memory is never written.
unsafe impl Send for MappedFile {}
// SAFETY: the same.
unsafe impl Sync for MappedFile {}

impl MappedFile {
    /// Returns the file of which a part is the process's own code; none if the path leads to another file by
    /// now.
    pub fn of_code(part: &MappedPart) -> Option<Self> {
        let options = fs::OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
            .open(&part.path);
        Self::new(&options.ok()?, part)
    }

    fn new(file: &File, part: &MappedPart) -> Option<Self> {
        let metadata = file.metadata().ok()?;
        let device = metadata.dev();
        let device = format!("{:02x}:{:02x}", libc::major(device), libc::minor(device));
        let is_same = metadata.is_file() && metadata.ino() == part.inode && device == part.device;
        let length = usize::try_from(metadata.len()).ok().filter(|length| *length > 0)?;
        if !is_same {
            return None;
        }
        // SAFETY: a new part of the memory, which nobody else knows. The bytes stay unless somebody makes the
        // file shorter in place, which would also take the code of the running program away.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                length,
                libc::PROT_READ,
                libc::MAP_PRIVATE,
                file.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return None;
        }
        Some(Self { start: NonNull::new(start.cast())?, length })
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the memory is there until the value is dropped.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: the memory was mapped with this length, and nobody uses it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::system::stopped_thread::code_mappings;

    #[test]
    fn only_the_file_that_runs_is_mapped() {
        let own = std::env::current_exe().unwrap();
        let mappings = code_mappings();
        let of_this = mappings.iter().filter_map(|mapping| mapping.file.as_ref());
        let part = of_this.clone().find(|file| own.ends_with(&file.path)).unwrap();
        let file = MappedFile::of_code(part).unwrap();
        assert!(file.starts_with(b"\x7fELF"));
        let other = MappedPart { inode: part.inode + 1, ..part.clone() };
        assert!(MappedFile::of_code(&other).is_none());
        let other = MappedPart { path: "/proc/self/maps".into(), ..part.clone() };
        assert!(MappedFile::of_code(&other).is_none());
    }
}
