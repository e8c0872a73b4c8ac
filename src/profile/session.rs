//! Processes and threads with what was recorded of them, joined from the files that they lie in.

use crate::profile::frame_table::FrameTable;
use crate::profile::thread_profile::ThreadProfile;

/// All that was read.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// The frames of all profiles.
    pub frames: FrameTable,
    /// As they were found, or sorted.
    pub processes: Vec<Process>,
    clocks: Vec<Clock>,
}

/// A process.
#[derive(Debug, Default)]
pub(crate) struct Process {
    /// As it was when the process ran: two processes can have had the same. 0 if it is not known.
    pub pid: i64,
    /// What it is called: `tsc`.
    pub name: String,
    /// The name with the arguments, shortened: `tsc -p .`.
    pub command: String,
    /// Whether that is the process's own word, and not a guess by the file's name.
    pub is_labelled: bool,
    /// Its working directory.
    pub cwd: Option<String>,
    /// Its parent's pid.
    pub parent_pid: Option<i64>,
    /// `process.version`
    pub node: Option<String>,
    /// What tells it from any other.
    pub identity: Option<Identity>,
    /// Each with an id of its own.
    pub threads: Vec<Thread>,
    /// Index into [`Session::clocks`], once they are sorted.
    pub clock: usize,
}

/// A thread.
#[derive(Debug, Default)]
pub(crate) struct Thread {
    /// Node's thread id, or else the system's.
    pub id: i64,
    /// What it is called within its process: `main`.
    pub name: String,
    /// Its recordings; not empty.
    pub profiles: Vec<ThreadProfile>,
}

/// Which process it is, whatever its pid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// When it started: milliseconds after the system did.
    pub process_start_ms: u64,
    /// Which start of which system.
    pub boot: String,
}

/// From when to when there are recordings by one clock: microseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clock {
    /// Which start of which system it counts from, where that is known.
    boot: Option<String>,
    /// The first start of a recording.
    pub start_us: i64,
    /// The last end of a recording.
    pub end_us: i64,
}

impl Session {
    /// Adds a process that a file speaks of. Other files may have spoken of it. False if they have
    /// said all that this one says.
    pub(crate) fn add(&mut self, process: Process) -> bool {
        let agreeing = || self.processes.iter().filter(|known| known.agrees_with(&process));
        if agreeing().any(|known| known.holds(&process)) {
            return false;
        }
        let home = self.processes.iter_mut().find(|known| {
            known.agrees_with(&process) && (known.is_surely(&process) || !known.overlaps(&process))
        });
        match home {
            Some(known) => known.join(process),
            None => self.processes.push(process),
        }
        true
    }

    /// How long it all took, by the clock of the longest: microseconds.
    pub(crate) fn length_us(&self) -> i64 {
        let lengths = self.clocks.iter().map(|clock| clock.end_us.saturating_sub(clock.start_us));
        lengths.max().unwrap_or(0)
    }

    /// The clocks; the first is the one of most recordings.
    pub(crate) fn clocks(&self) -> &[Clock] {
        &self.clocks
    }

    /// The clock that a process's times are of.
    pub(crate) fn clock(&self, process: &Process) -> &Clock {
        &self.clocks[process.clock]
    }

    /// Leaves out what has no time.
    pub(crate) fn drop_empty(&mut self) {
        for process in &mut self.processes {
            for thread in &mut process.threads {
                thread.profiles.retain(|profile| profile.start_us < profile.end_us);
            }
            process.threads.retain(|thread| !thread.profiles.is_empty());
        }
        self.processes.retain(|process| !process.threads.is_empty());
    }

    /// Brings processes, threads and recordings into the order of their starts; main threads first.
    pub(crate) fn sort(&mut self) {
        for process in &mut self.processes {
            for thread in &mut process.threads {
                thread.profiles.sort_by_key(|profile| profile.start_us);
            }
            process.threads.sort_by_key(|thread| (!thread.is_main(), thread.id));
        }
        self.tell_clocks();
        self.processes.sort_by_key(|process| (process.clock, process.start_us(), process.pid));
    }

    /// Times of one system are of one clock; where it is not known, those that are near.
    fn tell_clocks(&mut self) {
        const FAR_US: i64 = 24 * 3600 * 1_000_000;
        let boot = |process: &Process| process.identity.as_ref().map(|known| known.boot.clone());
        // Those of a known clock first: what knows none may belong to it.
        self.processes.sort_by_key(|process| (process.identity.is_none(), process.start_us()));
        let mut clocks: Vec<(usize, Clock)> = Vec::new();
        for process in &mut self.processes {
            let (boot, start_us, end_us) = (boot(process), process.start_us(), process.end_us());
            let found = clocks.iter().position(|(_, clock)| match (&clock.boot, &boot) {
                (Some(ours), Some(its)) => ours == its,
                _ => {
                    start_us >= clock.start_us.saturating_sub(FAR_US)
                        && start_us <= clock.end_us.saturating_add(FAR_US)
                }
            });
            process.clock = found.unwrap_or_else(|| {
                clocks.push((0, Clock { boot, start_us, end_us }));
                clocks.len() - 1
            });
            let (recordings, clock) = &mut clocks[process.clock];
            *recordings +=
                process.threads.iter().map(|thread| thread.profiles.len()).sum::<usize>();
            clock.start_us = clock.start_us.min(start_us);
            clock.end_us = clock.end_us.max(end_us);
        }
        let mut order: Vec<usize> = (0..clocks.len()).collect();
        order.sort_by_key(|clock| std::cmp::Reverse(clocks[*clock].0));
        for process in &mut self.processes {
            let at = order.iter().position(|clock| *clock == process.clock);
            process.clock = at.unwrap_or_default();
        }
        self.clocks = order.iter().map(|clock| clocks[*clock].1.clone()).collect();
    }
}

