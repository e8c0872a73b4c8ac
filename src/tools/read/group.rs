//! Decides which files belong to one process, and which processes share a clock. Reading and
//! merging both ask here, so that they count alike.
//!
//! A pid does not identify a process: containers have equal pids, and systems reuse pids. So a
//! recording also holds a random key of its process. Where a file lacks the key, the start of the
//! process and of the system decide. Files of other tools lack these too; other facts must not
//! contradict, and a thread is never recorded twice at one time.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_session::model::thread_profile::END_TOLERANCE_US;
use cpu_prof_session::model::{Clock, Identity};

/// The facts that a file gives about a process.
#[derive(Debug, Clone, Default)]
pub struct ProcessFacts {
    /// Whether the file is a trace, which tells more of a process than a `.cpuprofile` does.
    pub is_trace: bool,
    /// Process id; none if the file does not give one.
    pub pid: Option<i64>,
    /// Key and start of the process, and start of the system.
    pub identity: Option<Identity>,
    /// `process.version`
    pub node: Option<String>,
    /// Pid of the parent process.
    pub parent_pid: Option<i64>,
    /// Working directory.
    pub cwd: Option<String>,
    /// Label of the process, without the pid; none if the file does not give one.
    pub label: Option<String>,
    /// Recordings of the process.
    pub recordings: Vec<RecordingSpan>,
}

/// The time of one recording of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordingSpan {
    /// Thread id.
    pub tid: i64,
    /// Start, microseconds.
    pub start_us: i64,
    /// End, microseconds; none if the end is not known.
    pub end_us: Option<i64>,
}

/// The process that a file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Other files hold all recordings of this file.
    Duplicate,
    /// The process of this index, which earlier files have named.
    Known(usize),
    /// A new process, whose index is the count of those before.
    New,
}

/// Finds the process of each file. Returns the files in the order in which they are to be added to
/// their processes: traces come first, then earlier recordings.
pub fn group<T>(files: impl IntoIterator<Item = (T, ProcessFacts)>) -> Vec<(T, Placement)> {
    let mut files: Vec<_> = files.into_iter().collect();
    files.cold_sort_by_key(|(_, facts)| (!facts.is_trace, facts.start_us()));
    let mut groups = ProcessGroups::default();
    files.into_iter().map(|(file, facts)| (file, groups.place(facts))).collect()
}

/// The processes that the files so far belong to.
#[derive(Debug, Default)]
struct ProcessGroups {
    groups: Vec<ProcessFacts>,
}

impl ProcessGroups {
    /// Finds the process that a file belongs to, and adds what the file knows of the process. Files
    /// that know more come first.
    fn place(&mut self, facts: ProcessFacts) -> Placement {
        let mut agreeing = self.groups.iter().filter(|group| group.agrees_with(&facts));
        if agreeing.any(|group| group.holds(&facts)) {
            return Placement::Duplicate;
        }
        let is_process = |group: &ProcessFacts| {
            group.agrees_with(&facts) && (group.is_certain(&facts) || !group.overlaps(&facts))
        };
        match self.groups.iter().position(is_process) {
            Some(index) => {
                self.groups[index].join(facts);
                Placement::Known(index)
            }
            None => {
                self.groups.push(facts);
                Placement::New
            }
        }
    }
}

impl ProcessFacts {
    /// Returns the first start of a recording, microseconds; 0 without recordings.
    fn start_us(&self) -> i64 {
        self.recordings.iter().map(|recording| recording.start_us).min().unwrap_or(0)
    }

    /// Returns whether both can be the same process.
    fn agrees_with(&self, other: &Self) -> bool {
        fn agree<T: PartialEq>(one: &Option<T>, other: &Option<T>) -> bool {
            one.is_none() || other.is_none() || one == other
        }
        let same = self.is_same(other);
        let agree_otherwise = || {
            agree(&self.node, &other.node)
                && agree(&self.parent_pid, &other.parent_pid)
                && agree(&self.cwd, &other.cwd)
                && (same.is_some() || agree(&self.label, &other.label))
        };
        // Keys leave no doubt, whatever else differs.
        let are_keyed = self.key().is_some() && other.key().is_some();
        let can_be_same = same != Some(false) && (are_keyed || agree_otherwise());
        self.pid.is_some() && self.pid == other.pid && can_be_same
    }

