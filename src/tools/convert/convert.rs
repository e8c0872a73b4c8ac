//! Reads files, and writes them in another format.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::converted_files::ConvertedFiles;
use super::replay::windows;
use crate::merge::merge::merge;
use crate::merge::options::{MergeOptions, MergeProgress};
use crate::merge::result::{MergeError, MergeResult};
use crate::read::load::Loaded;
use crate::read::selection::Selection;
use cpu_prof_core::base::name_list::first_of;
use cpu_prof_core::files::error::FileError;
use cpu_prof_core::files::input::{Failed, lossy_list};
use cpu_prof_core::format::cpuprofile::CpuProfile;
use cpu_prof_core::format::cpuprofile::facts::ProfileFacts;
use cpu_prof_core::format::registry::{FormatWriter, format_of, known_endings};
use cpu_prof_core::profile::session::thread_profile::ReadScope;
use cpu_prof_core::profile::session::{Process, Session, Thread};

/// Why a file was not converted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConvertError {
    /// The output's name does not tell the format.
    #[error("{} has no ending that convert knows: {}, each also with .gz", .0.display(), known_endings())]
    UnknownExtension(PathBuf),
    /// The input could not be read.
    #[error("{0}")]
    Input(String),
    /// The working directory, which a relative output is in, does not exist.
    #[error("could not find the folder of {}: {source}", path.display())]
    WorkingDirectory {
        /// The output.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The output could not be written.
    #[error(transparent)]
    Output(#[from] FileError),
    /// The trace could not be made.
    #[error(transparent)]
    Merge(#[from] MergeError),
}

/// The outcome of a conversion.
#[derive(Debug, Default, Serialize)]
pub(crate) struct ConvertResult {
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

/// Converts files and folders of files.
pub(crate) fn convert(
    inputs: &[PathBuf],
    output: &Path,
    selection: &Selection,
) -> Result<ConvertResult, ConvertError> {
    let Some(format) = format_of(output) else {
        return Err(ConvertError::UnknownExtension(output.to_owned()));
    };
    let path = std::path::absolute(output)
        .map_err(|source| ConvertError::WorkingDirectory { path: output.to_owned(), source })?;
    let read = |scope| selection.load(inputs, scope).map_err(ConvertError::Input);
    let mut files = ConvertedFiles::default();
    let loaded = match format.writer {
        FormatWriter::Merge => {
            let Selection { slice, filter, source_maps } = selection.clone();
            let options = MergeOptions { slice, filter, source_maps, ..MergeOptions::default() };
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
            files.write(&path, |out| write(&loaded.session, &name(inputs), out))?;
            loaded
        }
    };
    let Loaded { repaired, failed, notes, .. } = loaded;
    Ok(ConvertResult { files: files.keep()?, repaired, failed, notes })
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
            _ => files.thread_path(path, process.pid, thread.id),
        };
        let profile = cpuprofile(session, process, thread);
        files.write(&path, |out| profile.write(out, thread.end_us()))?;
    }
    Ok(())
}

fn cpuprofile(session: &Session, process: &Process, thread: &Thread) -> CpuProfile {
    let facts = ProfileFacts::of_thread(process, thread);
    let mut profile = CpuProfile::new(thread.start_us(), facts);
    for (window, placed) in windows(thread, &session.frames) {
        profile.window(&window, &placed);
    }
    profile
}