impl Process {
    /// The first start of a recording: microseconds.
    pub(crate) fn start_us(&self) -> i64 {
        self.threads.iter().map(Thread::start_us).min().unwrap_or(0)
    }

    /// The last end of a recording: microseconds.
    pub(crate) fn end_us(&self) -> i64 {
        self.threads.iter().map(Thread::end_us).max().unwrap_or(0)
    }

    /// `tsc (pid 4242)`
    pub(crate) fn label(&self) -> String {
        format!("{} (pid {})", self.name, self.pid)
    }

    /// Whether it may be the same process: one has a pid and a command line.
    fn agrees_with(&self, other: &Self) -> bool {
        fn agree<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
            a.is_none() || b.is_none() || a == b
        }
        self.pid == other.pid
            && self.pid != 0
            && agree(&self.identity, &other.identity)
            && agree(&self.node, &other.node)
            && agree(&self.parent_pid, &other.parent_pid)
            && agree(&self.cwd, &other.cwd)
            && (self.identity.is_some() && other.identity.is_some()
                // Where nothing else tells them apart, their commands do.
                || !(self.is_labelled && other.is_labelled)
                || self.command == other.command)
    }

    /// When it was first recorded, whatever was wanted of it: microseconds.
    pub(crate) fn recorded_from_us(&self) -> i64 {
        let profiles = self.threads.iter().flat_map(|thread| &thread.profiles);
        profiles.map(|profile| profile.recorded_us.0).min().unwrap_or(0)
    }

    /// Whether there is no doubt, if they agree.
    fn is_surely(&self, other: &Self) -> bool {
        self.identity.is_some() && self.identity == other.identity
    }

    /// Whether a thread was recorded in both at the same time, which it is not in one process.
    /// Processes of several containers can have the same pid.
    fn overlaps(&self, other: &Self) -> bool {
        other.threads.iter().any(|thread| {
            let known = self.threads.iter().find(|known| known.id == thread.id);
            known.is_some_and(|known| known.overlaps(thread))
        })
    }

    /// Whether it has all the recordings of the other.
    fn holds(&self, other: &Self) -> bool {
        other.threads.iter().all(|thread| {
            let known = self.threads.iter().find(|known| known.id == thread.id);
            known.is_some_and(|known| {
                let holds = |start_us| known.profiles.iter().any(|p| p.recorded_us.0 == start_us);
                thread.profiles.iter().all(|profile| holds(profile.recorded_us.0))
            })
        })
    }

    fn join(&mut self, other: Self) {
        if !self.is_labelled && other.is_labelled {
            (self.name, self.command) = (other.name, other.command);
        }
        self.is_labelled |= other.is_labelled;
        self.identity = self.identity.take().or(other.identity);
        self.node = self.node.take().or(other.node);
        self.cwd = self.cwd.take().or(other.cwd);
        self.parent_pid = self.parent_pid.or(other.parent_pid);
        for thread in other.threads {
            match self.threads.iter_mut().find(|known| known.id == thread.id) {
                Some(known) => known.profiles.extend(thread.profiles),
                None => self.threads.push(thread),
            }
        }
    }
}

impl Thread {
    /// The first start of a recording: microseconds.
    pub(crate) fn start_us(&self) -> i64 {
        self.profiles.iter().map(|profile| profile.start_us).min().unwrap_or(0)
    }

    /// The last end of a recording: microseconds.
    pub(crate) fn end_us(&self) -> i64 {
        self.profiles.iter().map(|profile| profile.end_us).max().unwrap_or(0)
    }

