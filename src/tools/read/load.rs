//! Reads files into a session.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use rustc_hash::FxHashSet;

use super::ancestry::parents;
use super::corrections::node_files::with_node_files;
use super::file::{FileContents, ReadFile, read_all};
use super::filter::{Filter, command_label};
use super::group::{ClockFacts, Placement, ProcessFacts, RecordingSpan, find_clocks, group};
use super::load_error::LoadError;
use super::pprof::beside::place_all;
use super::pprof::{find, is_converted, is_pprof};
use super::read_error::ReadError;
use super::slice::{FoundSlice, SliceLimits};
use super::sniff::{is_copy, is_merged, is_recording};
use super::time_line::{InputTimes, find_time_line};
use crate::wall::chain::{ChainPart, chain};
use crate::wall::share::{Wall, share_wall};
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_core::files::input::{Failed, Input};
use cpu_prof_core::format::trace::process_label::{PRIMARY, as_primary};
use cpu_prof_core::profile::label_table::NO_LABELS;
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_session::model::thread_profile::ThreadProfile;
use cpu_prof_session::model::{Process, Session};

/// A session, and what happened to each file.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Processes, threads and recordings.
    pub session: Session,
    /// Whether time of the recordings was left out.
    pub is_slice: bool,
    /// Whether one of the files is a trace.
    pub is_trace: bool,
    /// Count of the files that were read.
    pub inputs: usize,
    /// The first modification of a file that was read; none if the system does not tell.
    pub modified: Option<SystemTime>,
    /// Files that were torn or cut off, or have events that were left out.
    pub repaired: Vec<PathBuf>,
    /// Files that could not be read.
    pub failed: Vec<Failed>,
    /// Remarks for the user, a sentence each.
    pub notes: Vec<String>,
    /// The wall time by what had it, and what the end waited for; none without steps.
    pub wall: Option<(Wall, Vec<ChainPart>)>,
    /// The slice that was read, if a limit was given.
    slice: Option<FoundSlice>,
}

/// Reads files, and the files in folders, without the corrections and the filter that `Selection::load` applies:
/// tools call that.
pub(crate) fn load_uncorrected(paths: &[PathBuf], scope: ReadScope) -> Loaded {
    let mut loaded = load_all(FoundInputs::of(paths), scope);
    if loaded.session.clocks.len() > 1 {
        let note = "the recordings come from several machines or runs, or from before and after a \
                    restart: times of each begin at 0";
        loaded.notes.push(note.into());
    }
    loaded
}

/// Reads a slice of the time in the same way, with lines or samples as in `scope`. Only recordings of the first
/// clock have times in the slice.
pub(crate) fn load_slice_uncorrected(
    paths: &[PathBuf],
    limits: SliceLimits,
    scope: ReadScope,
) -> Loaded {
    if limits.is_everything() {
        return load_uncorrected(paths, scope);
    }
    let found = FoundInputs::of(paths);
    let Some((start_us, end_us)) = find_time_line(&found.inputs) else {
        return load_all(found, scope);
    };
    let slice = limits.find(start_us, end_us);
    if slice.is_reversed() {
        return Loaded { slice: Some(slice), ..Loaded::default() };
    }
    let (from_us, to_us) = (slice.from_us.unwrap_or(i64::MIN), slice.to_us.unwrap_or(i64::MAX));
    let mut loaded = load_all(found, ReadScope { from_us, to_us, ..scope });
    loaded.slice = Some(slice);
    let processes = &mut loaded.session.processes;
    let all = processes.len();
    processes.retain(|process| process.clock == 0);
    if processes.len() < all {
        loaded.notes.push(format!(
            "left out {} processes: their times come from another machine or run, or from before \
             a restart; to see them, give their recordings alone",
            all - processes.len()
        ));
    }
    loaded.drop_empty();
    loaded.is_slice = from_us > start_us || to_us < end_us;
    loaded
}

/// The files to read.
struct FoundInputs {
    inputs: Vec<Input>,
    /// Merged traces of the recordings beside them.
    copies: Vec<Input>,
    failed: Vec<Failed>,
}