    /// Returns whether two that agree are the same process beyond doubt.
    fn is_certain(&self, other: &Self) -> bool {
        self.is_same(other) == Some(true)
    }

    /// Returns whether both are one process; none if one does not tell.
    fn is_same(&self, other: &Self) -> Option<bool> {
        Some(self.identity.as_ref()?.is_of_same_process(other.identity.as_ref()?))
    }

    fn key(&self) -> Option<&str> {
        self.identity.as_ref()?.key.as_deref()
    }

    /// Returns whether a thread was recorded in both at one time, which does not happen in one
    /// process.
    fn overlaps(&self, other: &Self) -> bool {
        self.recordings.iter().any(|one| other.recordings.iter().any(|other| one.overlaps(*other)))
    }

    /// Returns whether all recordings of the other are among these.
    fn holds(&self, other: &Self) -> bool {
        other.recordings.iter().all(|other| {
            let is_same =
                |one: &RecordingSpan| (one.tid, one.start_us) == (other.tid, other.start_us);
            self.recordings.iter().any(is_same)
        })
    }

    fn join(&mut self, other: Self) {
        self.identity = self.identity.take().or(other.identity);
        self.node = self.node.take().or(other.node);
        self.parent_pid = self.parent_pid.or(other.parent_pid);
        self.cwd = self.cwd.take().or(other.cwd);
        self.label = self.label.take().or(other.label);
        self.recordings.extend(other.recordings);
    }
}

impl RecordingSpan {
    fn overlaps(self, other: Self) -> bool {
        let (first, second) =
            if self.start_us <= other.start_us { (self, other) } else { (other, self) };
        let Some(first_end_us) = first.end_us else { return false };
        let end_us = second.end_us.map_or(first_end_us, |end_us| end_us.min(first_end_us));
        self.tid == other.tid && end_us.saturating_sub(second.start_us) > END_TOLERANCE_US
    }
}

/// The facts about a process that tell its clock.
#[derive(Debug, Clone)]
pub struct ClockFacts {
    /// Id of the system's start.
    pub boot: Option<String>,
    /// First start of a recording, microseconds.
    pub start_us: i64,
    /// Last end of a recording, microseconds.
    pub end_us: i64,
    /// Wall time of microsecond 0: microseconds after 1970, if known.
    pub wall_zero_us: Option<i64>,
    /// Count of recordings.
    pub recordings: usize,
    /// Number of the other tool's trace that the process is in: all in one trace have one clock. None for
    /// a process of another file.
    pub trace: Option<usize>,
}

impl ClockFacts {
    /// Adds a recording of the same process.
    pub fn join(&mut self, other: Self) {
        self.boot = self.boot.take().or(other.boot);
        self.start_us = self.start_us.min(other.start_us);
        self.end_us = self.end_us.max(other.end_us);
        self.wall_zero_us = self.wall_zero_us.or(other.wall_zero_us);
        self.recordings += other.recordings;
    }
}

