//! Many files into one trace that DevTools shows well, without holding them in memory.
//!
//! What a file is its beginning tells ([`survey`]); whose recordings belong together is settled
//! before anything is written ([`processes`]). Then file after file passes: a thread's only
//! recording line by line as it is, several of one thread through [`rebuild`], what is not ours
//! through [`foreign`]. Names of processes and what is known of them come at the end.

mod cpuprofile;
mod foreign;
mod part;
mod processes;
mod rebuild;
mod survey;
#[cfg(test)]
mod tests;
mod windows;

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashSet;
use serde_json::{Map, Value, json};

use self::foreign::{Foreign, frame_event};
use self::part::{Part, Spool};
use self::processes::{Process, Processes};
use self::rebuild::Rebuilt;
use self::survey::{Content, Recording, survey};
use self::windows::{Histogram, Windows};
use super::encode::encode;
use super::head::Head;
use super::scan::{Item, Scanner};
use super::thread::profile_id;
use crate::input::{Failed, Input, find};

/// More than this DevTools does not load, uncompressed.
const MOST_BYTES: u64 = 536_000_000;

/// More than this takes it long.
pub const MANY_BYTES: u64 = 200_000_000;

/// What is known of a process's end.
#[derive(Debug, Clone, Default)]
pub struct Exit {
    /// The process.
    pub pid: u32,
    /// Its exit code, if it had one.
    pub code: Option<i32>,
    /// The signal that killed it, if one did.
    pub signal: Option<String>,
}

/// What is to be merged, and how.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Where the trace begins: microseconds after the first recording did.
    pub from_us: Option<i64>,
    /// Where it ends.
    pub to_us: Option<i64>,
    /// The size of the files that it becomes, if it may be several: bytes, uncompressed.
    pub split: Option<u64>,
    /// How the process ended that all others came from.
    pub exit: Option<Exit>,
}

/// How far a merge is: bytes of the inputs.
#[derive(Debug, Default)]
pub struct Progress {
    /// Read so far.
    pub done: Arc<AtomicU64>,
    /// To be read; 0 while that is not known.
    pub total: AtomicU64,
}

/// What became of it.
#[derive(Debug, Default)]
pub struct Merged {
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// The size of the largest, uncompressed.
    pub bytes: u64,
    /// The inputs that are in it.
    pub inputs: usize,
    /// The processes in it.
    pub processes: usize,
    /// The threads in it.
    pub threads: usize,
    /// Inputs that were cut off or torn.
    pub repaired: Vec<PathBuf>,
    /// Inputs that could not be read.
    pub failed: Vec<Failed>,
    /// What else is to be said.
    pub notes: Vec<String>,
}

/// Why there is no trace.
#[derive(Debug)]
pub enum MergeError {
    /// There is nothing to merge.
    NoInput {
        /// Where it was looked for.
        paths: Vec<PathBuf>,
    },
    /// None of the inputs can be read.
    Unreadable {
        /// Each of them.
        failed: Vec<Failed>,
    },
    /// Nothing was recorded in the window that was asked for.
    NothingInWindow {
        /// How long the recordings are, milliseconds.
        length_ms: i64,
    },
    /// The trace cannot be written.
    Output {
        /// What was being done.
        action: &'static str,
        /// The trace.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoInput { paths } => {
                let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
                write!(
                    f,
                    "there are no traces in {}: nothing was recorded, or it is elsewhere \
                     (CPU_PROF_DIR says where recordings go)",
                    if paths.is_empty() { "what was given".to_owned() } else { paths.join(", ") }
                )
            }
            Self::Unreadable { failed } => {
                write!(f, "nothing could be read")?;
                for Failed { path, reason } in failed {
                    write!(f, "\n  {}: {reason}", path.display())?;
                }
                Ok(())
            }
            Self::NothingInWindow { length_ms } => write!(
                f,
                "nothing was recorded in that window; the recordings go from 0 to {length_ms} ms"
            ),
            Self::Output { action, path, source } => {
                write!(f, "could not {action} {}: {source}", path.display())?;
                match source.kind() {
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                        write!(f, " (free some space, or write it to another disk; .gz is smaller)")
                    }
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                        write!(f, " (write it to a folder that can be written)")
                    }
                    io::ErrorKind::IsADirectory => write!(f, " (give the name of a file in it)"),
                    _ => Ok(()),
                }
            }
        }
    }
}

