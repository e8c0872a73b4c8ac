//! The files that a conversion writes, and their names.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use cpu_prof_core::files::atomic::{AtomicFile, WholeFile, keep};
use cpu_prof_core::files::error::FileError;

/// Complete files and the paths that they will get.
#[derive(Default)]
pub(super) struct ConvertedFiles(Vec<(WholeFile, PathBuf)>);

impl ConvertedFiles {
    /// Writes a file, which gets its path from `keep`.
    pub(super) fn write(
        &mut self,
        path: &Path,
        write: impl FnOnce(&mut AtomicFile) -> io::Result<()>,
    ) -> Result<(), FileError> {
        let mut file = AtomicFile::create(path)?;
        write(&mut file).map_err(|source| file.error(source))?;
        self.0.push((file.finish()?, path.to_owned()));
        Ok(())
    }

    /// Returns the path for one of several threads. Processes of several containers can have one
    /// pid, so a path that is taken gets a number.
    pub(super) fn thread_path(&self, output: &Path, pid: i64, thread: i64) -> PathBuf {
        let is_free = |path: &PathBuf| self.0.iter().all(|(_, taken)| taken != path);
        let mut number = 1;
        loop {
            let path = numbered_path(output, pid, thread, number);
            if is_free(&path) {
                return path;
            }
            number += 1;
        }
    }

    /// Moves all files to their paths, or none. Returns the paths.
    pub(super) fn keep(self) -> Result<Vec<PathBuf>, FileError> {
        keep(self.0)
    }
}

/// Returns `out.4242.0.cpuprofile` for `out.cpuprofile`, and `out-2.4242.0.cpuprofile` for the
/// number 2.
fn numbered_path(output: &Path, pid: i64, thread: i64, number: u32) -> PathBuf {
    const EXTENSION: &str = ".cpuprofile";
    let name = output.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    let at = name.to_ascii_lowercase().rfind(EXTENSION).unwrap_or(name.len());
    let (stem, extension) = name.split_at_checked(at).unwrap_or((&name, ""));
    let number = if number == 1 { String::new() } else { format!("-{number}") };
    let pid = if pid == 0 { "unknown".to_owned() } else { pid.to_string() };
    output.with_file_name(format!("{stem}{number}.{pid}.{thread}{extension}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn processes_of_one_pid_do_not_overwrite_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let mut files = ConvertedFiles::default();
        for _ in 0..3 {
            let path = files.thread_path(&dir.path().join("x.cpuprofile.gz"), 7, 0);
            files.write(&path, |out| out.write_all(b"x")).unwrap();
        }
        let paths = files.keep().unwrap();
        let names = ["x.7.0.cpuprofile.gz", "x-2.7.0.cpuprofile.gz", "x-3.7.0.cpuprofile.gz"];
        assert_eq!(paths, names.map(|name| dir.path().join(name)));
    }
}
