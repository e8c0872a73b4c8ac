//! Opens files that somebody else can have made. The calls never wait, and read no device.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::base::system;

/// Folders whose files are the kernel's, and the one among them that programs keep files in.
const KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];
const MEMORY: &str = "/dev/shm";

/// Opens a regular file for reading. Follows links.
pub fn open(path: &Path) -> io::Result<File> {
    Ok(open_with(path, 0, fs::metadata(path)?)?.0)
}

/// Reads a file that has a size, and at most `most` bytes. Follows links, but not into folders of the
/// kernel, where reading can wait, never end or have an effect.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let path = fs::canonicalize(path)?;
    if KERNEL.iter().any(|folder| path.starts_with(folder)) && !path.starts_with(MEMORY) {
        return Err(refusal("it is not a file of a disk"));
    }
    let before = fs::metadata(&path)?;
    if before.len() == 0 {
        return Err(refusal("it is empty"));
    }
    read_at_most(open_with(&path, libc::O_NOFOLLOW, before)?, most)
}

/// Reads a regular file of this user, or of root, that has at most `most` bytes. Follows no link to
/// the file.
pub(crate) fn read_own(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let opened = open_with(path, libc::O_NOFOLLOW, fs::symlink_metadata(path)?)?;
    if !is_trusted(&opened.1) {
        return Err(refusal("it belongs to another user"));
    }
    read_at_most(opened, most)
}

/// Opens a file whose metadata was `before` a moment ago.
fn open_with(path: &Path, flags: i32, before: Metadata) -> io::Result<(File, Metadata)> {
    // Checked before as well, because opening a device or a pipe can have an effect.
    check_kind(&before)?;
    let file = OpenOptions::new()
        .read(true)
        // A pipe that has replaced the file since would wait for a writer.
        .custom_flags(flags | libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    let metadata = file.metadata()?;
    check_kind(&metadata)?;
    Ok((file, metadata))
}

/// Returns whether a path is a folder, and no link, of this user or of root, into which others cannot
/// write.
pub fn is_own_folder(path: &Path) -> bool {
    const OTHERS_WRITE: u32 = 0o022;
    fs::symlink_metadata(path).is_ok_and(|folder| {
        folder.is_dir() && is_trusted(&folder) && folder.mode() & OTHERS_WRITE == 0
    })
}

/// Returns whether a file or folder belongs to this user, or to root, who can do everything anyway.
fn is_trusted(metadata: &Metadata) -> bool {
    [system::user(), 0].contains(&metadata.uid())
}

fn read_at_most((file, metadata): (File, Metadata), most: u64) -> io::Result<Vec<u8>> {
    let too_large =
        || io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes"));
    let size = metadata.len();
    if size > most {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
    // The file can grow meanwhile.
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

fn check_kind(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() { Ok(()) } else { Err(refusal("it is not a regular file")) }
}

fn refusal(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason.into())
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Command;

    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "text").unwrap();
        symlink(at("file"), at("link")).unwrap();
        symlink("/dev/zero", at("device")).unwrap();
        assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        for (name, is_opened, is_own) in [
            ("file", true, true),
            ("link", true, false),
            ("device", false, false),
            ("pipe", false, false),
            (".", false, false),
            ("missing", false, false),
        ] {
            assert_eq!(open(&at(name)).is_ok(), is_opened, "{name}");
            assert_eq!(read_own(&at(name), 9).is_ok(), is_own, "{name}");
        }
    }

    #[test]
    fn only_folders_that_nobody_else_can_change_are_own() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "text").unwrap();
        symlink(dir.path(), at("link")).unwrap();
        for mode in [0o700, 0o755, 0o720, 0o1777] {
            fs::set_permissions(dir.path(), Permissions::from_mode(mode)).unwrap();
            assert_eq!(is_own_folder(dir.path()), [0o700, 0o755].contains(&mode), "{mode:o}");
        }
        fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
        assert!(["file", "link", "missing"].iter().all(|name| !is_own_folder(&at(name))));
    }

    #[test]
    fn large_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "text").unwrap();
        for read in [read, read_own] {
            assert_eq!(read(&file, 4).unwrap(), b"text");
            assert!(read(&file, 3).unwrap_err().to_string().contains("more than 3 bytes"));
        }
    }

    #[test]
    fn files_of_the_kernel_are_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("empty"), "").unwrap();
        fs::write(at("file"), "text").unwrap();
        symlink("/proc/self/cmdline", at("link")).unwrap();
        symlink("/sys", at("folder")).unwrap();
        symlink(at("file"), at("fine")).unwrap();
        for name in
            ["empty", "link", "folder/kernel/profiling", "/proc/kmsg", "/dev/zero", "missing"]
        {
            assert!(read(&at(name), 99).is_err(), "{name}");
        }
        assert_eq!(read(&at("fine"), 99).unwrap(), b"text");
    }
}