/// Returns the clocks, those of most recordings first, and the index of each process's clock.
///
/// Processes under one start of a system share its clock, and those in one trace. Where that is not
/// known, processes share a clock unless their times are far apart: beside a pause that is much longer than
/// all recordings, nobody would see these.
pub(crate) fn find_clocks(processes: &[ClockFacts]) -> (Vec<Clock>, Vec<usize>) {
    // Known clocks come first: a process of an unknown clock may belong to one.
    let mut order: Vec<usize> = (0..processes.len()).collect();
    order.cold_sort_by_key(|index| (processes[*index].boot.is_none(), processes[*index].start_us));
    let mut clocks: Vec<(Clock, usize)> = Vec::new();
    let mut traces: FxHashMap<usize, usize> = FxHashMap::default();
    let mut found = vec![0; processes.len()];
    for index in order {
        let ClockFacts { boot, start_us, end_us, wall_zero_us, recordings, trace } =
            processes[index].clone();
        let is_shared = |(clock, _): &(Clock, usize)| match (&clock.boot, &boot) {
            (Some(known), Some(boot)) => known == boot,
            _ => !are_apart((clock.start_us, clock.end_us), (start_us, end_us)),
        };
        let of_trace = trace.and_then(|trace| traces.get(&trace).copied());
        let at = of_trace.or_else(|| clocks.iter().position(is_shared)).unwrap_or_else(|| {
            let boot = boot.clone();
            clocks.push((Clock { boot, start_us, end_us, wall_zero_us }, 0));
            clocks.len() - 1
        });
        trace.map(|trace| traces.insert(trace, at));
        let (clock, count) = &mut clocks[at];
        clock.start_us = clock.start_us.min(start_us);
        clock.end_us = clock.end_us.max(end_us);
        clock.wall_zero_us = clock.wall_zero_us.or(wall_zero_us);
        *count += recordings;
        found[index] = at;
    }
    let mut ranking: Vec<usize> = (0..clocks.len()).collect();
    ranking.cold_sort_by_key(|at| Reverse(clocks[*at].1));
    let rank = |at: usize| ranking.iter().position(|ranked| *ranked == at).unwrap_or_default();
    let indices = found.into_iter().map(rank).collect();
    (ranking.iter().map(|at| clocks[*at].0.clone()).collect(), indices)
}

