//! Reads files into a session.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::files::find::find;
use crate::files::input::{Failed, Input};
use crate::format::cpuprofile::file_name::ids_from_file_name;
use crate::format::cpuprofile::read::CpuProfileReader;
use crate::format::trace::read::TraceReader;
use crate::format::trace::scan::{Item, Scanner};
use crate::profile::frame_table::FrameTable;
use crate::profile::session::{Process, Session, Thread};
use crate::profile::thread_profile::ReadScope;
use crate::read::group::{
    ClockFacts, Placement, ProcessFacts, ProcessGroups, RecordingSpan, find_clocks,
};
use crate::read::sniff::is_merged;

/// A session, and what happened to each file.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    /// Processes, threads and recordings.
    pub session: Session,
    /// Whether one of the files is a trace.
    pub is_trace: bool,
    /// Count of the files that were read.
    pub inputs: usize,
    /// Files that were torn or cut off.
    pub repaired: Vec<PathBuf>,
    /// Files that could not be read.
    pub failed: Vec<Failed>,
    /// Remarks for the user, a sentence each.
    pub notes: Vec<String>,
}

/// The contents of one file.
struct FileContents {
    processes: Vec<Process>,
    is_trace: bool,
    is_torn: bool,
    /// Count of profile events that could not be read.
    unreadable_events: u64,
}

/// Reads files, and the files in folders.
pub(crate) fn load(paths: &[PathBuf], scope: ReadScope) -> Loaded {
    let mut loaded = load_all(paths, scope);
    if loaded.session.clocks.len() > 1 {
        let note = "the recordings come from several machines, or from before and after a restart \
                    of one: times of each begin at 0";
        loaded.notes.push(note.into());
    }
    loaded
}

/// Reads a slice of the time: milliseconds from the first start of a recording. Only recordings of
/// the first clock have times in the slice.
pub(crate) fn load_slice(paths: &[PathBuf], from_ms: f64, to_ms: f64) -> Loaded {
    // The first start is known only after a first reading.
    let whole = load_all(paths, ReadScope::TIMES).session;
    let start_us = whole.clocks.first().map_or(0, |clock| clock.start_us);
    let key = |process: &Process| (process.pid, process.recorded_from_us());
    let of_first_clock: HashSet<_> =
        whole.processes.iter().filter(|process| process.clock == 0).map(key).collect();
    let at = |ms: f64| start_us.saturating_add((ms * 1000.0).round() as i64);
    let scope = ReadScope { from_us: at(from_ms), to_us: at(to_ms), ..ReadScope::LINES };
    let mut loaded = load_all(paths, scope);
    loaded.session.processes.retain(|process| of_first_clock.contains(&key(process)));
    let others = whole.processes.iter().filter(|process| process.clock != 0).count();
    if others > 0 {
        loaded.notes.push(format!(
            "left out {others} processes: their times come from another machine, or from before a \
             restart; to see them, give their recordings alone"
        ));
    }
    loaded.session.drop_empty();
    sort(&mut loaded.session);
    loaded
}

fn load_all(paths: &[PathBuf], scope: ReadScope) -> Loaded {
    let (inputs, failed) = find(paths);
    let mut loaded = Loaded { failed, ..Loaded::default() };
    // A folder may hold the trace that its recordings were merged into.
    let (merged, recordings): (Vec<_>, Vec<_>) =
        inputs.iter().partition(|input| !input.is_named && is_merged(input));
    let mut files = loaded.read(&recordings, scope);
    if files.is_empty() {
        files = loaded.read(&merged, scope);
    } else {
        for input in merged {
            let note = "left out, because it is a merged trace (name the file to read it)";
            loaded.note(input, note);
        }
    }
    loaded.add(files);
    sort(&mut loaded.session);
    loaded
}

impl Loaded {
    /// Reads files. Skips those without a profile, unless the user named the file.
    fn read<'a>(
        &mut self,
        inputs: &[&'a Input],
        scope: ReadScope,
    ) -> Vec<(&'a Input, FileContents)> {
        let mut files = Vec::new();
        for input in inputs {
            match read(input, scope, &mut self.session.frames) {
                // A folder holds other JSON files too.
                Ok(contents) if contents.processes.is_empty() && !input.is_named => {}
                Ok(contents) if contents.processes.is_empty() => {
                    let reason = "the file has no CPU profile (no ProfileChunk events, no nodes)";
                    self.fail(input, reason.to_owned());
                }
                Ok(contents) => files.push((*input, contents)),
                Err(reason) => self.fail(input, reason),
            }
        }
        files
    }