impl FoundInputs {
    fn of(paths: &[PathBuf]) -> Self {
        let (inputs, failed) = find(paths);
        let (pprof, inputs): (Vec<_>, Vec<_>) =
            inputs.into_iter().partition(|input| !input.is_named && is_converted(input));
        let (merged, mut inputs): (Vec<_>, Vec<_>) =
            inputs.into_iter().partition(|input| !input.is_named && is_merged(input));
        let of_recordings = |merged: &Input| is_copy(merged, &inputs, is_recording);
        let (mut copies, merged): (Vec<_>, Vec<_>) = merged.into_iter().partition(of_recordings);
        inputs.extend(merged);
        let is_trace = |input: &Input| is_recording(input) || is_merged(input);
        let of_traces = |pprof: &Input| is_copy(pprof, &inputs, is_trace);
        let (of_traces, pprof): (Vec<_>, Vec<_>) = pprof.into_iter().partition(of_traces);
        copies.extend(of_traces);
        inputs.extend(pprof);
        Self { inputs, copies, failed }
    }
}

fn load_all(found: FoundInputs, scope: ReadScope) -> Loaded {
    let FoundInputs { inputs, copies, failed } = found;
    let mut loaded = Loaded { failed, ..Loaded::default() };
    let files = loaded.read(&inputs, scope);
    for input in &copies {
        let kind = if is_pprof(input) { "in pprof, which only has sums" } else { "a merged trace" };
        let text = format!("left out, because it is {kind} (name the file to read it)");
        loaded.note(input, &text);
    }
    loaded.join(files);
    loaded
}

/// Returns what files show that were read before, each the same slice of the time of one clock.
pub(super) fn join_slices(files: Vec<(&Input, ReadFile)>) -> Loaded {
    let mut loaded = Loaded { is_slice: true, ..Loaded::default() };
    let numbered = files.into_iter().map(|(input, file)| (input, loaded.number(file)));
    let files = numbered.collect();
    loaded.join(files);
    loaded.drop_empty();
    loaded
}

/// Returns the times of all files.
fn input_times(files: &mut [(&Input, FileContents)]) -> InputTimes {
    let mut times = InputTimes::default();
    for (_, contents) in files {
        match contents.times.take() {
            Some(of_trace) => times.trace(of_trace),
            None => {
                let facts = contents
                    .processes
                    .iter()
                    .map(|process| clock_facts(process, process.recorded_us()));
                times.recorded.extend(facts);
            }
        }
    }
    times
}