impl std::error::Error for MergeError {}

/// A process's label in the trace.
struct OutFrame {
    pid: u32,
    url: String,
    start_us: i64,
    /// None for one of ours.
    frame: Option<String>,
    parent: Option<String>,
    /// Made up for a trace that names no frames; needed only beside others that do.
    is_generic: bool,
}

/// What is known while a merge goes on.
struct Merge {
    processes: Processes,
    windows: Windows,
    frames: Vec<OutFrame>,
    /// As they are written.
    profile_ids: FxHashSet<Vec<u8>>,
    threads: usize,
    foreign_processes: usize,
    repaired: Vec<PathBuf>,
    failed: Vec<Failed>,
    notes: Vec<String>,
    /// Members of other traces, written as members.
    members: Option<Spool>,
    /// Files that name no frames, as those of other tools.
    generic: Vec<PathBuf>,
    member_keys: FxHashSet<String>,
    /// Their metadata.
    sources: Vec<Value>,
}

/// Merges files and folders of them into `output`. A failed merge leaves nothing there.
pub fn merge(
    paths: &[PathBuf],
    output: &Path,
    options: &Options,
    progress: &Progress,
) -> Result<Merged, MergeError> {
    let (mut inputs, mut failed) = find(paths);
    // A folder may hold the result of the last time.
    inputs.retain(|input| input.is_named || !is_same_file(&input.path, output));
    if inputs.is_empty() && failed.is_empty() {
        return Err(MergeError::NoInput { paths: paths.to_vec() });
    }
    let mut recordings = Vec::new();
    let mut others: Vec<(usize, bool)> = Vec::new();
    for (number, input) in inputs.iter().enumerate() {
        match survey(number, input) {
            Ok(Content::Recording(recording)) => recordings.push(recording),
            Ok(Content::Other { is_merged }) => others.push((number, is_merged)),
            Err(reason) => failed.push(Failed { path: input.path.clone(), reason }),
        }
    }
    let mut notes = Vec::new();
    if !recordings.is_empty() {
        let is_result =
            |(number, is_merged): &(usize, bool)| *is_merged && !inputs[*number].is_named;
        let results = others.iter().filter(|other| is_result(other));
        let names = listed(results.map(|(number, _)| &inputs[*number].path));
        if !names.is_empty() {
            notes.push(format!("left out, for it is merged already (name it to have it): {names}"));
        }
        others.retain(|other| !is_result(other));
    }
    if recordings.is_empty() && others.is_empty() {
        return Err(MergeError::Unreadable { failed });
    }
    let processes = Processes::of(recordings, &inputs);
    let mut merge = Merge {
        processes,
        windows: Windows::one(None, None),
        frames: Vec::new(),
        profile_ids: FxHashSet::default(),
        threads: 0,
        foreign_processes: 0,
        repaired: Vec::new(),
        failed,
        notes,
        members: None,
        generic: Vec::new(),
        member_keys: FxHashSet::default(),
        sources: Vec::new(),
    };
    merge.tell(&inputs);
    merge.run(&inputs, &others, output, options, progress)
}

