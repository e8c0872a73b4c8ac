//! Files under temporary names, until they are renamed or removed.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use parking_lot::Mutex;

use super::exclusive::create_new;
use crate::base::system::files;

/// The temporary files that exist now, which would stay behind if a signal ended the process; none
/// once the process is about to end. A file is created under the lock: it must not come after the
/// removal.
static PATHS: Mutex<Option<Vec<PathBuf>>> = Mutex::new(Some(Vec::new()));

/// Removes all temporary files, for a process that is about to end. No more can be created.
pub fn remove_partial() {
    for path in PATHS.lock().take().into_iter().flatten() {
        let _ = fs::remove_file(path);
    }
}

/// A file under a temporary name, which is removed on drop.
#[derive(Debug)]
pub(super) struct TemporaryFile {
    path: PathBuf,
}

impl TemporaryFile {
    /// Creates a file in the folder of `target`, for reading and writing. The folder is made if
    /// missing.
    pub(super) fn create(target: &Path) -> io::Result<(Self, File)> {
        if target.file_name().is_none() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // Hidden from those who look for recordings. Without the target's name, which may have the
        // maximum length of a name. Others cannot guess the name, and so not take it before.
        let random = RandomState::new().build_hasher().finish();
        let name = format!(".cpu-prof.{}-{random:016x}.partial", process::id());
        let path = target.with_file_name(name);
        let mut paths = PATHS.lock();
        let Some(paths) = paths.as_mut() else { return Err(io::ErrorKind::Interrupted.into()) };
        let file = create_new(&path)?;
        paths.push(path.clone());
        Ok((Self { path }, file))
    }

    /// Renames the file to `target`, and replaces the file there.
    pub(super) fn rename_to(self, target: &Path) -> io::Result<()> {
        files::rename(&self.path, target)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // A file that was renamed is not there.
        let _ = fs::remove_file(&self.path);
        if let Some(paths) = PATHS.lock().as_mut() {
            paths.retain(|path| *path != self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::files::find::find;
    use crate::testing::names::list;

    fn is_known(dir: &Path) -> bool {
        PATHS.lock().iter().flatten().any(|path| path.starts_with(dir))
    }

    #[test]
    fn a_temporary_file_is_hidden_and_goes_with_its_owner() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("made/x.cpuprofile");
        let (file, _) = TemporaryFile::create(&target).unwrap();
        let names = list(target.parent().unwrap());
        let [name] = names.as_slice() else { panic!("{names:?}") };
        assert!(name.starts_with(".cpu-prof.") && name.ends_with(".partial"), "{name}");
        assert_eq!(fs::metadata(&file.path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(find(&[dir.path().to_owned()]).0.is_empty());
        assert!(is_known(dir.path()));
        drop(file);
        assert!(list(target.parent().unwrap()).is_empty());
        assert!(!is_known(dir.path()));
    }

    #[test]
    fn a_renamed_file_stays() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("x");
        fs::write(&target, "replaced").unwrap();
        let (file, _) = TemporaryFile::create(&target).unwrap();
        file.rename_to(&target).unwrap();
        assert_eq!(list(dir.path()), ["x"]);
        assert!(fs::read(&target).unwrap().is_empty());
        assert!(!is_known(dir.path()));
    }

    #[test]
    fn names_cannot_be_guessed() {
        let dir = tempfile::tempdir().unwrap();
        let (one, _) = TemporaryFile::create(&dir.path().join("x")).unwrap();
        let (other, _) = TemporaryFile::create(&dir.path().join("x")).unwrap();
        let random = |file: &TemporaryFile| {
            let name = file.path.file_name().unwrap().to_str().unwrap().to_owned();
            let (_, random) = name.strip_suffix(".partial").unwrap().rsplit_once('-').unwrap();
            u64::from_str_radix(random, 16).unwrap()
        };
        assert!(random(&one).abs_diff(random(&other)) > 1 << 20);
    }
}
