//! A file of code as memory, of which only what is read takes room; and memory as a file.

use std::fs::{self, File, Metadata};
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::ptr::{self, NonNull};

use crate::base::system::code_mapping::{CodeMapping, MappedPart};

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
    /// Returns the file that a part of the process's own code is from; none if the path leads to another file by
    /// now.
    pub fn of_code(mapping: &CodeMapping) -> Option<Self> {
        let part = mapping.file.as_ref()?;
        let options = fs::OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
            .open(&part.path);
        let file = options.ok()?;
        let metadata = file.metadata().ok().filter(Metadata::is_file)?;
        let mapped = Self::new(&file, usize::try_from(metadata.len()).ok()?)?;
        // File systems that lie over others, as those of containers do, tell other numbers than the kernel's list.
        (is_file(part, &metadata) || mapped.has(mapping)).then_some(mapped)
    }

    fn new(file: &File, length: usize) -> Option<Self> {
        if length == 0 {
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

    /// Returns whether the file has the first bytes of the code that is in memory.
    fn has(&self, CodeMapping { range, file }: &CodeMapping) -> bool {
        const COMPARED: u64 = 4096;
        let length = (range.end - range.start).min(COMPARED) as usize;
        let mut code = vec![0; length];
        let Some(Ok(offset)) = file.as_ref().map(|part| usize::try_from(part.offset)) else {
            return false;
        };
        let part = offset.checked_add(length).and_then(|end| self.get(offset..end));
        part.is_some_and(|part| read_memory(range.start as usize, &mut code) && code == part)
    }
}

/// Returns whether a file has the numbers of a part of the memory.
fn is_file(part: &MappedPart, metadata: &Metadata) -> bool {
    let device = metadata.dev();
    let device = format!("{:02x}:{:02x}", libc::major(device), libc::minor(device));
    metadata.ino() == part.inode && device == part.device
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

/// Fills `bytes` from an address, which need not be valid. Returns whether all of them could be read.
pub fn read_memory(address: usize, bytes: &mut [u8]) -> bool {
    File::open("/proc/self/mem").is_ok_and(|file| file.read_exact_at(bytes, address as u64).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::system::stopped_thread::code_mappings;
    use std::io::Write;

    #[test]
    fn only_the_file_that_runs_is_mapped() {
        let own = std::env::current_exe().unwrap();
        let is_own = |part: &MappedPart| own.ends_with(&part.path);
        let mappings = code_mappings();
        let own_code = |mapping: &&CodeMapping| mapping.file.as_ref().is_some_and(is_own);
        let mapping = mappings.iter().find(own_code).unwrap();
        let part = mapping.file.clone().unwrap();
        let of_part = |part: MappedPart| {
            MappedFile::of_code(&CodeMapping { file: Some(part), ..mapping.clone() })
        };
        assert!(of_part(part.clone()).unwrap().starts_with(b"\x7fELF"));
        // The numbers are others, and the code is the same.
        assert!(of_part(MappedPart { inode: part.inode + 1, ..part.clone() }).is_some());
        let mut other = tempfile::NamedTempFile::new().unwrap();
        other.write_all(&[0; 100_000]).unwrap();
        let path = other.path().to_str().unwrap().to_owned();
        assert!(of_part(MappedPart { path, ..part.clone() }).is_none());
        for path in ["/proc/self/maps", "/dev/zero", "/", "/nowhere"] {
            assert!(of_part(MappedPart { path: path.into(), ..part.clone() }).is_none(), "{path}");
        }
    }

    #[test]
    fn only_memory_that_is_there_is_read() {
        let words = [7_u64, 8];
        let mut bytes = [0; 16];
        assert!(read_memory(words.as_ptr() as usize, &mut bytes));
        assert_eq!(bytes[0], 7);
        assert!(!read_memory(8, &mut bytes));
    }
}