    /// Whether it is its process's main thread.
    pub(crate) fn is_main(&self) -> bool {
        self.id == 0 || self.name == "CrRendererMain"
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.profiles.iter().any(|one| other.profiles.iter().any(|other| one.overlaps(other)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i64, command: &str, threads: &[(i64, i64, i64)]) -> Process {
        let threads = threads.iter().map(|(id, start_us, end_us)| Thread {
            id: *id,
            name: String::new(),
            profiles: vec![ThreadProfile {
                start_us: *start_us,
                end_us: *end_us,
                recorded_us: (*start_us, *end_us),
                ..ThreadProfile::default()
            }],
        });
        let node = Some("v24.0.0".to_owned()).filter(|_| !command.is_empty());
        let cwd = Some(command.to_owned()).filter(|_| !command.is_empty());
        let (name, command) = (command.to_owned(), command.to_owned());
        let (is_labelled, threads) = (node.is_some(), threads.collect());
        Process { pid, name, command, is_labelled, node, cwd, threads, ..Process::default() }
    }

    /// Pids, and the ids and numbers of recordings of their threads.
    fn joined(processes: Vec<Process>) -> Vec<(i64, Vec<(i64, usize)>)> {
        let mut recorded = Session::default();
        for process in processes {
            recorded.add(process);
        }
        recorded.sort();
        let threads =
            |process: &Process| process.threads.iter().map(|t| (t.id, t.profiles.len())).collect();
        recorded.processes.iter().map(|process| (process.pid, threads(process))).collect()
    }

    const SECOND: i64 = 1_000_000;

    #[test]
    fn files_of_one_process_are_joined() {
        let files = vec![
            process(2, "b", &[(0, SECOND, 2 * SECOND)]),
            process(1, "a", &[(3, 0, SECOND)]),
            process(1, "a", &[(0, 0, SECOND)]),
            process(1, "", &[(0, SECOND, 2 * SECOND)]),
        ];
        assert_eq!(joined(files), [(1, vec![(0, 2), (3, 1)]), (2, vec![(0, 1)])]);
    }

    #[test]
    fn two_processes_of_one_pid_stay_two() {
        let containers =
            vec![process(7, "a", &[(0, 0, SECOND)]), process(7, "a", &[(0, 1, SECOND)])];
        assert_eq!(joined(containers), [(7, vec![(0, 1)]), (7, vec![(0, 1)])]);
        let reused =
            vec![process(7, "a", &[(0, 0, SECOND)]), process(7, "b", &[(0, SECOND, 2 * SECOND)])];
        assert_eq!(joined(reused), [(7, vec![(0, 1)]), (7, vec![(0, 1)])]);
    }

    #[test]
    fn the_same_recording_counts_once() {
        let mut recorded = Session::default();
        let file = || process(7, "a", &[(0, 5, SECOND)]);
        assert!(recorded.add(file()));
        assert!(!recorded.add(file()));
        assert!(recorded.add(process(7, "", &[(1, 5, SECOND)])));
        assert_eq!(recorded.processes.len(), 1);
    }

    #[test]
    fn a_recording_is_found_in_any_process_of_its_pid() {
        let mut recorded = Session::default();
        assert!(recorded.add(known(1, "x", process(7, "a", &[(0, 0, SECOND)]))));
        assert!(recorded.add(known(2, "x", process(7, "b", &[(0, 2 * SECOND, 3 * SECOND)]))));
        assert!(!recorded.add(process(7, "", &[(0, 2 * SECOND, 3 * SECOND)])));
    }

    #[test]
    fn other_commands_are_other_processes() {
        let files = vec![
            process(1, "alpha", &[(0, 0, SECOND)]),
            process(1, "beta", &[(0, 2 * SECOND, 3 * SECOND)]),
            process(1, "gamma", &[(0, 0, SECOND)]),
        ];
        assert_eq!(joined(files).len(), 3);
    }

    fn known(process_start_ms: u64, boot: &str, process: Process) -> Process {
        let identity = Some(Identity { process_start_ms, boot: boot.to_owned() });
        Process { identity, ..process }
    }

    #[test]
    fn its_start_tells_a_process_from_others() {
        let same = || process(7, "a", &[(0, 0, SECOND)]);
        let later = || process(7, "a", &[(0, 2 * SECOND, 3 * SECOND)]);
        let files = vec![known(1, "x", same()), known(2, "x", later()), known(1, "x", later())];
        assert_eq!(joined(files), [(7, vec![(0, 2)]), (7, vec![(0, 1)])]);
    }

    #[test]
    fn every_machine_has_its_clock() {
        const WEEK: i64 = 7 * 24 * 3600 * SECOND;
        let mut recorded = Session::default();
        recorded.add(known(1, "other", process(1, "a", &[(0, 0, 5 * SECOND)])));
        recorded.add(known(1, "this", process(2, "b", &[(0, SECOND, 2 * SECOND)])));
        recorded.add(known(1, "this", process(3, "c", &[(0, 2 * SECOND, 4 * SECOND)])));
        recorded.add(process(4, "d", &[(0, WEEK, WEEK + SECOND)]));
        recorded.sort();
        let starts: Vec<_> = recorded
            .processes
            .iter()
            .map(|process| (process.pid, process.start_us() - recorded.clock(process).start_us))
            .collect();
        assert_eq!(starts, [(2, 0), (3, SECOND), (1, 0), (4, 0)]);
        assert_eq!(recorded.length_us(), 5 * SECOND);
    }
}
