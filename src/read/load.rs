//! Files into what was recorded.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::files::input::{Failed, Input, find};
use crate::format::cpuprofile::read::{CpuProfileReader, ids_from_file_name};
use crate::format::trace::read::TraceReader;
use crate::format::trace::scan::{Item, Scanner};
use crate::profile::frame_table::FrameTable;
use crate::profile::session::{Process, Session, Thread};
use crate::profile::thread_profile::ReadScope;

/// What files hold, and what became of them.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    /// Processes in the order of their starts.
    pub recorded: Session,
    /// Whether one of them is a trace.
    pub is_trace: bool,
    /// How many files were read.
    pub inputs: usize,
    /// Those that were torn, or cut off.
    pub repaired: Vec<PathBuf>,
    /// Those that could not be read.
    pub failed: Vec<Failed>,
    /// What else is to be said, a sentence each.
    pub notes: Vec<String>,
}

/// What a file was found to be.
struct FileContents {
    processes: Vec<Process>,
    is_trace: bool,
    is_torn: bool,
    /// Events that could not be understood.
    strange: u64,
}

/// Reads files, and those in folders.
pub(crate) fn load(paths: &[PathBuf], wanted: ReadScope) -> Loaded {
    let mut loaded = load_all(paths, wanted);
    if loaded.recorded.clocks().len() > 1 {
        let note = "the recordings are of several machines, or of one before and after it was \
                    started anew: times of each begin at 0";
        loaded.notes.push(note.into());
    }
    loaded
}

fn load_all(paths: &[PathBuf], wanted: ReadScope) -> Loaded {
    let (inputs, failed) = find(paths);
    let mut loaded = Loaded { failed, ..Loaded::default() };
    // A folder may hold what its recordings were merged into.
    let (merged, mut recordings): (Vec<_>, Vec<_>) =
        inputs.iter().partition(|input| !input.is_named && is_merged(input));
    // Traces first: they know what a process is called. Recordings that are there twice are read
    // once.
    recordings.sort_by_key(|input| is_called_cpuprofile(&input.path));
    for input in recordings {
        loaded.read(input, wanted);
    }
    if loaded.recorded.processes.is_empty() {
        for input in merged {
            loaded.read(input, wanted);
        }
    } else {
        for input in merged {
            let note = "left out, for it is merged already (name it to have it)";
            loaded.notes.push(format!("{}: {note}", input.path.display()));
        }
    }
    loaded.recorded.sort();
    loaded
}

/// Reads what was recorded in a part of the time: milliseconds from the first start of all.
pub(crate) fn load_window(paths: &[PathBuf], from_ms: f64, to_ms: f64) -> Loaded {
    // Where time begins is known only when everything was read once.
    let whole = load_all(paths, ReadScope::TIMES).recorded;
    let start_us = whole.clocks().first().map_or(0, |clock| clock.start_us);
    let key = |process: &Process| (process.pid, process.recorded_from_us());
    let of_first_clock: HashSet<_> =
        whole.processes.iter().filter(|process| process.clock == 0).map(key).collect();
    let at = |ms: f64| start_us.saturating_add((ms * 1000.0).round() as i64);
    let wanted = ReadScope { samples: false, from_us: at(from_ms), to_us: at(to_ms) };
    let mut loaded = load_all(paths, wanted);
    loaded.recorded.processes.retain(|process| of_first_clock.contains(&key(process)));
    let others = whole.processes.iter().filter(|process| process.clock != 0).count();
    if others > 0 {
        loaded.notes.push(format!(
            "{others} of the processes are left out, since the time is that of another machine, \
             or of before it was started anew: give their recordings alone"
        ));
    }
    loaded.recorded.drop_empty();
    loaded.recorded.sort();
    loaded
}

impl Loaded {
    /// What is wrong, if there is nothing at all.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !self.recorded.processes.is_empty() {
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

    fn read(&mut self, input: &Input, wanted: ReadScope) {
        match read(input, wanted, &mut self.recorded.frames) {
            // A folder holds other JSON files too.
            Ok(contents) if contents.processes.is_empty() && !input.is_named => {}
            Ok(contents) => self.add(input, contents),
            Err(reason) => self.fail(input, reason),
        }
    }

    fn add(&mut self, input: &Input, contents: FileContents) {
        if contents.processes.is_empty() {
            let reason = "there is no CPU profile in it (no ProfileChunk events, no nodes)";
            return self.fail(input, reason.to_owned());
        }
        let mut is_new = false;
        for process in contents.processes {
            is_new |= self.recorded.add(process);
        }
        let file = input.path.display();
        if !is_new {
            // `CPU_PROF_FORMAT=trace,cpuprofile` writes one recording into two files.
            self.notes.push(format!("{file}: left out, for its recordings are in another file"));
            return;
        }
        self.inputs += 1;
        self.is_trace |= contents.is_trace;
        if contents.is_torn {
            self.repaired.push(input.path.clone());
        }
        if contents.strange > 0 {
            let strange = contents.strange;
            self.notes.push(format!("{file}: {strange} events of profiles are not understood"));
        }
    }

    fn fail(&mut self, input: &Input, reason: String) {
        self.failed.push(Failed { path: input.path.clone(), reason });
    }
}

fn read(input: &Input, wanted: ReadScope, frames: &mut FrameTable) -> Result<FileContents, String> {
    let file = input.open().map_err(|error| format!("it cannot be read: {error}"))?;
    let mut scanner = Scanner::new(file);
    let mut trace = TraceReader::new(wanted);
    let mut cpuprofile = CpuProfileReader::new(wanted);
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
        let strange = trace.strange();
        return Ok(FileContents { processes: trace.finish(), is_trace: true, is_torn, strange });
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
    Ok(FileContents { processes, is_trace: false, is_torn, strange: 0 })
}

fn is_called_cpuprofile(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    name.strip_suffix(".gz").unwrap_or(&name).ends_with(".cpuprofile")
}

/// Whether it is a trace that recordings were merged into: it says so at its beginning.
fn is_merged(input: &Input) -> bool {
    let Ok(file) = input.open() else { return false };
    matches!(
        Scanner::new(file).next(),
        Ok(Some(Item::Member { key: "source", value: b"\"cpu-prof\"" }))
    )
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
        loaded.recorded.processes.iter().map(|process| (process.pid, threads(process))).collect()
    }

    #[test]
    fn a_folder_is_read_whatever_else_is_in_it() {
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
    fn nothing_is_said_to_be_nothing() {
        let dir = folder(&[("package.json", "{}"), ("x.json", "no")]);
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("empty")).unwrap();
        for (path, reason) in [
            (at("empty"), "no trace to read"),
            (at("missing"), "does not exist"),
            (at("package.json"), "no CPU profile"),
            (at("x.json"), "no JSON"),
        ] {
            let loaded = load(&[path], ReadScope::TIMES);
            let error = loaded.check().unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_window_leaves_out_what_is_beyond_it() {
        let dir = folder(&[("main.trace.json", MAIN)]);
        let paths = [dir.path().to_owned()];
        let whole = load(&paths, ReadScope::TIMES).recorded;
        assert_eq!(whole.length_us(), 10_000);
        let part = load_window(&paths, 2.5, 4.0);
        assert_eq!(part.recorded.length_us(), 1_500);
        let nodes = &part.recorded.processes[0].threads[0].profiles[0].nodes;
        assert_eq!(nodes.iter().map(|node| node.self_us).sum::<u64>(), 1_500);
        let none = load_window(&paths, 20.0, 40.0);
        assert!(none.check().unwrap_err().contains("in that time"));
    }
}
