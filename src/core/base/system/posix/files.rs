//! Files as POSIX knows them: who owns a file, which file a name leads to, and positions.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::user;

/// Folders whose files are the kernel's, and the one among them that programs keep files in.
const KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];
const MEMORY: &str = "/dev/shm";

/// Names of standard output.
const STDOUT: [&str; 3] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Device and inode, which tell a file from another one that has its path or its descriptor now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId(u64, u64);

impl FileId {
    fn of(metadata: &Metadata) -> Self {
        Self(metadata.dev(), metadata.ino())
    }
}

/// Returns whether a new folder is private: its mode is, from the start, where the file system has modes.
pub fn make_private_folder(path: &Path) -> bool {
    is_own_folder(path)
}

/// Returns the id of an open file, and its size in bytes.
pub fn identify(file: &File) -> io::Result<(FileId, u64)> {
    let metadata = file.metadata()?;
    Ok((FileId::of(&metadata), metadata.len()))
}

/// Returns the id of what has a path, and its size in bytes. Follows links.
pub(crate) fn identify_target(path: &Path) -> io::Result<(FileId, u64)> {
    let metadata = fs::metadata(path)?;
    Ok((FileId::of(&metadata), metadata.len()))
}

/// Returns the id of what has a path, and its size in bytes. A link is identified itself.
pub(crate) fn identify_entry(path: &Path) -> io::Result<(FileId, u64)> {
    let metadata = fs::symlink_metadata(path)?;
    Ok((FileId::of(&metadata), metadata.len()))
}

/// Renames a file, and replaces the file there.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Returns whether no path leads to an open file.
pub fn is_removed(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
}

/// Reads from a position, without a change of the file's own position.
pub fn read_at(file: &File, to: &mut [u8], at: u64) -> io::Result<usize> {
    file.read_at(to, at)
}

/// Writes all bytes from a position on.
pub fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.write_all_at(bytes, at)
}

/// Creates a file for reading and writing that only this user may read. Fails if anything has the path
/// already, a link included.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// Opens a file for reading, and waits for nobody: a pipe would wait for a writer, and a terminal
/// could become this process's own.
pub(crate) fn open_at_once(path: &Path, follows_links: bool) -> io::Result<File> {
    let links = if follows_links { 0 } else { libc::O_NOFOLLOW };
    OpenOptions::new().read(true).custom_flags(links | libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
}

/// Returns whether an open file belongs to this user, or to root, who can do everything anyway.
pub(crate) fn is_trusted(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| is_owner_trusted(&metadata))
}

/// Returns whether a path is a folder, and no link, of this user or of root, into which others cannot
/// write.
pub(crate) fn is_own_folder(path: &Path) -> bool {
    const OTHERS_WRITE: u32 = 0o022;
    fs::symlink_metadata(path).is_ok_and(|folder| {
        folder.is_dir() && is_owner_trusted(&folder) && folder.mode() & OTHERS_WRITE == 0
    })
}

/// Returns whether a path without links is a file of the kernel, where reading can wait, never end or
/// have an effect.
pub(crate) fn is_kernel_file(path: &Path) -> bool {
    KERNEL.iter().any(|folder| path.starts_with(folder)) && !path.starts_with(MEMORY)
}

/// Returns whether another user made a link, a pipe or the like in a folder that all users share. The
/// system has the same rule for opening files (`fs.protected_symlinks` and `fs.protected_fifos`), but
/// not for the rename that replaces a file.
pub(crate) fn is_laid_by_another(path: &Path) -> io::Result<bool> {
    /// Everybody can make files in the folder, and remove only their own.
    const SHARED: u32 = 0o1002;
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(false) };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = fs::metadata(folder.unwrap_or(Path::new(".")))?;
    let is_shared = folder.mode() & SHARED == SHARED;
    let is_known = [user(), Some(folder.uid())].contains(&Some(found.uid()));
    Ok(!found.is_file() && is_shared && !is_known)
}

/// Returns whether a path names standard output, whatever that is.
pub(crate) fn is_stdout(path: &Path) -> bool {
    STDOUT.iter().any(|name| path == Path::new(name))
}

/// Returns standard output as a file of its own.
pub(crate) fn open_stdout() -> io::Result<File> {
    Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
}

fn is_owner_trusted(metadata: &Metadata) -> bool {
    [user(), Some(0)].contains(&Some(metadata.uid()))
}
