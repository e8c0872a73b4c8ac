//! Processes and threads with what was recorded of them, joined from the files that they lie in.

use crate::profile::{Frames, Profile};

pub mod windows;

/// All that was read.
#[derive(Debug, Default)]
pub struct Recorded {
    /// The frames of all profiles.
    pub frames: Frames,
    /// As they were found.
    pub processes: Vec<Process>,
}

/// A process.
#[derive(Debug, Default)]
pub struct Process {
    /// As it was when the process ran: two processes can have had the same. 0 if it is not known.
    pub pid: i64,
    /// What it is called: `tsc`.
    pub name: String,
    /// The name with the arguments, shortened: `tsc -p .`.
    pub command: String,
    /// Its working directory.
    pub cwd: Option<String>,
    /// Its parent's pid.
    pub parent_pid: Option<i64>,
    /// `process.version`
    pub node: Option<String>,
    /// Each with an id of its own.
    pub threads: Vec<Thread>,
}

/// A thread.
#[derive(Debug, Default)]
pub struct Thread {
    /// Node's thread id, or else the system's.
    pub id: i64,
    /// What it is called within its process: `main`.
    pub name: String,
    /// Its recordings; not empty.
    pub profiles: Vec<Profile>,
}

impl Recorded {
    /// Adds a process that a file speaks of. Other files may have spoken of it.
    pub fn add(&mut self, process: Process) {
        match self.processes.iter_mut().find(|known| known.is_same(&process)) {
            Some(known) => known.join(process),
            None => self.processes.push(process),
        }
    }

    /// Leaves out what has no time.
    pub fn drop_empty(&mut self) {
        for process in &mut self.processes {
            for thread in &mut process.threads {
                thread.profiles.retain(|profile| profile.start_us < profile.end_us);
            }
            process.threads.retain(|thread| !thread.profiles.is_empty());
        }
        self.processes.retain(|process| !process.threads.is_empty());
    }

    /// The first start of a recording: microseconds.
    pub fn start_us(&self) -> i64 {
        self.processes.iter().map(Process::start_us).min().unwrap_or(0)
    }

    /// The last end of a recording: microseconds.
    pub fn end_us(&self) -> i64 {
        self.processes.iter().map(Process::end_us).max().unwrap_or(0)
    }

    /// Brings processes, threads and recordings into the order of their starts; main threads first.
    pub fn sort(&mut self) {
        for process in &mut self.processes {
            for thread in &mut process.threads {
                thread.profiles.sort_by_key(|profile| profile.start_us);
            }
            process.threads.sort_by_key(|thread| (!thread.is_main(), thread.id));
        }
        self.processes.sort_by_key(|process| (process.start_us(), process.pid));
    }
}

impl Process {
    /// The first start of a recording: microseconds.
    pub fn start_us(&self) -> i64 {
        self.threads.iter().map(Thread::start_us).min().unwrap_or(0)
    }

    /// The last end of a recording: microseconds.
    pub fn end_us(&self) -> i64 {
        self.threads.iter().map(Thread::end_us).max().unwrap_or(0)
    }

    /// `tsc (pid 4242)`
    pub fn label(&self) -> String {
        format!("{} (pid {})", self.name, self.pid)
    }

    /// Processes of several containers can have the same pid, and so can two that ran one after the
    /// other: but a thread is recorded once at a time, and a process has one command line.
    fn is_same(&self, other: &Self) -> bool {
        fn agree<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
            a.is_none() || b.is_none() || a == b
        }
        self.pid == other.pid
            && self.pid != 0
            && agree(&self.node, &other.node)
            && agree(&self.parent_pid, &other.parent_pid)
            && agree(&self.cwd, &other.cwd)
            && other.threads.iter().all(|thread| {
                let known = self.threads.iter().find(|known| known.id == thread.id);
                known.is_none_or(|known| !known.overlaps(thread))
            })
    }

    fn join(&mut self, other: Self) {
        if self.node.is_none() && other.node.is_some() {
            (self.name, self.command) = (other.name, other.command);
        }
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
    pub fn start_us(&self) -> i64 {
        self.profiles.iter().map(|profile| profile.start_us).min().unwrap_or(0)
    }

    /// The last end of a recording: microseconds.
    pub fn end_us(&self) -> i64 {
        self.profiles.iter().map(|profile| profile.end_us).max().unwrap_or(0)
    }

    /// Whether it is its process's main thread.
    pub fn is_main(&self) -> bool {
        self.id == 0 || self.name == "CrRendererMain"
    }

    fn overlaps(&self, other: &Self) -> bool {
        // An end can be an estimate.
        const CLOSE_US: i64 = 10_000;
        self.profiles.iter().any(|a| {
            other.profiles.iter().any(|b| {
                a.end_us.min(b.end_us).saturating_sub(a.start_us.max(b.start_us)) > CLOSE_US
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i64, command: &str, threads: &[(i64, i64, i64)]) -> Process {
        let threads = threads.iter().map(|(id, start_us, end_us)| Thread {
            id: *id,
            name: String::new(),
            profiles: vec![Profile { start_us: *start_us, end_us: *end_us, ..Profile::default() }],
        });
        let node = Some("v24.0.0".to_owned()).filter(|_| !command.is_empty());
        let cwd = Some(command.to_owned()).filter(|_| !command.is_empty());
        let (name, command) = (command.to_owned(), command.to_owned());
        Process { pid, name, command, node, cwd, threads: threads.collect(), ..Process::default() }
    }

    /// Pids, and the ids and numbers of recordings of their threads.
    fn joined(processes: Vec<Process>) -> Vec<(i64, Vec<(i64, usize)>)> {
        let mut recorded = Recorded::default();
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
            vec![process(7, "a", &[(0, 0, SECOND)]), process(7, "a", &[(0, 0, SECOND)])];
        assert_eq!(joined(containers), [(7, vec![(0, 1)]), (7, vec![(0, 1)])]);
        let reused =
            vec![process(7, "a", &[(0, 0, SECOND)]), process(7, "b", &[(0, SECOND, 2 * SECOND)])];
        assert_eq!(joined(reused), [(7, vec![(0, 1)]), (7, vec![(0, 1)])]);
    }
}