impl Merge {
    fn run(
        mut self,
        inputs: &[Input],
        others: &[(usize, bool)],
        output: &Path,
        options: &Options,
        progress: &Progress,
    ) -> Result<Merged, MergeError> {
        let bytes: u64 = inputs.iter().map(|input| input.bytes).sum();
        let needs_times =
            options.split.is_some() || options.from_us.is_some() || options.to_us.is_some();
        progress.total.store(if needs_times { 2 * bytes } else { bytes }, Ordering::Relaxed);
        let mut span = None;
        if needs_times {
            span = Some(self.choose_windows(inputs, others, options, progress));
        }
        let mut parts = Vec::with_capacity(self.windows.count());
        for _ in 0..self.windows.count() {
            parts.push(Part::create(output)?);
        }
        let list = std::mem::take(&mut self.processes.list);
        for process in &list {
            self.process(process, inputs, &mut parts, progress)?;
        }
        for (number, _) in others {
            self.foreign(&inputs[*number], output, &mut parts, progress)?;
        }
        parts.retain(|part| !part.pids.is_empty());
        if parts.is_empty() {
            return Err(match span {
                Some((start_us, end_us)) => {
                    MergeError::NothingInWindow { length_ms: (end_us - start_us) / 1000 }
                }
                None => MergeError::Unreadable { failed: self.failed },
            });
        }
        self.write_ends(&list, &mut parts, options)?;
        let mut merged = Merged::default();
        let mut finished = Vec::new();
        for part in parts {
            finished.push(part.finish()?);
        }
        let count = finished.len();
        for (number, part) in (1..).zip(finished) {
            merged.bytes = merged.bytes.max(part.bytes);
            let place = if count == 1 { output.to_owned() } else { numbered(output, number) };
            part.keep(&place)?;
            merged.files.push(place);
        }
        if self.frames.iter().any(|frame| !frame.is_generic) {
            let names = listed(self.generic.iter());
            if !names.is_empty() {
                self.notes.push(format!(
                    "beside recordings, DevTools draws of other tools' events only those that it knows \
                     (Perfetto draws all): {names}"
                ));
            }
        }
        self.tell_size(merged.bytes, options.split.is_some());
        let recordings = list.iter().flat_map(|process| process.threads.values());
        merged.inputs = recordings.map(Vec::len).sum::<usize>() + others.len();
        merged.processes = list.len() + self.foreign_processes;
        merged.threads = self.threads;
        merged.repaired = self.repaired;
        merged.failed = self.failed;
        merged.notes = self.notes;
        Ok(merged)
    }

    /// Says what is unusual about the recordings.
    fn tell(&mut self, inputs: &[Input]) {
        let doubles = listed(self.processes.doubles.iter().map(|number| &inputs[*number].path));
        if !doubles.is_empty() {
            self.notes
                .push(format!("left out, for the same recordings are in other files: {doubles}"));
        }
        for process in &self.processes.list {
            if let (Some(mark), Some(pid)) = (&process.mark, process.own_pid) {
                self.notes.push(format!(
                    "several processes had the pid {pid} (in containers, say): one of them is marked{mark} \
                     and has the pid {} in the trace",
                    process.pid
                ));
            }
        }
        let others = self.processes.list.iter().filter(|process| process.clock > 0);
        let recordings = others.flat_map(|process| process.threads.values().flatten());
        let names = listed(recordings.map(|recording| &inputs[recording.input].path));
        if !names.is_empty() {
            self.notes.push(format!(
                "of another machine, or from before it was started anew: these keep their own times, far \
                 from the others' in the trace: {names}"
            ));
        }
    }

    fn tell_size(&mut self, bytes: u64, is_split: bool) {
        let megabytes = bytes / 1_000_000;
        let advice = "a window of time (from, to), several files (split), fewer inputs, or a longer \
                      CPU_PROF_INTERVAL makes it smaller";
        if bytes > MOST_BYTES {
            self.notes.push(format!(
                "the trace has {megabytes} MB, and DevTools loads no more than {} MB: {advice}",
                MOST_BYTES / 1_000_000
            ));
        } else if bytes > MANY_BYTES && !is_split {
            self.notes.push(format!(
                "the trace has {megabytes} MB, and DevTools takes some {} s to load it: {advice}",
                megabytes / 9
            ));
        }
    }

