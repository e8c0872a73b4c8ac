//! The rules. The first that holds gives the sentence.

use super::elsewhere::{blocked, native_threads, other_programs, waits};
use super::evidence::Evidence;
use super::thresholds::{GC_OF_KILLED, HARDLY_RESTED, NEARLY_ONE_CORE, STOPPED_PART, WITHOUT_CORE};
use super::words;
use super::work::{collector, work};
use super::work_label::labelled;
use cpu_prof_session::model::thread_profile::ThreadProfile;

/// Returns the first sentence, of at most two lines; none where no rule holds.
pub fn sentence(evidence: &Evidence<'_>) -> Option<String> {
    if let Some(killed) = killed(evidence) {
        return Some(killed);
    }
    let first = native_threads(evidence)
        .or_else(|| other_programs(evidence))
        .or_else(|| blocked(evidence))
        .or_else(|| empty(evidence))
        .or_else(|| waits(evidence))
        .or_else(|| collector(evidence))
        .or_else(|| labelled(evidence))
        .or_else(|| work(evidence));
    match (without_core(evidence), first) {
        (Some(Waiting::Most(waiting)), Some(first)) => Some(format!("{waiting} {first}")),
        (Some(Waiting::Some(waiting)), Some(first)) => Some(format!("{first} {waiting}")),
        (Some(Waiting::Most(waiting) | Waiting::Some(waiting)), None) => Some(waiting),
        (None, first) => first,
    }
}

/// `The profile has no samples: what ran in the 2.7 s is not known.`
fn empty(evidence: &Evidence<'_>) -> Option<String> {
    let threads = || evidence.view.session.processes.iter().flat_map(|process| &process.threads);
    let mut profiles = threads().flat_map(|thread| &thread.profiles);
    let has_samples = |profile: &ThreadProfile| {
        profile.sample_count > 0 || profile.all_times().any(|times| times.all_us() > 0)
    };
    // Where the system tells the CPU time, a thread without samples is known to have waited.
    if evidence.cpu.is_some() || threads().count() == 0 || profiles.any(has_samples) {
        return None;
    }
    let profiles = if threads().count() == 1 { "The profile has" } else { "The profiles have" };
    let length = words::time(evidence.length_us);
    Some(format!("{profiles} no samples: what ran in the {length} is not known."))
}

/// What is said of waiting for a core.
enum Waiting {
    /// It comes first, because all other times are longer for it.
    Most(String),
    /// It comes last.
    Some(String),
}

/// `Killed by SIGKILL after 12.3 s, 4.2 s into parse (parser.ts:88).`
fn killed(evidence: &Evidence<'_>) -> Option<String> {
    let death = evidence.death.as_ref()?;
    let process = &evidence.view.session.processes[death.process];
    let who = match evidence.view.session.processes.len() {
        1 => "Killed".to_owned(),
        _ => format!("{} was killed", words::shortened(&process.label())),
    };
    let heap =
        death.heap_peak.filter(|_| death.signal == "SIGABRT").map_or(String::new(), |bytes| {
            format!(" with a heap of {} MB (Node aborts when the heap is full)", bytes / 1_000_000)
        });
    let function = death.function.map_or(String::new(), |(function, us)| {
        let place = words::function(&evidence.view.index.place(function));
        format!(", {} into {place}", words::time(us as f64))
    });
    let after = words::time(death.after_us as f64);
    let gc = evidence.times.gc_us as f64 / evidence.work_us().max(1.0);
    let gc = if gc >= GC_OF_KILLED {
        format!(" {} of the work is garbage collection.", words::percent(gc))
    } else {
        String::new()
    };
    Some(format!("{who} by {} after {after}{heap}{function}.{gc}", death.signal))
}

/// `64 % of the time no core was free for it (other programs, or a limit of the CPU): …`
fn without_core(evidence: &Evidence<'_>) -> Option<Waiting> {
    let waiting_us = evidence.times.waiting_us? as f64;
    let part = waiting_us / (waiting_us + evidence.work_us()).max(1.0);
    let wall = evidence.wall?;
    if part < WITHOUT_CORE || wall.waiting_us < evidence.noticed_us() {
        return None;
    }
    let percent = words::percent(part);
    if evidence.stopped_us > STOPPED_PART * waiting_us {
        let stopped = words::time(evidence.stopped_us);
        let length = words::time(evidence.length_us);
        return Some(Waiting::Most(format!(
            "The process was stopped for {stopped} of the {length} (SIGSTOP, Ctrl-Z or a debugger)."
        )));
    }
    let cpu = evidence.cpu.unwrap_or_default();
    let cpu_us = (cpu.javascript_us + cpu.native_us + cpu.others_us.unwrap_or(0)) as f64;
    let cpu_us = cpu_us + evidence.starts_us;
    // A run that has not even one core while its threads want some has a rival.
    let cores = cpu_us / (wall.work_us + wall.waiting_us).max(1.0);
    Some(if cores < NEARLY_ONE_CORE {
        let rested_us = wall.idle_us + wall.blocked_us;
        let time = if rested_us < HARDLY_RESTED * evidence.length_us {
            "the time"
        } else {
            "its busy time"
        };
        Waiting::Most(format!(
            "{percent} of {time} no core was free for it (other programs, or a limit of the CPU): the \
             numbers below are stretched."
        ))
    } else {
        Waiting::Some(format!("Threads waited for a free core for {percent} of their busy time."))
    })
}
