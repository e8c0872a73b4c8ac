//! Reads a file, and writes it in another format.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use chrono::{DateTime, SecondsFormat, Utc};

use super::converted_files::ConvertedFiles;
use super::output_format::OutputFormat;
use super::trace;
use crate::files::error::FileError;
use crate::format::cpuprofile::CpuProfile;
use crate::format::{collapsed, speedscope};
use crate::profile::replay::windows;
use crate::profile::session::{Process, Session, Thread};
use crate::profile::thread_profile::ReadScope;
use crate::read::load::{Loaded, load};

/// Why a file was not converted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConvertError {
    /// The output's name does not tell the format.
    #[error(
        "{} does not have the extension of a format: .json for a trace, .cpuprofile, .collapsed \
         (.folded, .txt) or .speedscope.json, each also with .gz", .0.display()
    )]
    UnknownExtension(PathBuf),
    /// The input is a folder.
    #[error("{} is a folder, and convert takes one file; merge joins many", .0.display())]
    Folder(PathBuf),
    /// The input has the output's format.
    #[error("{} is already a trace; to compress or repair a trace, use merge", .0.display())]
    AlreadyTrace(PathBuf),
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
}

/// Converts a file. Returns the paths of the files that were written, absolute.
pub(crate) fn convert(input: &Path, output: &Path) -> Result<Vec<PathBuf>, ConvertError> {
    let Some(format) = OutputFormat::of(output) else {
        return Err(ConvertError::UnknownExtension(output.to_owned()));
    };
    let path = std::path::absolute(output)
        .map_err(|source| ConvertError::WorkingDirectory { path: output.to_owned(), source })?;
    if input.is_dir() {
        return Err(ConvertError::Folder(input.to_owned()));
    }
    let loaded = read(input, format)?;
    let mut files = ConvertedFiles::default();
    write(&loaded.session, format, input, &path, &mut files)?;
    Ok(files.keep()?)
}

fn read(input: &Path, format: OutputFormat) -> Result<Loaded, ConvertError> {
    let scope = ReadScope { samples: format.has_samples(), ..ReadScope::TIMES };
    let loaded = load(&[input.to_owned()], scope);
    loaded.check().map_err(ConvertError::Input)?;
    if format == OutputFormat::Trace && loaded.is_trace {
        return Err(ConvertError::AlreadyTrace(input.to_owned()));
    }
    Ok(loaded)
}

fn write(
    session: &Session,
    format: OutputFormat,
    input: &Path,
    path: &Path,
    files: &mut ConvertedFiles,
) -> Result<(), FileError> {
    match format {
        OutputFormat::Trace => {
            let started = modified(input);
            files.write(path, |out| trace::write(session, &started, out))
        }
        OutputFormat::CpuProfile => write_cpuprofiles(session, path, files),
        OutputFormat::Collapsed => files.write(path, |out| collapsed::write(session, out)),
        OutputFormat::Speedscope => {
            let name = input.file_name().unwrap_or_default().to_string_lossy();
            files.write(path, |out| speedscope::write(session, &name, out))
        }
    }
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
        let profile = cpuprofile(session, thread);
        files.write(&path, |out| profile.write(out, thread.end_us()))?;
    }
    Ok(())
}

fn cpuprofile(session: &Session, thread: &Thread) -> CpuProfile {
    let mut profile = CpuProfile::new(thread.start_us());
    for (window, placed) in windows(thread, &session.frames) {
        profile.window(&window, &placed);
    }
    profile
}

/// Returns when a file was last written: ISO 8601, UTC.
fn modified(path: &Path) -> String {
    let time = path.metadata().and_then(|metadata| metadata.modified());
    let time = DateTime::<Utc>::from(time.unwrap_or(SystemTime::UNIX_EPOCH));
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}