    /// Reads all times, and decides what goes into which file. Gives the first and the last time.
    fn choose_windows(
        &mut self,
        inputs: &[Input],
        others: &[(usize, bool)],
        options: &Options,
        progress: &Progress,
    ) -> (i64, i64) {
        let mut histogram = Histogram::default();
        let mut range: Option<(i64, i64)> = None;
        let mut add = |ts: i64, bytes: usize, counts: bool| {
            histogram.add(ts, bytes);
            if counts && ts > 0 {
                let (first, last) = range.get_or_insert((ts, ts));
                (*first, *last) = (ts.min(*first), ts.max(*last));
            }
        };
        let list = &self.processes.list;
        for process in list {
            for recording in process.threads.values().flatten() {
                let (input, counts) = (&inputs[recording.input], process.clock == 0);
                if recording.is_cpuprofile {
                    const PIECES: i64 = 1000;
                    let length = recording.end_us.map_or(0, |end| end - recording.start_us);
                    for piece in 0..PIECES {
                        let ts = recording.start_us + length * piece / PIECES;
                        add(ts, input.bytes as usize / PIECES as usize, counts);
                    }
                } else {
                    each_time(input, progress, |ts, bytes| add(ts, bytes, counts));
                }
            }
        }
        for (number, _) in others {
            each_time(&inputs[*number], progress, |ts, bytes| add(ts, bytes, list.is_empty()));
        }
        let (first, last) = range.unwrap_or_default();
        // The first recording's start, even before its first event.
        let own = list.iter().filter(|process| process.clock == 0);
        let first = own.map(|process| process.start_us).min().unwrap_or(first);
        let from_us = options.from_us.map(|from| first.saturating_add(from));
        let to_us = options.to_us.map(|to| first.saturating_add(to));
        self.windows = match options.split {
            // What begins anew in each file takes room too.
            Some(most) => histogram.cut(from_us, to_us, most / 10 * 9),
            None => Windows::one(from_us, to_us),
        };
        (first, last)
    }

    fn process(
        &mut self,
        process: &Process,
        inputs: &[Input],
        parts: &mut [Part],
        progress: &Progress,
    ) -> Result<(), MergeError> {
        self.frames.push(OutFrame {
            pid: process.pid,
            url: process.url.clone(),
            start_us: process.start_us,
            frame: None,
            parent: None,
            is_generic: false,
        });
        for (tid, recordings) in &process.threads {
            self.threads += 1;
            let id = profile_id(process.pid, *tid);
            self.profile_ids.insert(format!("\"{id}\"").into_bytes());
            let is_simple = recordings.len() == 1
                && !recordings[0].is_cpuprofile
                && self.windows.is_everything();
            if is_simple {
                self.copy(process, &recordings[0], &id, inputs, &mut parts[0], progress)?;
            } else {
                let mut rebuilt = Rebuilt::new(process.pid, *tid, id, parts.len());
                for recording in recordings {
                    self.rebuild(process, recording, &mut rebuilt, inputs, parts, progress)?;
                }
            }
        }
        Ok(())
    }

    /// A thread's only recording: lines as they are, but for the frame and another pid.
    fn copy(
        &mut self,
        process: &Process,
        recording: &Recording,
        id: &str,
        inputs: &[Input],
        part: &mut Part,
        progress: &Progress,
    ) -> Result<(), MergeError> {
        let id = format!("\"{id}\"");
        let mut buffer = Vec::new();
        self.each_event(&inputs[recording.input], progress, |event, head| {
            if head.name(event) == b"TracingStartedInBrowser" {
                return Ok(());
            }
            if head.phase != b'M' {
                part.note(process.pid, head.ts(event).unwrap_or_default());
            }
            part.events(changed(process, event, head, &id, &mut buffer))
        })
    }

    /// One of several recordings of a thread, or one that goes into several files.
    fn rebuild(
        &mut self,
        process: &Process,
        recording: &Recording,
        rebuilt: &mut Rebuilt,
        inputs: &[Input],
        parts: &mut [Part],
        progress: &Progress,
    ) -> Result<(), MergeError> {
        let input = &inputs[recording.input];
        let windows = self.windows.clone();
        if recording.is_cpuprofile {
            let mark = process.mark.as_deref().unwrap_or_default();
            let program = process.made_up(&input.path);
            // What the process is called is in its traces, if it has any.
            if process.program.is_empty() {
                for name in cpuprofile::names(&program, mark, process.pid, recording.tid) {
                    rebuilt.name(&name, parts)?;
                }
            }
            rebuilt.begin(recording.start_us, &windows, parts)?;
            let Some(mut scanner) = self.open(input, progress) else { return Ok(()) };
            let pid = process.pid;
            if !cpuprofile::add(&mut scanner, recording, rebuilt, pid, &windows, parts)? {
                let reason = "its nodes or samples are not as in a .cpuprofile".to_owned();
                self.failed.push(Failed { path: input.path.clone(), reason });
            }
            return Ok(());
        }
        let mut has_begun = false;
        let mut buffer = Vec::new();
        let mut broken = false;
        self.each_event(input, progress, |event, head| {
            let ts = head.ts(event).unwrap_or_default();
            match head.name(event) {
                b"TracingStartedInBrowser" | b"thread.start" => Ok(()),
                b"Profile" => {
                    has_begun = true;
                    rebuilt.begin(recording.start_us, &windows, parts)
                }
                b"ProfileChunk" if has_begun => {
                    broken |= !rebuilt.chunk(event, &windows, parts)?;
                    Ok(())
                }
                _ if head.phase == b'M' => {
                    rebuilt.name(changed(process, event, head, "", &mut buffer), parts)
                }
                _ => {
                    let event = changed(process, event, head, "", &mut buffer);
                    rebuilt.other(event, ts, &windows, parts)
                }
            }
        })?;
        if broken && !self.repaired.contains(&input.path) {
            self.repaired.push(input.path.clone());
        }
        Ok(())
    }

