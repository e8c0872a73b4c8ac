//! Files under temporary names, until they are renamed or removed.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;

use super::exclusive::create_new;

/// The temporary files that exist now, which would stay behind if a signal ended the process; none
/// once the process is about to end. A file is created under the lock: it must not come after the
/// removal.
static PATHS: Mutex<Option<Vec<PathBuf>>> = Mutex::new(Some(Vec::new()));

/// Removes all temporary files, for a process that is about to end. No more can be created.
pub(crate) fn remove_partial() {
    for path in PATHS.lock().take().into_iter().flatten() {
        let _ = fs::remove_file(path);
    }
}

/// A file under a temporary name, which is removed on drop.
#[derive(Debug)]
pub(super) struct TemporaryFile {
    path: PathBuf,
    is_renamed: bool,
}

impl TemporaryFile {
    /// Creates a file in the folder of `target`, for reading and writing. The folder is made if
    /// missing.
    pub(super) fn create(target: &Path) -> io::Result<(Self, File)> {
        /// For files that a killed process with this pid left behind.
        const TRIES: u32 = 1000;
        static NEXT: AtomicU32 = AtomicU32::new(0);
        if target.file_name().is_none() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut tries = 0;
        loop {
            // Hidden from those who look for recordings. Without the target's name, which may have
            // the maximum length of a name.
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!(".cpu-prof.{}-{number}.partial", process::id());
            let path = target.with_file_name(name);
            let mut paths = PATHS.lock();
            let Some(paths) = paths.as_mut() else { return Err(io::ErrorKind::Interrupted.into()) };
            match create_new(&path) {
                Ok(file) => {
                    paths.push(path.clone());
                    return Ok((Self { path, is_renamed: false }, file));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < TRIES => {
                    tries += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Renames the file to `target`, and replaces the file there.
    pub(super) fn rename_to(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.is_renamed = true;
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if !self.is_renamed {
            let _ = fs::remove_file(&self.path);
        }
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
    use crate::files::tests::list;

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
    fn a_file_that_was_left_behind_is_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("x");
        let (file, _) = TemporaryFile::create(&target).unwrap();
        let (_, number) = file.path.to_str().unwrap().rsplit_once('-').unwrap();
        let number: u32 = number.strip_suffix(".partial").unwrap().parse().unwrap();
        // Other tests take numbers too.
        for next in number + 1..number + 50 {
            let name = format!(".cpu-prof.{}-{next}.partial", process::id());
            fs::write(dir.path().join(name), "left behind").unwrap();
        }
        let (other, _) = TemporaryFile::create(&target).unwrap();
        assert!(fs::read(&other.path).unwrap().is_empty());
    }
}
