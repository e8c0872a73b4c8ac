//! New files: never opens an existing file, never follows a link.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::base::error::Error;
use crate::base::settings::name_pattern::FileNames;
use crate::base::system::files::create_private;

/// Creates a file under the first of `names` that is free in `dir`. `names` stays at that name.
pub fn create_first_free(
    dir: &Path,
    extension: &str,
    names: &mut FileNames,
) -> Result<(PathBuf, File), Error> {
    const TRIES: u32 = 10_000;
    for _ in 0..TRIES {
        let path = current_path(dir, extension, names);
        match create_new(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => names.advance(),
            Err(source) => return Err(Error::Output { action: "create", path, source }),
        }
    }
    let path = current_path(dir, extension, names);
    let source =
        io::Error::new(io::ErrorKind::AlreadyExists, "10000 names were tried, and all are taken");
    Err(Error::Output { action: "create", path, source })
}

/// Returns the path of the current name.
pub(super) fn current_path(dir: &Path, extension: &str, names: &FileNames) -> PathBuf {
    dir.join(format!("{}{extension}", names.current()))
}

/// Creates a file for reading and writing, in a folder that is made if missing. Fails if anything
/// has this path already, a link included.
pub(super) fn create_new(path: &Path) -> io::Result<File> {
    // Traces hold paths and command lines: only their owner may read them.
    match create_private(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).map_err(|error| match error.kind() {
                    // A link that leads nowhere, for example. The path itself is not taken, so
                    // trying other names would not help.
                    io::ErrorKind::AlreadyExists => io::ErrorKind::NotADirectory.into(),
                    _ => error,
                })?;
            }
            create_private(path)
        }
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::testing::names::numbered_names;

    fn create(dir: &Path) -> Result<PathBuf, Error> {
        create_first_free(dir, ".json", &mut numbered_names()).map(|(path, _)| path)
    }

    #[test]
    fn existing_files_and_links_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("target");
        fs::write(dir.path().join("out001.json"), "mine").unwrap();
        symlink(&target, dir.path().join("out002.json")).unwrap();
        fs::create_dir(dir.path().join("out003.json")).unwrap();
        let path = create(dir.path()).unwrap();
        assert!(path.ends_with("out004.json"));
        assert_eq!(fs::read(dir.path().join("out001.json")).unwrap(), b"mine");
        assert!(!target.exists());
    }

    #[test]
    fn a_file_is_its_owners_alone_in_a_folder_made_for_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = create(&dir.path().join("made/if missing")).unwrap();
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn errors_say_what_failed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let error = create(&file).unwrap_err();
        assert!(error.line().contains("could not create"), "{}", error.line());
    }

    #[test]
    fn a_folder_that_is_a_link_to_nowhere_is_tried_once() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        symlink("nowhere", &link).unwrap();
        let mut names = numbered_names();
        let error = create_first_free(&link, ".json", &mut names).unwrap_err();
        assert!(error.line().contains("not a directory"), "{}", error.line());
        assert_eq!(names.current(), "out001");
    }
}