    fn open(&mut self, input: &Input, progress: &Progress) -> Option<Scanner<Box<dyn io::Read>>> {
        match input.open_counted(&progress.done) {
            Ok(reader) => Some(Scanner::new(reader)),
            Err(error) => {
                let reason = format!("it cannot be read: {error}");
                self.failed.push(Failed { path: input.path.clone(), reason });
                None
            }
        }
    }

    /// Calls `f` for each event of a recording; what is damaged is left out and said.
    fn each_event(
        &mut self,
        input: &Input,
        progress: &Progress,
        mut f: impl FnMut(&[u8], &Head) -> Result<(), MergeError>,
    ) -> Result<(), MergeError> {
        let Some(mut scanner) = self.open(input, progress) else { return Ok(()) };
        let mut is_torn = false;
        loop {
            let is_own = scanner.is_own();
            match scanner.next() {
                Ok(Some(Item::Event(event))) => {
                    let head = if is_own { Head::of(event) } else { Head::of_any(event) };
                    match head {
                        Some(head) => f(event, &head)?,
                        None => is_torn = true,
                    }
                }
                Ok(Some(Item::Member { .. })) => {}
                Ok(None) => break,
                Err(error) => {
                    let reason = format!("{error}; what stands before that is in the trace");
                    self.failed.push(Failed { path: input.path.clone(), reason });
                    return Ok(());
                }
            }
        }
        if is_torn || scanner.is_torn() {
            self.repaired.push(input.path.clone());
        }
        Ok(())
    }

    /// A trace that is no recording of ours.
    fn foreign(
        &mut self,
        input: &Input,
        output: &Path,
        parts: &mut [Part],
        progress: &Progress,
    ) -> Result<(), MergeError> {
        let Some(mut scanner) = self.open(input, progress) else { return Ok(()) };
        let mut foreign = Foreign::default();
        loop {
            let is_own = scanner.is_own();
            match scanner.next() {
                Ok(Some(Item::Event(event))) => foreign.event(event, is_own, self, parts)?,
                Ok(Some(Item::Member { key, value })) => self.member(key, value, input, output)?,
                Ok(None) => break,
                Err(error) => {
                    let reason = format!("{error}; what stands before that is in the trace");
                    self.failed.push(Failed { path: input.path.clone(), reason });
                    break;
                }
            }
        }
        if scanner.is_torn() || foreign.broken > 0 {
            self.repaired.push(input.path.clone());
        }
        for (own, pid) in &foreign.renumbered {
            self.notes.push(format!(
                "{}: its process {own} has the pid {pid} in the trace, for another has {own} too",
                input.path.display()
            ));
        }
        foreign.end(&input.path, self);
        Ok(())
    }

