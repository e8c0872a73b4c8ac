//! Reads files, and writes them in another format.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::merge::merge::merge;
use crate::merge::options::{MergeOptions, MergeProgress};
use crate::merge::result::{MergeError, MergeResult};
use crate::read::load::Loaded;
use crate::read::load_error::LoadError;
use crate::read::replay::windows;
use crate::read::selection::Selection;
use cpu_prof_core::base::name_list::first_of;
use cpu_prof_core::files::atomic::{AtomicFile, WholeFile, keep};
use cpu_prof_core::files::error::FileError;
use cpu_prof_core::files::input::{Failed, lossy_list};
use cpu_prof_core::format::cpuprofile::CpuProfile;
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_session::formats::cpuprofile::facts::facts_of_thread;
use cpu_prof_session::formats::registry::{FormatWriter, format_of, known_endings};
use cpu_prof_session::model::{Process, Session, Thread};

/// Why a file was not converted.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The output's name does not tell the format.
    #[error("{} has no ending that convert knows: {}, each also with .gz", .0.display(), known_endings())]
    UnknownExtension(PathBuf),
    /// The input could not be read.
    #[error(transparent)]
    Input(#[from] LoadError),
    /// The output could not be written.
    #[error(transparent)]
    Output(#[from] FileError),
    /// The trace could not be made.
    #[error(transparent)]
    Merge(#[from] MergeError),
}

/// The outcome of a conversion.
#[derive(Debug, Default, Serialize)]
pub struct ConvertResult {
    /// Files that were written, absolute.
    #[serde(serialize_with = "lossy_list")]
    pub files: Vec<PathBuf>,
    /// Inputs that were cut off or torn.
    #[serde(serialize_with = "lossy_list")]
    pub repaired: Vec<PathBuf>,
    /// Inputs that could not be read.
    pub failed: Vec<Failed>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Complete files, and the paths that they get in the end: all of them, or none.
type ConvertedFiles = Vec<(WholeFile, PathBuf)>;

/// Converts files and folders of files.
pub fn convert(
    inputs: &[PathBuf],
    output: &Path,
    selection: &Selection,
) -> Result<ConvertResult, ConvertError> {
    let Some(format) = format_of(output) else {
        return Err(ConvertError::UnknownExtension(output.to_owned()));
    };
    // The working directory may not exist.
    let path = std::path::absolute(output).map_err(|source| {
        let path = output.to_owned();
        FileError { action: "find the folder of", path, source }
    })?;
    let read = |scope| selection.load(inputs, scope);
    let mut files = ConvertedFiles::new();
    let loaded = match format.writer {
        FormatWriter::Merge => {
            let Selection { slice, filter, source_maps, places } = selection.clone();
            let options =
                MergeOptions { slice, filter, source_maps, places, ..MergeOptions::default() };
            let merged = merge(inputs, &path, &options, &MergeProgress::default())?;
            let MergeResult { files, repaired, failed, notes, .. } = merged;
            return Ok(ConvertResult { files, repaired, failed, notes });
        }
        FormatWriter::EachThread => {
            let loaded = read(ReadScope::SAMPLES)?;
            write_cpuprofiles(&loaded.session, &path, &mut files)?;
            loaded
        }
        FormatWriter::Session { scope, write } => {
            let loaded = read(scope)?;
            write_file(&mut files, &path, |out| write(&loaded.session, &name(inputs), out))?;
            loaded
        }
    };
    let Loaded { repaired, failed, notes, .. } = loaded;
    Ok(ConvertResult { files: keep(files)?, repaired, failed, notes })
}

/// Returns a name for what is converted: that of the first input.
fn name(inputs: &[PathBuf]) -> String {
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    first_of(&inputs.iter().map(name).collect::<Vec<_>>(), 1)
}

/// Writes a file for each thread. The names of several files tell process and thread.
fn write_cpuprofiles(
    session: &Session,
    path: &Path,
    files: &mut ConvertedFiles,
) -> Result<(), FileError> {
    let threads: Vec<(&Process, &Thread)> = session
        .processes
        .iter()
        .flat_map(|process| process.threads.iter().map(move |thread| (process, thread)))
        .collect();
    for (process, thread) in &threads {
        let path = match threads.len() {
            1 => path.to_owned(),
            _ => thread_path(files, path, process.pid, thread.id),
        };
        let profile = cpuprofile(session, process, thread);
        write_file(files, &path, |out| profile.write(out, thread.end_us()))?;
    }
    Ok(())
}

fn write_file(
    files: &mut ConvertedFiles,
    path: &Path,
    write: impl FnOnce(&mut AtomicFile) -> io::Result<()>,
) -> Result<(), FileError> {
    let mut file = AtomicFile::create(path)?;
    write(&mut file).map_err(|source| file.error(source))?;
    files.push((file.finish()?, path.to_owned()));
    Ok(())
}

/// Returns the path for one of several threads. Processes of several containers can have one pid, so a
/// path that is taken gets a number.
fn thread_path(files: &ConvertedFiles, output: &Path, pid: i64, thread: i64) -> PathBuf {
    let mut paths = (1..).map(|number| numbered_path(output, pid, thread, number));
    let is_free = |path: &PathBuf| files.iter().all(|(_, taken)| taken != path);
    paths.find(is_free).unwrap_or_else(|| output.to_owned())
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

fn cpuprofile(session: &Session, process: &Process, thread: &Thread) -> CpuProfile {
    let facts = facts_of_thread(process, thread);
    let mut profile = CpuProfile::new(thread.start_us(), facts);
    for (window, placed) in windows(thread, &session.frames, &session.labels) {
        profile.window(&window, &placed);
    }
    profile
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn processes_of_one_pid_do_not_overwrite_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let mut files = ConvertedFiles::new();
        for _ in 0..3 {
            let path = thread_path(&files, &dir.path().join("x.cpuprofile.gz"), 7, 0);
            write_file(&mut files, &path, |out| out.write_all(b"x")).unwrap();
        }
        let paths = keep(files).unwrap();
        let names = ["x.7.0.cpuprofile.gz", "x-2.7.0.cpuprofile.gz", "x-3.7.0.cpuprofile.gz"];
        assert_eq!(paths, names.map(|name| dir.path().join(name)));
    }
}
