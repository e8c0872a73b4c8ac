//! Chooses the processes and threads that go into the trace.

use super::survey::{Survey, SurveyedProcess, SurveyedThread};
use crate::merge::findings::notes;
use crate::merge::findings::thread_cpu::count_idle;
use crate::merge::inputs::chosen_threads::{ChosenThreads, InputProcess};
use crate::merge::options::MergeOptions;
use crate::merge::result::MergeError;
use crate::read::filter::command_label;

/// A thread of a process.
struct Candidate<'a> {
    key: &'a InputProcess,
    process: &'a SurveyedProcess,
    tid: u32,
    thread: &'a SurveyedThread,
}

/// Chooses the threads that the options ask for. Returns them with a note on those that are left out.
pub(crate) fn choose_threads(
    survey: &Survey,
    options: &MergeOptions,
) -> Result<(ChosenThreads, Option<String>), MergeError> {
    if !options.filter.limits_threads() && !options.drop_idle {
        return Ok((ChosenThreads::default(), None));
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
    let chosen = chosen.iter().map(|candidate| (candidate.key.clone(), candidate.tid));
    Ok((ChosenThreads::of(chosen), note))
}

/// Removes the threads that worked least, as far as they have a small share of the work together.
/// Threads whose work is not known stay. Returns a note on them.
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
