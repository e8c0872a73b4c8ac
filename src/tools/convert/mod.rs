//! From one format to another, by the names' endings.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::base::event_lines::SEPARATOR;
use crate::files::atomic::{AtomicFile, WholeFile, keep};
use crate::files::error::FileError;
use crate::format::cpuprofile::CpuProfile;
use crate::format::trace::event::Flush;
use crate::format::trace::events::Events;
use crate::format::trace::thread::{ThreadInfo, ThreadTrace};
use crate::format::{collapsed, speedscope};
use crate::profile::program::NodeModules;
use crate::profile::program::Program;
use crate::profile::replay::windows;
use crate::profile::session::{Process, Session, Thread};
use crate::profile::thread_profile::ReadScope;
use crate::read::load::{Loaded, load};

/// What a file can be converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Trace,
    CpuProfile,
    Collapsed,
    Speedscope,
}

/// What files are called. The first ending that fits counts.
const ENDINGS: [(&str, Format); 6] = [
    (".speedscope.json", Format::Speedscope),
    (".json", Format::Trace),
    (".cpuprofile", Format::CpuProfile),
    (".collapsed", Format::Collapsed),
    (".folded", Format::Collapsed),
    (".txt", Format::Collapsed),
];

/// Converts a file. Gives the files that were written, absolute; what goes wrong is a sentence.
pub(crate) fn convert(input: &Path, output: &Path) -> Result<Vec<PathBuf>, String> {
    let format = format(output)?;
    let output = std::path::absolute(output).map_err(|error| error.to_string())?;
    if input.is_dir() {
        return Err(format!(
            "{} is a folder: convert takes one file; merge makes one of many",
            input.display()
        ));
    }
    let samples = format != Format::Collapsed;
    let loaded = load(&[input.to_owned()], ReadScope { samples, ..ReadScope::TIMES });
    loaded.check()?;
    let Loaded { session: recorded, is_trace, .. } = loaded;
    let mut files = Files::default();
    let written = match format {
        Format::Trace if is_trace => {
            return Err(format!(
                "{} is a trace already: to compress or repair it, use merge",
                input.display()
            ));
        }
        Format::Trace => {
            let started = modified(input);
            let write = |out: &mut dyn Write| write_trace(&recorded, &started, out);
            files.write(&output, write)
        }
        Format::CpuProfile => write_cpuprofiles(&recorded, &output, &mut files),
        Format::Collapsed => files.write(&output, |mut out| collapsed::write(&recorded, &mut out)),
        Format::Speedscope => {
            let name = input.file_name().unwrap_or_default().to_string_lossy();
            files.write(&output, |mut out| speedscope::write(&recorded, &name, &mut out))
        }
    };
    written.and_then(|()| keep(files.0)).map_err(|error| error.to_string())
}

/// Files that are whole, and their places.
#[derive(Default)]
struct Files(Vec<(WholeFile, PathBuf)>);

impl Files {
    fn write(
        &mut self,
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), FileError> {
        let mut file = AtomicFile::create(path)?;
        write(&mut file).map_err(|source| file.error(source))?;
        self.0.push((file.finish()?, path.to_owned()));
        Ok(())
    }

    /// The first of the paths that is not one of these files yet; they are numbered from 1.
    fn free(&self, path: impl Fn(u32) -> PathBuf) -> PathBuf {
        let is_taken = |path: &PathBuf| self.0.iter().any(|(_, known)| known == path);
        let mut number = 1;
        loop {
            let path = path(number);
            if !is_taken(&path) {
                return path;
            }
            number += 1;
        }
    }
}

/// The format that the file's name asks for.
fn format(output: &Path) -> Result<Format, String> {
    let name = output.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let (plain, is_gzip) = match name.strip_suffix(".gz") {
        Some(plain) => (plain, true),
        None => (&*name, false),
    };
    let known = ENDINGS.iter().find(|(ending, _)| plain.ends_with(ending));
    match known {
        Some((_, format)) => Ok(*format),
        // DevTools loads `trace.gz` too.
        None if is_gzip => Ok(Format::Trace),
        None => Err(format!(
            "{} has no ending that tells its format: .json for a trace, .cpuprofile, .collapsed \
             (.folded, .txt) or .speedscope.json, each also with .gz",
            output.display()
        )),
    }
}