/// Returns whether two spans of time are so far apart that nothing tells that one clock gave both:
/// microseconds.
pub(crate) fn are_apart(one: (i64, i64), other: (i64, i64)) -> bool {
    const MINUTE_US: i64 = 60_000_000;
    /// No Node process starts in the first second of its system: such a start counts from another moment.
    const FIRST_US: i64 = 1_000_000;
    /// A pause between runs that belong together is not longer than so many times the longer run.
    const TIMES: i64 = 10;
    let is_from_zero = one.0.min(other.0) < FIRST_US && one.0.max(other.0) >= FIRST_US;
    let least_us = if is_from_zero { MINUTE_US } else { 10 * MINUTE_US };
    let length_us = |(start_us, end_us): (i64, i64)| end_us.saturating_sub(start_us);
    let gap_us = one.0.max(other.0).saturating_sub(one.1.min(other.1));
    let longest_us = length_us(one).max(length_us(other));
    gap_us > longest_us.saturating_mul(TIMES).max(least_us)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000;

    /// Facts of a process that names its command, or of a `.cpuprofile` if `command` is empty.
    fn facts(pid: i64, command: &str, recordings: &[(i64, i64, i64)]) -> ProcessFacts {
        let text = |text: &str| Some(text.to_owned()).filter(|_| !command.is_empty());
        ProcessFacts {
            pid: Some(pid),
            node: text("v24.0.0"),
            cwd: text(command),
            label: text(command),
            recordings: recordings
                .iter()
                .map(|(tid, start_us, end_us)| RecordingSpan {
                    tid: *tid,
                    start_us: *start_us,
                    end_us: Some(*end_us),
                })
                .collect(),
            ..ProcessFacts::default()
        }
    }

    fn identified(process_start_ms: u64, boot: &str, facts: ProcessFacts) -> ProcessFacts {
        let boot = boot.to_owned();
        let identity = Identity { process_start_ms, boot, key: None, pid_namespace: None };
        ProcessFacts { identity: Some(identity), ..facts }
    }

    fn keyed(key: &str, facts: ProcessFacts) -> ProcessFacts {
        let identity =
            facts.identity.map(|identity| Identity { key: Some(key.into()), ..identity });
        ProcessFacts { identity, ..facts }
    }

    fn place(files: Vec<ProcessFacts>) -> Vec<Placement> {
        let mut groups = ProcessGroups::default();
        files.into_iter().map(|facts| groups.place(facts)).collect()
    }

    use Placement::{Duplicate, Known, New};

    #[test]
    fn files_of_one_process_are_joined() {
        let files = vec![
            facts(2, "b", &[(0, SECOND, 2 * SECOND)]),
            facts(1, "a", &[(3, 0, SECOND)]),
            facts(1, "a", &[(0, 0, SECOND)]),
            facts(1, "", &[(0, SECOND, 2 * SECOND)]),
        ];
        assert_eq!(place(files), [New, New, Known(1), Known(1)]);
    }

    #[test]
    fn traces_come_before_a_cpuprofile_and_earlier_recordings_first() {
        let cpuprofile = facts(1, "", &[(0, 0, SECOND)]);
        let later = ProcessFacts { is_trace: true, ..facts(1, "a", &[(0, SECOND, 2 * SECOND)]) };
        let first = ProcessFacts { is_trace: true, ..facts(1, "a", &[(0, 0, SECOND)]) };
        let files = [("cpuprofile", cpuprofile), ("later", later), ("first", first)];
        let expected = [("first", New), ("later", Known(0)), ("cpuprofile", Duplicate)];
        assert_eq!(group(files), expected);
    }

    #[test]
    fn two_processes_of_one_pid_stay_two() {
        let containers = vec![facts(7, "a", &[(0, 0, SECOND)]), facts(7, "a", &[(0, 1, SECOND)])];
        assert_eq!(place(containers), [New, New]);
        let reused =
            vec![facts(7, "a", &[(0, 0, SECOND)]), facts(7, "b", &[(0, SECOND, 2 * SECOND)])];
        assert_eq!(place(reused), [New, New]);
    }

    #[test]
    fn a_recording_counts_once() {
        let file = || facts(7, "a", &[(0, 5, SECOND)]);
        let files = vec![file(), file(), facts(7, "", &[(1, 5, SECOND)])];
        assert_eq!(place(files), [New, Duplicate, Known(0)]);
    }

    #[test]
    fn a_recording_is_found_in_any_process_of_its_pid() {
        let files = vec![
            identified(1, "x", facts(7, "a", &[(0, 0, SECOND)])),
            identified(2, "x", facts(7, "b", &[(0, 2 * SECOND, 3 * SECOND)])),
            facts(7, "", &[(0, 2 * SECOND, 3 * SECOND)]),
        ];
        assert_eq!(place(files), [New, New, Duplicate]);
    }

    #[test]
    fn files_without_a_pid_are_processes_of_their_own() {
        let unknown = || ProcessFacts { pid: None, ..facts(0, "", &[(0, 5, SECOND)]) };
        assert_eq!(place(vec![unknown(), unknown()]), [New, New]);
    }

    #[test]
    fn other_commands_are_other_processes() {
        let files = vec![
            facts(1, "alpha", &[(0, 0, SECOND)]),
            facts(1, "beta", &[(0, 2 * SECOND, 3 * SECOND)]),
            facts(1, "gamma", &[(0, 0, SECOND)]),
        ];
        assert_eq!(place(files), [New, New, New]);
    }

    #[test]
    fn the_start_of_a_process_identifies_the_process() {
        let same = || facts(7, "a", &[(0, 0, SECOND)]);
        let later = || facts(7, "a", &[(0, 2 * SECOND, 3 * SECOND)]);
        let files = vec![
            identified(1, "x", same()),
            identified(2, "x", later()),
            identified(1, "x", later()),
        ];
        assert_eq!(place(files), [New, New, Known(0)]);
    }

    #[test]
    fn the_key_of_a_process_decides_where_both_have_one() {
        let first = || identified(1, "x", facts(7, "a", &[(0, 0, SECOND)]));
        let later = |cwd| identified(1, "x", facts(7, cwd, &[(1, SECOND, 2 * SECOND)]));
        let containers = vec![keyed("k1", first()), keyed("k2", first()), keyed("k2", later("a"))];
        assert_eq!(place(containers), [New, New, Known(1)]);
        let other_folder = vec![keyed("k1", first()), keyed("k1", later("b"))];
        assert_eq!(place(other_folder), [New, Known(0)]);
        // A file of an earlier version.
        assert_eq!(place(vec![keyed("k1", first()), later("a")]), [New, Known(0)]);
        assert_eq!(place(vec![keyed("k1", first()), later("b")]), [New, New]);
        let other_pid = ProcessFacts { pid: Some(8), ..first() };
        assert_eq!(place(vec![keyed("k1", first()), keyed("k1", other_pid)]), [New, New]);
    }

    #[test]
    fn an_unknown_end_is_not_an_overlap() {
        let span = |start_us, end_us| RecordingSpan { tid: 0, start_us, end_us };
        assert!(!span(0, None).overlaps(span(5, Some(SECOND))));
        assert!(!span(5, Some(SECOND)).overlaps(span(0, None)));
        assert!(span(0, Some(SECOND)).overlaps(span(5, None)));
        assert!(!span(0, Some(SECOND)).overlaps(span(SECOND - 10_000, None)));
    }

    #[test]
    fn the_recordings_of_a_process_have_its_clock() {
        let of = |boot: Option<&str>, start_us, end_us| ClockFacts {
            boot: boot.map(str::to_owned),
            start_us,
            end_us,
            wall_zero_us: None,
            recordings: 1,
            trace: None,
        };
        let mut all = of(None, 5, 9);
        all.join(of(Some("this"), 2, 7));
        all.join(of(Some("other"), 6, 11));
        assert_eq!((all.boot.as_deref(), all.start_us, all.end_us), (Some("this"), 2, 11));
        assert_eq!(all.recordings, 3);
    }

    #[test]
    fn each_machine_has_a_clock() {
        const WEEK: i64 = 7 * 24 * 3600 * SECOND;
        let facts = |boot: Option<&str>, start_us, end_us| ClockFacts {
            boot: boot.map(str::to_owned),
            start_us,
            end_us,
            wall_zero_us: None,
            recordings: 1,
            trace: None,
        };
        let (clocks, indices) = find_clocks(&[
            facts(Some("other"), 0, 5 * SECOND),
            facts(Some("this"), SECOND, 2 * SECOND),
            facts(Some("this"), 2 * SECOND, 4 * SECOND),
            facts(None, WEEK, WEEK + SECOND),
        ]);
        assert_eq!(indices, [1, 0, 0, 2]);
        let spans: Vec<_> = clocks.iter().map(|clock| (clock.start_us, clock.end_us)).collect();
        assert_eq!(spans, [(SECOND, 4 * SECOND), (0, 5 * SECOND), (WEEK, WEEK + SECOND)]);
    }

    #[test]
    fn what_nothing_joins_is_apart() {
        let facts = |start_us, end_us, trace| ClockFacts {
            boot: None,
            start_us,
            end_us,
            wall_zero_us: None,
            recordings: 1,
            trace,
        };
        let indices = |all: &[ClockFacts]| find_clocks(all).1;
        const MINUTE: i64 = 60 * SECOND;
        // A start of 0 is that of no system's clock.
        let of_zero = facts(0, SECOND, None);
        let later = facts(42 * MINUTE, 42 * MINUTE + SECOND, None);
        assert_eq!(indices(&[of_zero.clone(), later.clone()]), [0, 1]);
        assert_eq!(indices(&[of_zero.clone(), facts(30 * SECOND, 31 * SECOND, None)]), [0, 0]);
        // Two tasks of one build, and two builds.
        let at = |seconds| facts(seconds * SECOND, (seconds + 5) * SECOND, None);
        assert_eq!(indices(&[at(100), at(400)]), [0, 0]);
        assert_eq!(indices(&[at(100), at(4000)]), [0, 1]);
        // The pause is not long beside a recording.
        assert_eq!(indices(&[facts(0, 9 * MINUTE, None), later.clone()]), [0, 0]);
        let in_trace = |facts: &ClockFacts| ClockFacts { trace: Some(3), ..facts.clone() };
        assert_eq!(indices(&[in_trace(&of_zero), in_trace(&later)]), [0, 0]);
        assert_eq!(
            indices(&[facts(i64::MIN, i64::MIN, None), facts(i64::MAX, i64::MAX, None)]),
            [0, 1]
        );
    }
}