impl Loaded {
    /// Reads files. Skips those without a profile, unless the user named the file.
    fn read<'a>(
        &mut self,
        inputs: &'a [Input],
        scope: ReadScope,
    ) -> Vec<(&'a Input, FileContents)> {
        let mut files = Vec::new();
        read_all(inputs, scope, |input, contents| {
            let contents = contents.map(|file| self.number(file));
            match contents {
                // A folder holds other JSON files too.
                Ok(contents) if contents.processes.is_empty() && !input.is_named => {}
                Ok(contents) if contents.processes.is_empty() => {
                    let reason = "the file has no CPU profile (no ProfileChunk events, no nodes)";
                    self.fail(input, &ReadError::NoProfile(reason));
                }
                Ok(contents) => files.push((input, contents)),
                Err(error) => self.fail(input, &error),
            }
        });
        files
    }

    /// Gives the frames and the label sets of a file their numbers in the session.
    fn number(
        &mut self,
        ReadFile { mut contents, frames, labels, script_maps }: ReadFile,
    ) -> FileContents {
        let Session { frames: all, labels: all_labels, script_maps: known, .. } = &mut self.session;
        let frames = with_node_files(frames.into_list()).into_iter();
        let numbers: Vec<u32> = frames.map(|frame| all.number(frame)).collect();
        let sets = labels.list().iter().map(|set| all_labels.number(set));
        let sets: Vec<u32> = [NO_LABELS].into_iter().chain(sets).collect();
        let threads = contents.processes.iter_mut().flat_map(|process| &mut process.threads);
        for profile in threads.flat_map(|thread| &mut thread.profiles) {
            for node in &mut profile.nodes {
                node.frame = numbers[node.frame as usize];
            }
            for set in &mut profile.labels {
                *set = sets[*set as usize];
            }
        }
        known.extend(script_maps);
        contents
    }

    /// Makes the session of all files.
    fn join(&mut self, mut files: Vec<(&Input, FileContents)>) {
        place_all(files.iter_mut().flat_map(|(_, contents)| &mut contents.processes).collect());
        let times = input_times(&mut files);
        self.add(files);
        sort(&mut self.session, Process::recorded_us);
        name_primaries(&mut self.session);
        if let Some(clock) = self.session.clocks.first_mut() {
            times.set(clock);
        }
    }

    /// Removes what has no time in the slice, and sorts the rest by the time that is in the slice.
    fn drop_empty(&mut self) {
        self.session.drop_empty();
        sort(&mut self.session, |process| (process.start_us(), process.end_us()));
    }

    /// Joins the processes of all files. A recording in two files counts once.
    fn add(&mut self, mut files: Vec<(&Input, FileContents)>) {
        let mut processes = Vec::new();
        for (index, (_, contents)) in files.iter_mut().enumerate() {
            let (is_trace, trace) = (contents.is_trace, contents.has_one_clock.then_some(index));
            processes.extend(contents.processes.drain(..).map(|process| {
                let process = Process { trace, ..process };
                let facts = facts(&process, is_trace);
                ((index, process), facts)
            }));
        }
        let mut has_news = vec![false; files.len()];
        for ((file, process), placement) in group(processes) {
            match placement {
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
        let modified = fs::metadata(&input.path).and_then(|metadata| metadata.modified()).ok();
        self.modified = self.modified.into_iter().chain(modified).min();
        self.is_trace |= contents.is_trace;
        contents.notes.iter().for_each(|note| self.note(input, note));
        if contents.is_damaged {
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

    fn fail(&mut self, input: &Input, error: &ReadError) {
        self.failed.push(Failed { path: input.path.clone(), reason: error.to_string() });
    }
}

impl Loaded {
    /// Returns the reason if nothing was read.
    pub fn check(&self) -> Result<(), LoadError> {
        if !self.session.processes.is_empty() {
            return Ok(());
        }
        let is_unread = self.inputs == 0 && !self.failed.is_empty();
        if let Some(slice) = self.slice.filter(|_| !is_unread) {
            return Err(LoadError::EmptySlice(slice));
        }
        match self.failed.is_empty() {
            true => Err(LoadError::NoInput),
            false => Err(LoadError::Unreadable(self.failed.clone())),
        }
    }
}

impl Loaded {
    /// Shares the wall time among all calls of all processes. The session needs steps. Profiles that only
    /// count samples have none: what ran at one time with them is unknown.
    pub(super) fn share_wall(&mut self) {
        let threads = self.session.processes.iter().flat_map(|process| &process.threads);
        let mut profiles = threads.flat_map(|thread| &thread.profiles);
        let has_time =
            |profile: &ThreadProfile| profile.times.iter().any(|times| times.all_us() > 0);
        if profiles.any(|profile| profile.steps.is_empty() && has_time(profile)) {
            return;
        }
        let (wall, activities) = share_wall(&mut self.session);
        let chain = chain(&self.session, &parents(&self.session), &activities);
        self.wall = Some((wall, chain));
    }

    /// Removes what a filter excludes. Returns the reason if nothing is left.
    pub fn keep(&mut self, filter: &Filter) -> Result<(), LoadError> {
        let label = |process: &Process| command_label(&process.command, process.pid);
        let before: Vec<String> = self.session.processes.iter().map(label).collect();
        filter.apply(&mut self.session);
        if self.session.processes.is_empty() {
            return Err(LoadError::NothingLeft(filter.nothing_left(&before)));
        }
        Ok(())
    }
}

fn facts(process: &Process, is_trace: bool) -> ProcessFacts {
    let recordings = process.threads.iter().flat_map(|thread| {
        thread.profiles.iter().map(|profile| {
            let (start_us, end_us) = profile.recorded_us;
            RecordingSpan { tid: thread.id, start_us, end_us: Some(end_us) }
        })
    });
    ProcessFacts {
        is_trace,
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
/// first. `span_us` returns the start and the end of a process, microseconds.
pub fn sort(session: &mut Session, span_us: impl Fn(&Process) -> (i64, i64)) {
    for process in &mut session.processes {
        for thread in &mut process.threads {
            thread.profiles.cold_sort_by_key(|profile| profile.start_us);
        }
        process.threads.cold_sort_by_key(|thread| (!thread.is_main(), thread.id));
    }
    let facts = |process: &Process| clock_facts(process, span_us(process));
    let facts: Vec<_> = session.processes.iter().map(facts).collect();
    let (clocks, indices) = find_clocks(&facts);
    session.clocks = clocks;
    for (process, clock) in session.processes.iter_mut().zip(indices) {
        process.clock = clock;
    }
    session.processes.cold_sort_by_key(|process| (process.clock, process.start_us(), process.pid));
}

/// Names the processes that have started others by `node:cluster`: only the others tell.
fn name_primaries(session: &mut Session) {
    let workers = session.processes.iter().filter(|process| process.cluster_worker.is_some());
    let primaries: FxHashSet<(i64, usize)> =
        workers.filter_map(|worker| Some((worker.parent_pid?, worker.clock))).collect();
    for process in &mut session.processes {
        let Process { pid, clock, name, command, url_label, .. } = process;
        if !primaries.contains(&(*pid, *clock)) {
            continue;
        }
        // A merged trace has the role in the label already.
        if let Some(rest) = command.strip_prefix(&**name)
            && !rest.trim_start().starts_with(PRIMARY)
        {
            *command = format!("{name} {PRIMARY}{rest}");
        }
        *name = format!("{name} {PRIMARY}");
        *url_label = url_label.as_deref().map(as_primary);
    }
}

fn clock_facts(process: &Process, (start_us, end_us): (i64, i64)) -> ClockFacts {
    let boot = process.identity.as_ref().map(|identity| identity.boot.clone());
    let (wall_zero_us, recordings) = (process.wall_zero_us, process.recordings());
    ClockFacts { boot, start_us, end_us, wall_zero_us, recordings, trace: process.trace }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    use cpu_prof_core::profile::wall_time;
    use cpu_prof_core::testing::traces::{MAIN, MERGED, WORKER};

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
        let loaded = load_uncorrected(&[dir.path().to_owned()], ReadScope::TIMES);
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
        let loaded = load_uncorrected(&[dir.path().to_owned()], ReadScope::TIMES);
        assert_eq!(found(&loaded), [(4242, vec![0])]);
        assert!(loaded.notes.is_empty());
    }

    #[test]
    fn the_end_is_that_of_the_clock_of_most_recordings() {
        let other = MAIN.replace("4242", "4243").replace("5a1f", "ffff").replace("52297", "92297");
        let dir = folder(&[("a.json", MAIN), ("b.json", WORKER), ("c.json", &other)]);
        let whole = load_uncorrected(&[dir.path().to_owned()], ReadScope::TIMES).session;
        assert!(whole.clocks.len() == 2 && whole.clocks[1].end_us > whole.clocks[0].end_us);
        let limits = SliceLimits::of_ms(Some(-2.5), None);
        let loaded = load_slice_uncorrected(&[dir.path().to_owned()], limits, ReadScope::LINES);
        assert_eq!(found(&loaded), [(4242, vec![0, 3])]);
        assert_eq!(loaded.session.length_us(), 2_500);
        assert_eq!(loaded.session.clocks[0].end_us, whole.clocks[0].end_us);
    }

    #[test]
    fn recordings_replace_the_merged_traces_above_and_below_but_not_beside() {
        let merged = |text: &str| text.replacen('{', "{\"source\":\"cpu-prof\",", 1);
        let other = MAIN.replace("4242", "4243");
        let dir = folder(&[]);
        for (place, name, text) in [
            ("1", "trace.json", &merged(MAIN)),
            ("2", "trace.json", &merged(&other)),
            ("2/out", "trace.json", &merged(&other)),
            ("2", "main.trace.json", &other),
        ] {
            fs::create_dir_all(dir.path().join(place)).unwrap();
            fs::write(dir.path().join(place).join(name), text).unwrap();
        }
        let loaded = load_uncorrected(&[dir.path().to_owned()], ReadScope::TIMES);
        assert_eq!(found(&loaded), [(4242, vec![0]), (4243, vec![0])]);
        assert_eq!(loaded.notes.len(), 2, "{:?}", loaded.notes);
        for (note, place) in loaded.notes.iter().zip(["2/out/trace.json", "2/trace.json"]) {
            assert!(note.contains(&format!("{place}: left out")), "{note}");
        }
    }

    #[test]
    fn a_named_merged_trace_and_one_of_its_recordings_count_once() {
        let worker = WORKER.split_once("\"traceEvents\":[\n").unwrap().1;
        let merged = MAIN.replacen('{', "{\"source\":\"cpu-prof\",", 1);
        let merged = merged.replace("\n]}", &format!(",\n{worker}"));
        let merged = merged.replacen("\"threadId\"", "\"x\"", 1);
        let dir = folder(&[("main.trace.json", MAIN), ("trace.json", &merged)]);
        let alone = load_uncorrected(&[dir.path().join("trace.json")], ReadScope::TIMES).session;
        assert_eq!(alone.processes[0].threads.len(), 2);
        for names in [["main.trace.json", "trace.json"], ["trace.json", "main.trace.json"]] {
            let both = load_uncorrected(&names.map(|name| dir.path().join(name)), ReadScope::TIMES)
                .session;
            assert_eq!(both.processes.len(), 1);
            assert_eq!(both.processes[0].recordings(), 2, "{names:?}");
        }
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
            let loaded = load_uncorrected(&[path], ReadScope::TIMES);
            let error = loaded.check().unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn files_tell_the_wall_time() {
        const START: &str = "2026-03-04T05:06:07.089Z";
        let wall_us = |text: &str, start_us: i64| {
            let dir = folder(&[("a.json", text)]);
            let session = load_uncorrected(&[dir.path().to_owned()], ReadScope::TIMES).session;
            let wall_us = session.clock(&session.processes[0]).wall_us(start_us);
            wall_us.and_then(wall_time::to_iso)
        };
        let start = Some(START.to_owned());
        assert_eq!(wall_us(MAIN, 522_975_545_427), start);
        assert_eq!(wall_us(MERGED, 522_975_545_427), start);
        let later = Some("2026-03-04T05:06:09.090Z".to_owned());
        assert_eq!(wall_us(MAIN, 522_975_545_427 + 2_001_000), later);
        let profile = r#"{"cpu-prof":{"pid":7,"threadId":0,"startTime":"2026-03-04T05:06:07.089Z"},
            "nodes":[{"id":1,"callFrame":{"functionName":"a"}}],"startTime":5,"endTime":9,
            "samples":[1],"timeDeltas":[1]}"#;
        assert_eq!(wall_us(profile, 5), start);
        assert_eq!(wall_us(&profile.replace(START, "soon"), 5), None);
        assert_eq!(wall_us(&MAIN.replace(START, ""), 5), None);
    }

    #[test]
    fn a_slice_leaves_out_the_rest() {
        let dir = folder(&[("main.trace.json", MAIN)]);
        let paths = [dir.path().to_owned()];
        let whole = load_uncorrected(&paths, ReadScope::TIMES).session;
        assert_eq!(whole.length_us(), 10_000);
        let slice = |from, to| {
            load_slice_uncorrected(
                &paths,
                SliceLimits::of_ms(Some(from), Some(to)),
                ReadScope::LINES,
            )
        };
        let part = slice(2.5, 4.0);
        assert_eq!(part.session.length_us(), 1_500);
        let times = part.session.processes[0].threads[0].profiles[0].all_times();
        assert_eq!(times.map(|times| times.self_us).sum::<u64>(), 1_500);
        let end =
            load_slice_uncorrected(&paths, SliceLimits::of_ms(Some(-2.5), None), ReadScope::LINES);
        assert_eq!(end.session.length_us(), 2_500);
        let none = slice(20.0, 40.0);
        assert!(none.check().unwrap_err().to_string().contains("in that time"));
        let reversed = slice(8.0, -5.0);
        assert!(reversed.check().unwrap_err().to_string().contains("ends before it starts"));
        let missing = load_slice_uncorrected(
            &[dir.path().join("missing")],
            SliceLimits::default(),
            ReadScope::LINES,
        );
        assert!(missing.check().unwrap_err().to_string().contains("does not exist"));
    }
}