    /// Joins the processes of all files. A recording in two files counts once.
    fn add(&mut self, mut files: Vec<(&Input, FileContents)>) {
        let mut processes: Vec<(usize, Process)> = Vec::new();
        for (index, (_, contents)) in files.iter_mut().enumerate() {
            processes.extend(contents.processes.drain(..).map(|process| (index, process)));
        }
        // Traces first: they know more of a process.
        processes
            .sort_by_key(|(file, process)| (!files[*file].1.is_trace, process.recorded_from_us()));
        let mut groups = ProcessGroups::default();
        let mut has_news = vec![false; files.len()];
        for (file, process) in processes {
            match groups.place(facts(&process)) {
                Placement::Duplicate => continue,
                Placement::Known(index) => self.session.processes[index].join(process),
                Placement::New => self.session.processes.push(process),
            }
            has_news[file] = true;
        }
        for ((input, contents), has_news) in files.iter().zip(has_news) {
            if has_news {
                self.count(input, contents);
            } else {
                // `CPU_PROF_FORMAT=trace,cpuprofile` writes one recording into two files.
                self.note(input, "left out, because other files hold its recordings");
            }
        }
    }

    fn count(&mut self, input: &Input, contents: &FileContents) {
        self.inputs += 1;
        self.is_trace |= contents.is_trace;
        if contents.is_torn {
            self.repaired.push(input.path.clone());
        }
        if contents.unreadable_events > 0 {
            let count = contents.unreadable_events;
            self.note(input, &format!("{count} profile events could not be read"));
        }
    }

    fn note(&mut self, input: &Input, text: &str) {
        self.notes.push(format!("{}: {text}", input.path.display()));
    }

    fn fail(&mut self, input: &Input, reason: String) {
        self.failed.push(Failed { path: input.path.clone(), reason });
    }
}

impl Loaded {
    /// Returns the reason if nothing was read.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !self.session.processes.is_empty() {
            return Ok(());
        }
        if self.inputs > 0 {
            return Err("nothing was recorded in that time; choose other limits".into());
        }
        let reasons: Vec<String> = self
            .failed
            .iter()
            .map(|failed| format!("{}: {}", failed.path.display(), failed.reason))
            .collect();
        if reasons.is_empty() {
            return Err("there is no trace to read: give files that a recording has written \
                        (.trace.json, .cpuprofile, .gz), or a folder of them"
                .into());
        }
        Err(format!("no file could be read. {}", reasons.join(". ")))
    }
}

fn facts(process: &Process) -> ProcessFacts {
    let recordings = process.threads.iter().flat_map(|thread| {
        thread.profiles.iter().map(|profile| {
            let (start_us, end_us) = profile.recorded_us;
            RecordingSpan { tid: thread.id, start_us, end_us: Some(end_us) }
        })
    });
    ProcessFacts {
        pid: (process.pid != 0).then_some(process.pid),
        identity: process.identity.clone(),
        node: process.node.clone(),
        parent_pid: process.parent_pid,
        cwd: process.cwd.clone(),
        label: process.url_label.clone(),
        recordings: recordings.collect(),
    }
}

/// Finds the clocks, and sorts processes, threads and recordings by their starts; main threads come
/// first.
pub(crate) fn sort(session: &mut Session) {
    for process in &mut session.processes {
        for thread in &mut process.threads {
            thread.profiles.sort_by_key(|profile| profile.start_us);
        }
        process.threads.sort_by_key(|thread| (!thread.is_main(), thread.id));
    }
    let facts = |process: &Process| ClockFacts {
        boot: process.identity.as_ref().map(|identity| identity.boot.clone()),
        start_us: process.start_us(),
        end_us: process.end_us(),
        recordings: process.recordings(),
    };
    let facts: Vec<_> = session.processes.iter().map(facts).collect();
    let (clocks, indices) = find_clocks(&facts);
    session.clocks = clocks;
    for (process, clock) in session.processes.iter_mut().zip(indices) {
        process.clock = clock;
    }
    session.processes.sort_by_key(|process| (process.clock, process.start_us(), process.pid));
}

