//! Chooses the processes and threads that go into the trace.

use rustc_hash::FxHashSet;

use super::notes;
use super::survey::{Survey, SurveyedProcess, SurveyedThread};
use super::thread_cpu::count_idle;
use crate::merge::inputs::input_process::InputProcess;
use crate::merge::inputs::processes::OutputProcess;
use crate::merge::outcome::{MergeError, MergeOptions};
use crate::read::filter::command_label;

/// The processes and threads that go into the trace.
#[derive(Debug, Default, Clone)]
pub(crate) struct ChosenThreads {
    /// Those that stay; none for all.
    kept: Option<FxHashSet<(InputProcess, u32)>>,
    /// Remark on what was left out.
    pub note: Option<String>,
}

/// A thread of a process.
struct Candidate<'a> {
    key: &'a InputProcess,
    process: &'a SurveyedProcess,
    tid: u32,
    thread: &'a SurveyedThread,
}

impl ChosenThreads {
    /// Chooses the threads that the options ask for.
    pub(crate) fn of(survey: &Survey, options: &MergeOptions) -> Result<Self, MergeError> {
        if !options.filter.limits_threads() && !options.drop_idle {
            return Ok(Self::default());
        }
        let processes = survey.processes.iter();
        let all = processes.flat_map(|(key, process)| {
            let threads = process.threads.iter();
            threads.map(move |(tid, thread)| Candidate { key, process, tid: *tid, thread })
        });
        let mut chosen: Vec<Candidate<'_>> = all
            .filter(|candidate| {
                let SurveyedProcess { pid, command, .. } = candidate.process;
                options.filter.has_process(*pid, [command.as_str()])
                    && options.filter.has_thread(candidate.tid.into(), &candidate.name())
            })
            .collect();
        if chosen.is_empty() {
            let labels: Vec<_> = survey.processes.values().map(SurveyedProcess::label).collect();
            return Err(MergeError::NothingLeft { reason: options.filter.nothing_left(&labels) });
        }
        let note = if options.drop_idle { drop_idle(&mut chosen) } else { None };
        let kept = chosen.iter().map(|candidate| (candidate.key.clone(), candidate.tid));
        Ok(Self { kept: Some(kept.collect()), note })
    }

    /// Returns the recorded processes with the threads that stay.
    pub(crate) fn limit(&self, processes: Vec<OutputProcess>) -> Vec<OutputProcess> {
        let limited = processes.into_iter().enumerate().filter_map(|(index, mut process)| {
            let key = InputProcess::Recorded(index);
            process.threads.retain(|tid, _| self.keeps_thread(key.clone(), *tid));
            (!process.threads.is_empty()).then_some(process)
        });
        limited.collect()
    }

    /// Returns whether all threads stay.
    pub(crate) fn keeps_all(&self) -> bool {
        self.kept.is_none()
    }

    /// Returns whether any thread of a process stays.
    pub(crate) fn keeps_process(&self, process: &InputProcess) -> bool {
        let is_of = |(of, _): &(InputProcess, u32)| of == process;
        self.kept.as_ref().is_none_or(|kept| kept.iter().any(is_of))
    }

    /// Returns whether a thread stays.
    pub(crate) fn keeps_thread(&self, process: InputProcess, tid: u32) -> bool {
        self.kept.as_ref().is_none_or(|kept| kept.contains(&(process, tid)))
    }
}

/// Removes the threads that worked least, as far as they have a small share of the work together.
/// Threads whose work is not known stay. Returns a remark on them.
fn drop_idle(chosen: &mut Vec<Candidate<'_>>) -> Option<String> {
    chosen.sort_by_key(|candidate| candidate.thread.cpu.order());
    let count = count_idle(chosen.iter().map(|candidate| candidate.thread.cpu));
    let idle: Vec<_> = chosen.drain(..count).collect();
    notes::of_idle(idle.iter().map(Candidate::label))
}

impl Candidate<'_> {
    fn name(&self) -> String {
        match (self.thread.name.as_str(), self.tid, self.key) {
            ("", 0, _) => "main".to_owned(),
            ("", tid, InputProcess::Recorded(_)) => format!("worker {tid}"),
            ("", tid, _) => format!("thread {tid}"),
            (name, ..) => name.to_owned(),
        }
    }

    fn label(&self) -> String {
        match self.process.threads.len() {
            1 => self.process.label(),
            _ => format!("{}, {}", self.process.label(), self.name()),
        }
    }
}

impl SurveyedProcess {
    fn label(&self) -> String {
        command_label(&self.command, self.pid)
    }
}