    /// Keeps a member of another trace.
    fn member(
        &mut self,
        key: &str,
        value: &[u8],
        input: &Input,
        output: &Path,
    ) -> Result<(), MergeError> {
        const MUCH: usize = 16 << 20;
        let file = input.path.file_name().unwrap_or_default().to_string_lossy();
        if key == "source" && value == b"\"cpu-prof\"" {
            return Ok(());
        }
        if serde_json::from_slice::<serde::de::IgnoredAny>(value).is_err() {
            return Ok(());
        }
        if key == "metadata" && value.len() < MUCH {
            let value = serde_json::from_slice::<Value>(value).unwrap_or_default();
            self.sources.push(json!({ "file": file, "metadata": value }));
            return Ok(());
        }
        let mut name = key.to_owned();
        if !self.member_keys.insert(name.clone()) {
            if matches!(key, "displayTimeUnit" | "controllerTraceDataKey" | "otherData") {
                // Settings of viewers: the first one's hold.
                return Ok(());
            }
            name = format!("{key} ({file})");
            self.notes.push(format!(
                "{}: its {key} are called {name:?} in the trace, for another file has {key} too",
                input.path.display()
            ));
        }
        let mut text = b",\n".to_vec();
        // A key is as it was written, with its escapes; a file's name has none yet.
        match name == key {
            true => text.extend_from_slice(format!("\"{key}\"").as_bytes()),
            false => encode(&mut text, &name),
        }
        text.push(b':');
        text.extend_from_slice(value);
        let spool = match &mut self.members {
            Some(spool) => spool,
            None => self.members.insert(Spool::create(output)?),
        };
        spool.write(&text).map_err(|source| MergeError::Output {
            action: "write",
            path: output.to_owned(),
            source,
        })
    }

    /// Names the processes in each file, and closes it.
    fn write_ends(
        &mut self,
        list: &[Process],
        parts: &mut [Part],
        options: &Options,
    ) -> Result<(), MergeError> {
        // A trace without frames is shown as it is; beside others its processes need a frame.
        let needs_frames = self.frames.iter().any(|frame| !frame.is_generic);
        for part in parts {
            let range = part.range(|_| true).unwrap_or_default();
            let frames: Vec<&OutFrame> =
                self.frames.iter().filter(|frame| part.pids.contains_key(&frame.pid)).collect();
            if needs_frames && let Some((first, others)) = frames.split_first() {
                write_frames(part, first, others, range.0)?;
            }
            part.write(b"\n]")?;
            if let Some(spool) = &mut self.members {
                let fail =
                    |source| MergeError::Output { action: "write", path: PathBuf::new(), source };
                part.copy(spool.read().map_err(fail)?)?;
            }
            let here = list.iter().filter(|process| part.pids.contains_key(&process.pid));
            let processes: Vec<Value> =
                here.map(|process| about(process, options.exit.as_ref())).collect();
            // Times of another machine would make all others tiny.
            let of_others =
                |pid| list.iter().any(|process| process.pid == pid && process.clock > 0);
            let view = part.range(|pid| !of_others(pid));
            let metadata = metadata(range, view, processes, &self.sources);
            let mut text = b",\n\"metadata\":".to_vec();
            encode(&mut text, &metadata);
            text.push(b'}');
            part.write(&text)?;
        }
        Ok(())
    }
}

/// DevTools shows the first process first, as 'Main', and opens it; the others' frames are below
/// that one's.
fn write_frames(
    part: &mut Part,
    first: &OutFrame,
    others: &[&OutFrame],
    start_us: i64,
) -> Result<(), MergeError> {
    const ROOT: &str = "NODE";
    let root = first.frame.as_deref().unwrap_or(ROOT);
    let frames = json!({
        "frameTreeNodeId": 1,
        "persistentIds": true,
        "frames": [{
            "frame": root,
            "isInPrimaryMainFrame": true,
            "isOutermostMainFrame": true,
            "name": "",
            "processId": first.pid,
            "url": first.url,
        }],
    });
    part.events(&frame_event("TracingStartedInBrowser", first.pid, start_us, &frames))?;
    for frame in others {
        let parent = frame.parent.as_deref().unwrap_or(root);
        let id = frame.frame.clone().unwrap_or_else(|| format!("{ROOT}-{}", frame.pid));
        let data = json!({
            "frame": id,
            "parent": parent,
            "isInPrimaryMainFrame": true,
            "isOutermostMainFrame": false,
            "name": "",
            "processId": frame.pid,
            "url": frame.url,
        });
        let ts = frame.start_us.max(start_us);
        part.events(&frame_event("FrameCommittedInBrowser", frame.pid, ts, &data))?;
    }
    Ok(())
}