fn read(input: &Input, scope: ReadScope, frames: &mut FrameTable) -> Result<FileContents, String> {
    let file = input.open().map_err(|error| format!("the file cannot be read: {error}"))?;
    let mut scanner = Scanner::new(file);
    let mut trace = TraceReader::new(scope);
    let mut cpuprofile = CpuProfileReader::new(scope);
    let mut has_events = false;
    while let Some(item) = scanner.next().map_err(|error| error.to_string())? {
        match item {
            Item::Event(event) => {
                has_events = true;
                trace.event(event, frames);
            }
            Item::Member { key, value } => {
                trace.member(key, value);
                if !has_events {
                    cpuprofile.member(key, value, frames)?;
                }
            }
        }
    }
    let is_torn = scanner.is_torn();
    if has_events {
        let unreadable_events = trace.unreadable_events();
        let processes = trace.finish();
        return Ok(FileContents { processes, is_trace: true, is_torn, unreadable_events });
    }
    let process = cpuprofile.finish().map(|profile| {
        let name = input.path.file_name().unwrap_or_default().to_string_lossy();
        let (ids, name) = ids_from_file_name(&name);
        let (pid, id) = ids.unwrap_or((0, 0));
        let thread_name = if id == 0 { "main".into() } else { format!("worker {id}") };
        let thread = Thread { id, name: thread_name, profiles: vec![profile] };
        let (name, command) = (name.to_owned(), name.to_owned());
        Process { pid, name, command, threads: vec![thread], ..Process::default() }
    });
    let processes = process.into_iter().collect();
    Ok(FileContents { processes, is_trace: false, is_torn, unreadable_events: 0 })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const MAIN: &str = include_str!("../format/trace/golden/main.trace.json");
    const WORKER: &str = include_str!("../format/trace/golden/worker.trace.json");

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        dir
    }

    /// Pids with the ids of their threads.
    fn found(loaded: &Loaded) -> Vec<(i64, Vec<i64>)> {
        let threads = |process: &Process| process.threads.iter().map(|thread| thread.id).collect();
        loaded.session.processes.iter().map(|process| (process.pid, threads(process))).collect()
    }

    #[test]
    fn a_folder_is_read_with_other_files_in_it() {
        let merged = "{\"source\":\"cpu-prof\",\"traceEvents\":[]}";
        let dir = folder(&[
            ("main.trace.json", MAIN),
            ("worker.trace.json", &WORKER[..WORKER.len() - 40]),
            ("again.json", MAIN),
            ("package.json", "{\"name\":\"x\"}"),
            ("broken.json", "no"),
            ("trace.json", merged),
        ]);
        let loaded = load(&[dir.path().to_owned()], ReadScope::TIMES);
        assert_eq!(found(&loaded), [(4242, vec![0, 3])]);
        assert_eq!(loaded.inputs, 2);
        assert_eq!(loaded.repaired, [dir.path().join("worker.trace.json")]);
        assert_eq!(loaded.failed.len(), 1);
        assert!(loaded.failed[0].path.ends_with("broken.json"));
        assert_eq!(loaded.notes.len(), 2, "{:?}", loaded.notes);
        loaded.check().unwrap();
    }

    #[test]
    fn a_folder_of_a_merged_trace_alone_is_that_trace() {
        let merged = MAIN.replacen('{', "{\"source\":\"cpu-prof\",", 1);
        let dir = folder(&[("trace.json", &merged)]);
        let loaded = load(&[dir.path().to_owned()], ReadScope::TIMES);
        assert_eq!(found(&loaded), [(4242, vec![0])]);
        assert!(loaded.notes.is_empty());
    }

    #[test]
    fn the_reason_is_given_when_nothing_was_read() {
        let dir = folder(&[("package.json", "{}"), ("x.json", "no")]);
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("empty")).unwrap();
        for (path, reason) in [
            (at("empty"), "no trace to read"),
            (at("missing"), "does not exist"),
            (at("package.json"), "no CPU profile"),
            (at("x.json"), "not a JSON object"),
        ] {
            let loaded = load(&[path], ReadScope::TIMES);
            let error = loaded.check().unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_slice_leaves_out_the_rest() {
        let dir = folder(&[("main.trace.json", MAIN)]);
        let paths = [dir.path().to_owned()];
        let whole = load(&paths, ReadScope::TIMES).session;
        assert_eq!(whole.length_us(), 10_000);
        let part = load_slice(&paths, 2.5, 4.0);
        assert_eq!(part.session.length_us(), 1_500);
        let nodes = &part.session.processes[0].threads[0].profiles[0].nodes;
        assert_eq!(nodes.iter().map(|node| node.self_us).sum::<u64>(), 1_500);
        let none = load_slice(&paths, 20.0, 40.0);
        assert!(none.check().unwrap_err().contains("in that time"));
    }
}
