//! Opens single files, and reads them, several at a time.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use super::pprof::beside::RecordedTime;
use super::pprof::{self, is_pprof, open_as_trace};
use super::read_error::ReadError;
use cpu_prof_core::files::input::Input;
use cpu_prof_core::profile::label_table::LabelTable;
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_session::formats::cpuprofile::read::CpuProfileReader;
use cpu_prof_session::formats::pprof::contents::PprofContents;
use cpu_prof_session::formats::trace::event::event_times::TraceTimes;
use cpu_prof_session::formats::trace::read::TraceReader;
use cpu_prof_session::formats::trace::scan::{SoundItem, SoundItems};
use cpu_prof_session::model::frame_table::FrameTable;
use cpu_prof_session::model::{Process, ScriptKey};

/// Files that are read at the same time: each holds its contents in memory.
const MAX_AT_ONCE: usize = 8;

/// A file that was read.
pub struct ReadFile {
    pub contents: FileContents,
    /// Call frames of the file's profiles.
    pub frames: FrameTable,
    /// Label sets of the file's profiles.
    pub labels: LabelTable,
    /// JSON of the source maps of scripts that are in no file.
    pub script_maps: Vec<(ScriptKey, String)>,
}

/// The contents of one file.
#[derive(Default)]
pub struct FileContents {
    pub processes: Vec<Process>,
    pub is_trace: bool,
    /// Times of a trace that is not a recording.
    pub times: Option<TraceTimes>,
    /// Whether all times are known to be those of one clock.
    pub has_one_clock: bool,
    /// Whether the file was cut off, or events were left out.
    pub is_damaged: bool,
    /// Count of profile events that could not be read.
    pub unreadable_events: u64,
    /// What the user should know about the file.
    pub notes: Vec<String>,
}

/// Opens an input to read its sound events.
pub fn open(input: &Input) -> Result<SoundItems<Box<dyn Read>>, ReadError> {
    open_counted(input, &Arc::default(), None)
}

/// Opens an input as `open` does, and adds the bytes that are read from the disk to `done`. pprof is opened as a
/// trace, beside recordings of this time.
pub fn open_counted(
    input: &Input,
    done: &Arc<AtomicU64>,
    recorded: Option<&RecordedTime>,
) -> Result<SoundItems<Box<dyn Read>>, ReadError> {
    let file = input.open_counted(done).map_err(ReadError::Open)?;
    let file = if is_pprof(input) { open_as_trace(input, file, recorded)? } else { file };
    Ok(SoundItems::new(file))
}

/// Reads files on as many threads as there are cores, and calls `take` with each in the order of the
/// inputs.
pub(super) fn read_all<'a>(
    inputs: &'a [Input],
    scope: ReadScope,
    mut take: impl FnMut(&'a Input, Result<ReadFile, ReadError>),
) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let at_once = cores.min(MAX_AT_ONCE).min(inputs.len());
    if at_once < 2 {
        return inputs.iter().for_each(|input| take(input, read(input, scope)));
    }
    let next = AtomicUsize::new(0);
    let (sender, receiver) = sync_channel(at_once);
    thread::scope(|threads| {
        for _ in 0..at_once {
            let (sender, next) = (sender.clone(), &next);
            let read_next = move || {
                while let number = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(input) = inputs.get(number)
                    && sender.send((number, read(input, scope))).is_ok()
                {}
            };
            // A system can refuse more threads.
            if thread::Builder::new().spawn_scoped(threads, read_next).is_err() {
                break;
            }
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut expected = 0;
        for (number, file) in receiver {
            early.insert(number, file);
            while let Some(file) = early.remove(&expected) {
                take(&inputs[expected], file);
                expected += 1;
            }
        }
        inputs[expected..].iter().for_each(|input| take(input, read(input, scope)));
    });
}

