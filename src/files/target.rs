//! Where an output goes: to a path, where a whole file replaces the file there, or into a device, a
//! pipe or standard output, which are written through.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::error::FileError;

/// Where an output goes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum OutputTarget {
    /// A path without links, where a file may be.
    Path(PathBuf),
    /// A device, a pipe or a socket.
    Special,
    /// Standard output, whatever it is.
    Stdout,
}

impl OutputTarget {
    /// Returns where an output goes. Fails if the output is a folder.
    pub(super) fn of(output: &Path) -> Result<Self, FileError> {
        const STDOUT: [&str; 3] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
        if STDOUT.iter().any(|path| output == Path::new(path)) {
            return Ok(Self::Stdout);
        }
        let kind = fs::metadata(output).map(|metadata| metadata.file_type()).ok();
        let names_folder = output.as_os_str().as_bytes().ends_with(b"/");
        if names_folder || kind.is_some_and(|kind| kind.is_dir()) {
            let source = io::ErrorKind::IsADirectory.into();
            return Err(FileError { action: "write", path: output.into(), source });
        }
        Ok(match kind {
            Some(kind) if !kind.is_file() => Self::Special,
            _ => Self::Path(without_links(output)),
        })
    }

    /// Opens the target for writing through.
    pub(super) fn open(&self, output: &Path) -> io::Result<File> {
        match self {
            Self::Stdout => Ok(io::stdout().as_fd().try_clone_to_owned()?.into()),
            Self::Special | Self::Path(_) => OpenOptions::new().write(true).open(output),
        }
    }
}

/// Returns the path behind a link, so that the file is replaced and not the link.
pub(super) fn without_links(output: &Path) -> PathBuf {
    if !output.is_symlink() {
        return output.to_owned();
    }
    // A link to a file that is missing tells where to make the file.
    let missing = || {
        let to = fs::read_link(output).ok()?;
        Some(output.parent()?.join(to))
    };
    fs::canonicalize(output).ok().or_else(missing).unwrap_or_else(|| output.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_lead_to_their_files() {
        let dir = tempfile::tempdir().unwrap();
        let dir = fs::canonicalize(dir.path()).unwrap();
        let path = |name: &str| dir.join(name);
        fs::write(path("file"), "").unwrap();
        symlink("file", path("link")).unwrap();
        symlink("link", path("link to link")).unwrap();
        symlink("missing", path("dangling")).unwrap();
        for (output, expected) in
            [("file", "file"), ("link", "file"), ("link to link", "file"), ("dangling", "missing")]
        {
            assert_eq!(
                OutputTarget::of(&path(output)).unwrap(),
                OutputTarget::Path(path(expected))
            );
        }
    }

    #[test]
    fn devices_are_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        symlink("/dev/null", &link).unwrap();
        for device in [Path::new("/dev/null"), &link] {
            assert_eq!(OutputTarget::of(device).unwrap(), OutputTarget::Special);
        }
        assert_eq!(OutputTarget::of(Path::new("/dev/stdout")).unwrap(), OutputTarget::Stdout);
        assert!(OutputTarget::of(dir.path()).is_err());
        assert!(OutputTarget::of(&dir.path().join("new/")).is_err());
    }
}
