//! Opens files that somebody else can have made. The calls never wait, and read no device.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use super::files::{is_kernel_file, is_trusted, open_at_once};

/// Opens a regular file for reading. Follows links.
pub fn open(path: &Path) -> io::Result<File> {
    Ok(open_found(path, true, &fs::metadata(path)?)?.0)
}

/// Opens a file that has a size. Follows links, but not to files of the kernel.
pub fn open_on_disk(path: &Path) -> io::Result<File> {
    Ok(open_with_size(path)?.0)
}

/// Reads a file that has a size, and at most `most` bytes. Follows links, but not to files of the
/// kernel.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_at_most(open_with_size(path)?, most)
}

/// Returns whether a path leads to a place below a folder. A link counts as its target, and a file that is not there
/// as the folder where it would be: so the result says nothing about what is elsewhere.
pub fn is_below(path: &Path, folder: &Path) -> bool {
    let nearest = path.ancestors().find(|place| fs::symlink_metadata(place).is_ok());
    match (nearest.map(fs::canonicalize), fs::canonicalize(folder)) {
        (Some(Ok(place)), Ok(folder)) => place.starts_with(folder),
        _ => false,
    }
}

fn open_with_size(path: &Path) -> io::Result<(File, Metadata)> {
    let path = fs::canonicalize(path)?;
    if is_kernel_file(&path) {
        return Err(refusal("it is not a file of a disk"));
    }
    let before = fs::metadata(&path)?;
    if before.len() == 0 {
        return Err(refusal("it is empty"));
    }
    open_found(&path, false, &before)
}

/// Reads a regular file of this user, or of root, that has at most `most` bytes. Follows no link to
/// the file.
pub(crate) fn read_own(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let opened = open_found(path, false, &fs::symlink_metadata(path)?)?;
    if !is_trusted(&opened.0) {
        return Err(refusal("it belongs to another user"));
    }
    read_at_most(opened, most)
}

/// Opens a file whose metadata was `before` a moment ago.
fn open_found(path: &Path, follows_links: bool, before: &Metadata) -> io::Result<(File, Metadata)> {
    // Checked before as well, because opening a device or a pipe can have an effect.
    check_kind(before)?;
    let file = open_at_once(path, follows_links)?;
    let metadata = file.metadata()?;
    check_kind(&metadata)?;
    Ok((file, metadata))
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

    use super::super::files::is_own_folder;
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
            assert!(open_on_disk(&at(name)).is_err(), "{name}");
        }
        assert_eq!(read(&at("fine"), 99).unwrap(), b"text");
        assert!(open_on_disk(&at("fine")).is_ok());
    }
}