/// Reads one file.
fn read(input: &Input, scope: ReadScope) -> Result<ReadFile, ReadError> {
    if is_pprof(input) {
        return read_pprof(input, scope);
    }
    let mut frames = FrameTable::new();
    let mut items = open(input)?;
    let mut trace = TraceReader::new(scope);
    let mut cpuprofile = CpuProfileReader::new(scope);
    let mut has_events = false;
    // A trace of another tool can have members of these names, with other values.
    let mut cpuprofile_error = None;
    loop {
        let is_ours = items.is_ours();
        let Some(item) = items.next()? else { break };
        match item {
            // A file with nodes before any event is a `.cpuprofile`.
            SoundItem::Event { .. } if cpuprofile.is_profile() => {}
            SoundItem::Event { text, head } => {
                has_events = true;
                trace.event(text, head, is_ours, &mut frames);
            }
            SoundItem::Member { key, value } => {
                trace.member(key, value);
                if !has_events && cpuprofile_error.is_none() {
                    cpuprofile_error = cpuprofile.member(key, value, &mut frames).err();
                }
            }
        }
    }
    if has_events {
        let unreadable_events = trace.unreadable_events() + items.sample_problems().lost;
        let script_maps = trace.take_script_maps();
        let labels = trace.take_labels();
        let is_recording = trace.is_recording();
        let (processes, times) = trace.finish_with_times();
        let times = (!is_recording).then_some(times);
        let is_damaged = items.is_damaged();
        let contents = FileContents {
            processes,
            is_trace: true,
            has_one_clock: times.as_ref().is_some_and(TraceTimes::have_one_clock),
            times,
            is_damaged,
            unreadable_events,
            notes: Vec::new(),
        };
        return Ok(ReadFile { contents, frames, labels, script_maps });
    }
    if let Some(other) = cpuprofile.other() {
        return Err(ReadError::NoProfile(other));
    }
    if let Some(error) = cpuprofile_error {
        return Err(ReadError::Contents(error));
    }
    let is_damaged = items.is_torn();
    if is_damaged && cpuprofile.is_profile() {
        return Err(ReadError::CutCpuProfile);
    }
    let name = input.path.file_name().unwrap_or_default().to_string_lossy();
    let labels = cpuprofile.take_labels();
    let process = cpuprofile.finish_process(&name);
    let processes = process.into_iter().collect();
    let contents = FileContents { processes, is_damaged, ..FileContents::default() };
    Ok(ReadFile { contents, frames, labels, script_maps: Vec::new() })
}

/// Reads a pprof file.
fn read_pprof(input: &Input, scope: ReadScope) -> Result<ReadFile, ReadError> {
    let contents = pprof::read(input, scope)?;
    let notes = pprof::notes_of(&contents, scope);
    let PprofContents { processes, frames, labels, .. } = contents;
    let contents = FileContents { processes, notes, ..FileContents::default() };
    Ok(ReadFile { contents, frames, labels, script_maps: Vec::new() })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use cpu_prof_core::files::find::find;

    use cpu_prof_core::testing::traces::MAIN;

    #[test]
    fn files_come_in_the_order_of_the_inputs() {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<_> =
            (0..40).map(|number| dir.path().join(format!("{number}.json"))).collect();
        for (number, path) in paths.iter().enumerate() {
            let text = if number % 7 == 3 {
                "no".to_owned()
            } else {
                MAIN.replace("4242", &format!("{number}"))
            };
            fs::write(path, text).unwrap();
        }
        let (inputs, _) = find(&paths);
        let mut found = Vec::new();
        read_all(&inputs, ReadScope::TIMES, |input, file| {
            let pid = file.ok().map(|file| file.contents.processes[0].pid);
            found.push((input.path.clone(), pid));
        });
        let wanted = paths.iter().zip(0_i64..);
        let wanted: Vec<_> = wanted
            .map(|(path, number)| (path.clone(), (number % 7 != 3).then_some(number)))
            .collect();
        assert_eq!(found, wanted);
    }
}
