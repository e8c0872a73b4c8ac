//! Where an output goes: to a path, where a whole file replaces the file there, or into a device, a
//! pipe or standard output, which are written through.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::error::FileError;
use crate::base::system;

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
    /// Returns where an output goes. Fails if the output is a folder, or would go where another user
    /// wants it.
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
        let fail = |source| FileError { action: "write", path: output.into(), source };
        Ok(match kind {
            Some(kind) if !kind.is_file() => {
                check_not_laid(output).map_err(fail)?;
                Self::Special
            }
            _ => Self::Path(without_links(output).map_err(fail)?),
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
pub(super) fn without_links(output: &Path) -> io::Result<PathBuf> {
    if !output.is_symlink() {
        return Ok(output.to_owned());
    }
    check_not_laid(output)?;
    // A link to a file that is missing tells where to make the file.
    let missing = || {
        let to = fs::read_link(output).ok()?;
        Some(output.parent()?.join(to))
    };
    Ok(fs::canonicalize(output).ok().or_else(missing).unwrap_or_else(|| output.to_owned()))
}

/// Fails if another user made a link, a pipe or the like in a folder that all users share. The system
/// has the same rule for opening files (`fs.protected_symlinks` and `fs.protected_fifos`), but not for
/// the rename that replaces a file.
fn check_not_laid(output: &Path) -> io::Result<()> {
    /// Everybody can make files in the folder, and remove only their own.
    const SHARED: u32 = 0o1002;
    let Ok(found) = fs::symlink_metadata(output) else { return Ok(()) };
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = fs::metadata(folder.unwrap_or(Path::new(".")))?;
    let is_shared = folder.mode() & SHARED == SHARED;
    let is_known = [system::user(), folder.uid()].contains(&found.uid());
    if !found.is_file() && is_shared && !is_known {
        let reason = "another user made it in a folder that all users share; choose another name";
        return Err(io::Error::other(reason));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, lchown, symlink};

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
    #[ignore = "only root can give files away"]
    fn what_another_user_laid_in_a_shared_folder_is_refused() {
        const NOBODY: Option<u32> = Some(65_534);
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "").unwrap();
        symlink("file", at("link")).unwrap();
        symlink("missing", at("dangling")).unwrap();
        symlink("/dev/null", at("device")).unwrap();
        let refused = || {
            let names = ["file", "link", "dangling", "device"];
            names.map(|name| OutputTarget::of(&at(name)).is_err())
        };
        let set_mode = |mode| fs::set_permissions(dir.path(), Permissions::from_mode(mode));
        set_mode(0o1777).unwrap();
        assert_eq!(refused(), [false; 4]);
        for name in ["link", "dangling", "device"] {
            lchown(at(name), NOBODY, None).unwrap();
        }
        assert_eq!(refused(), [false, true, true, true]);
        assert!(without_links(&at("link")).is_err());
        set_mode(0o755).unwrap();
        assert_eq!(refused(), [false; 4]);
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