/// One thread: a `.cpuprofile` holds no more.
fn write_trace(recorded: &Session, started: &str, out: &mut dyn Write) -> io::Result<()> {
    let thread = recorded
        .processes
        .iter()
        .find_map(|process| process.threads.first().map(|thread| (process, thread)));
    let Some((process, thread)) = thread else { return Ok(()) };
    let mut trace = ThreadTrace::new(thread_info(process, thread, started), thread.start_us());
    out.write_all(&trace.head())?;
    let mut events = Events::default();
    for (window, placed) in windows(thread, &recorded.frames) {
        events.clear();
        trace.window(&mut events, &window, &placed, Flush { pause_us: 0, restarts: 0 });
        out.write_all(SEPARATOR)?;
        out.write_all(events.as_bytes())?;
    }
    events.clear();
    trace.close(&mut events, thread.end_us());
    out.write_all(SEPARATOR)?;
    out.write_all(events.as_bytes())?;
    out.write_all(b"\n]}")
}

fn thread_info(process: &Process, thread: &Thread, started: &str) -> ThreadInfo {
    let number = |id: i64| u32::try_from(id).unwrap_or(0);
    // A program is called after its script, without its ending.
    let argv = match process.name.as_str() {
        "node" => vec!["node".to_owned()],
        name => vec!["node".to_owned(), format!("{name}.cpuprofile")],
    };
    let samples: u64 = thread.profiles.iter().map(|profile| profile.sample_count).sum();
    let length_us = thread.end_us().saturating_sub(thread.start_us());
    let interval_us = length_us.checked_div(i64::try_from(samples).unwrap_or(i64::MAX));
    ThreadInfo {
        program: Program { pid: number(process.pid).max(1), argv, ..Program::default() },
        thread_id: number(thread.id),
        node_modules: NodeModules::Foldable,
        interval_us: number(interval_us.unwrap_or(0)),
        started: started.to_owned(),
    }
}

/// A file for each thread. Where there are several, they are told apart by process and thread.
fn write_cpuprofiles(
    recorded: &Session,
    output: &Path,
    files: &mut Files,
) -> Result<(), FileError> {
    let threads: Vec<(&Process, &Thread)> = recorded
        .processes
        .iter()
        .flat_map(|process| process.threads.iter().map(move |thread| (process, thread)))
        .collect();
    for (process, thread) in &threads {
        let path = match threads.len() {
            1 => output.to_owned(),
            _ => files.free(|number| told_apart(output, process.pid, thread.id, number)),
        };
        files.write(&path, |mut out| {
            let mut profile = CpuProfile::new(thread.start_us());
            for (window, placed) in windows(thread, &recorded.frames) {
                profile.window(&window, &placed);
            }
            profile.write(&mut out, thread.end_us())
        })?;
    }
    Ok(())
}

/// `out.cpuprofile` → `out.4242.0.cpuprofile`; processes of several containers can have one pid.
fn told_apart(output: &Path, pid: i64, thread: i64, number: u32) -> PathBuf {
    const ENDING: &str = ".cpuprofile";
    let name = output.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    let at = name.to_ascii_lowercase().rfind(ENDING).unwrap_or(name.len());
    let (stem, ending) = name.split_at_checked(at).unwrap_or((&name, ""));
    let again = if number == 1 { String::new() } else { format!("-{number}") };
    output.with_file_name(format!("{stem}{again}.{pid}.{thread}{ending}"))
}

/// When the file was written: ISO 8601, UTC.
fn modified(path: &Path) -> String {
    let time = path.metadata().and_then(|metadata| metadata.modified());
    let time = chrono::DateTime::<chrono::Utc>::from(time.unwrap_or(SystemTime::UNIX_EPOCH));
    time.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests;