/// What the trace's metadata says of a process.
fn about(process: &Process, exit: Option<&Exit>) -> Value {
    let mut about: Map<String, Value> = process.program.clone();
    for key in ["threadId", "version"] {
        about.remove(key);
    }
    about.insert("pid".into(), process.pid.into());
    if let Some(own) = process.own_pid.filter(|own| *own != process.pid) {
        about.insert("ownPid".into(), own.into());
    }
    about.insert("label".into(), process.url.clone().into());
    about.insert("startUs".into(), process.start_us.into());
    about.insert("threads".into(), process.threads.keys().copied().collect());
    if let Some(exit) = exit.filter(|exit| Some(exit.pid) == process.own_pid) {
        about.insert("exitCode".into(), exit.code.into());
        about.insert("signal".into(), exit.signal.clone().into());
    }
    about.into()
}

/// The file's metadata. Without the breadcrumb DevTools zooms to the first thread's activity.
fn metadata(
    (start_us, end_us): (i64, i64),
    view: Option<(i64, i64)>,
    processes: Vec<Value>,
    sources: &[Value],
) -> Value {
    let window = |(min, max): (i64, i64)| json!({ "min": min, "max": max, "range": max - min });
    let mut own = json!({ "version": env!("CARGO_PKG_VERSION"), "processes": processes });
    if !sources.is_empty() {
        own["sources"] = sources.into();
    }
    let start_time = processes.first().and_then(|process| process.get("startTime")).cloned();
    json!({
        "source": "cpu-prof",
        "dataOrigin": "TraceEvents",
        "startTime": start_time,
        "modifications": {
            "entriesModifications": { "hiddenEntries": [], "expandableEntries": [] },
            "initialBreadcrumb": {
                "window": window((start_us, end_us)),
                "child": { "window": window(view.unwrap_or((start_us, end_us))), "child": null },
            },
            "annotations": {
                "entryLabels": [],
                "labelledTimeRanges": [],
                "linksBetweenEntries": [],
            },
        },
        "cpu-prof": own,
    })
}

/// An event of a recording, with the process's other pid and mark if it has them.
fn changed<'a>(
    process: &Process,
    event: &'a [u8],
    head: &Head,
    profile_id: &str,
    buffer: &'a mut Vec<u8>,
) -> &'a [u8] {
    let Some(mark) = &process.mark else { return event };
    buffer.clear();
    head.renumbered(event, process.pid, Some(profile_id), buffer);
    if head.phase == b'M'
        && let Ok(mut value) = serde_json::from_slice::<Value>(buffer)
        && let Some(name) = value.pointer_mut("/args/name")
        && let Some(text) = name.as_str()
        && let Some(own) = process.own_pid
    {
        let pid = format!("(pid {own})");
        *name = text.replace(&pid, &format!("{pid}{mark}")).into();
        buffer.clear();
        encode(buffer, &value);
    }
    buffer
}

fn each_time(input: &Input, progress: &Progress, mut f: impl FnMut(i64, usize)) {
    let Ok(reader) = input.open_counted(&progress.done) else { return };
    let mut scanner = Scanner::new(reader);
    // What is wrong with a file is said when it is copied.
    while let Ok(Some(item)) = scanner.next() {
        if let Item::Event(event) = item
            && let Some(head) = Head::of(event)
            && head.phase != b'M'
            && let Some(ts) = head.ts(event)
        {
            f(ts, event.len());
        }
    }
}

/// `trace.json.gz` → `trace.1.json.gz`
fn numbered(output: &Path, number: usize) -> PathBuf {
    let name = output.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let at = [".json.gz", ".json", ".gz"]
        .iter()
        .find_map(|ending| {
            name.to_ascii_lowercase().ends_with(ending).then(|| name.len() - ending.len())
        })
        .unwrap_or(name.len());
    let mut numbered = OsString::from(&name[..at]);
    numbered.push(format!(".{number}{}", &name[at..]));
    output.with_file_name(numbered)
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    real(one).is_some_and(|one| Some(one) == real(other))
}

/// Names, not more than a person reads.
fn listed<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> String {
    const MOST: usize = 5;
    let names: Vec<String> = paths.map(|path| path.display().to_string()).collect();
    let shown = names.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
