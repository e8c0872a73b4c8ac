//! Where an output goes: to a path, where a whole file replaces the file there, or into a device, a
//! pipe or standard output, which are written through.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::error::FileError;
use crate::base::system::files::{is_laid_by_another, is_stdout, open_stdout};

/// Returns the path without links where a whole file replaces the file there; none for an output that
/// is written through. Fails if the output is a folder, or would go where another user wants it.
pub(super) fn replaced_path(output: &Path) -> Result<Option<PathBuf>, FileError> {
    if is_stdout(output) {
        return Ok(None);
    }
    let kind = fs::metadata(output).map(|metadata| metadata.file_type()).ok();
    let names_folder = output
        .as_os_str()
        .as_encoded_bytes()
        .last()
        .is_some_and(|last| std::path::is_separator((*last).into()));
    let checked = if names_folder || kind.is_some_and(|kind| kind.is_dir()) {
        Err(io::ErrorKind::IsADirectory.into())
    } else if kind.is_some_and(|kind| !kind.is_file()) {
        check_not_laid(output).map(|()| None)
    } else {
        without_links(output).map(Some)
    };
    checked.map_err(|source| FileError { action: "write", path: output.into(), source })
}

/// Opens an output for writing through.
pub(super) fn open_through(output: &Path) -> io::Result<File> {
    if is_stdout(output) {
        return open_stdout();
    }
    OpenOptions::new().write(true).open(output)
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

/// Fails if another user made a link, a pipe or the like in a folder that all users share.
fn check_not_laid(output: &Path) -> io::Result<()> {
    if is_laid_by_another(output)? {
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
            assert_eq!(replaced_path(&path(output)).unwrap(), Some(path(expected)));
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
            names.map(|name| replaced_path(&at(name)).is_err())
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
        for device in [Path::new("/dev/null"), &link, Path::new("/dev/stdout")] {
            assert_eq!(replaced_path(device).unwrap(), None);
        }
        assert!(replaced_path(dir.path()).is_err());
        assert!(replaced_path(&dir.path().join("new/")).is_err());
    }
}
