//! The track 'Processes' of a merged trace: when each process and worker ran, and how it ended. The
//! facts are those in the trace's metadata, so a merge of merged traces has them too.

use serde_json::{Map, Value, json};

use crate::merge::inputs::recorded_processes::RecordedProcess;
use crate::read::ancestry::StartTimes;
use crate::read::sniff::RecordingFile;
use cpu_prof_core::base::native_thread::os_id;
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::format::trace::write::process_span::ProcessSpan;
use cpu_prof_core::profile::ending::ProcessEnding;

/// Adds the facts that the track needs to those of a process.
pub fn describe(process: &RecordedProcess, about: &mut Map<String, Value>) {
    let span = |recording: &RecordingFile| {
        let (tid, start_us) = (recording.tid, recording.start_us);
        json!({ "tid": tid, "startUs": start_us, "endUs": recording.known_end_us() })
    };
    let is_worker = |tid: u32| tid != 0 && os_id(tid.into()).is_none();
    let workers = process.threads.iter().filter(|(tid, _)| is_worker(**tid));
    let workers: Vec<Value> = workers.flat_map(|(_, recordings)| recordings).map(span).collect();
    about.insert("endUs".into(), process.span_us().1.into());
    if !workers.is_empty() {
        about.insert("workers".into(), workers.into());
    }
    let Some(ending) = process.ending() else { return };
    let is_known = ending.is_known();
    let ProcessEnding { exit_code, signal, ran_empty } = ending;
    let facts = [
        ("exitCode", exit_code.map(Value::from)),
        ("signal", signal.map(Value::from)),
        ("ranEmpty", ran_empty.then_some(true.into())),
        ("unfinished", (!is_known).then_some(true.into())),
    ];
    about.extend(facts.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
}

/// Adds the spans of processes, of which `abouts` are the facts. The trace shows the times in `range`:
/// microseconds. A single thread has a track of its own already.
pub fn add(events: &mut Events, abouts: &[Value], range: (i64, i64)) {
    let threads = |about: &Value| about["threads"].as_array().map_or(1, Vec::len);
    if abouts.iter().map(threads).sum::<usize>() < 2 {
        return;
    }
    for about in abouts {
        let Some(name) = name(about) else { continue };
        let ending = ending(about);
        let span = ProcessSpan {
            name: &name,
            pid: about["pid"].as_u64(),
            parent: parent_of(about, abouts).and_then(self::name),
            ending: ending.as_ref(),
            cwd: about["cwd"].as_str(),
            span_us: (0, 0),
        };
        add_span(events, span, about, range);
        for worker in about["workers"].as_array().into_iter().flatten() {
            let worker_name = format!("worker {}", worker["tid"]);
            let span = ProcessSpan::of_worker(&worker_name, &name);
            add_span(events, span, worker, range);
        }
    }
}

/// Adds a span with the times of `facts`, as far as the trace shows them.
fn add_span(events: &mut Events, span: ProcessSpan<'_>, facts: &Value, range: (i64, i64)) {
    let time = |key: &str| facts[key].as_i64();
    let Some((start_us, end_us)) = time("startUs").zip(time("endUs")) else { return };
    let span_us = (start_us.max(range.0), end_us.min(range.1));
    if span_us.0 <= span_us.1 {
        let span = ProcessSpan { span_us, ..span };
        span.add_to(events);
    }
}

/// Returns the label of a process without the form of a URL.
fn name(about: &Value) -> Option<String> {
    Some(about["label"].as_str()?.replacen(": ", " ", 1))
}

/// Returns how a process ended; none if that was not recorded.
fn ending(about: &Value) -> Option<ProcessEnding> {
    let ending = ProcessEnding {
        exit_code: about["exitCode"].as_i64(),
        signal: about["signal"].as_str().map(str::to_owned),
        ran_empty: about["ranEmpty"] == true,
    };
    (ending.is_known() || about["unfinished"] == true).then_some(ending)
}

/// Returns the process in the trace that another runs under, with or without other programs in between.
fn parent_of<'a>(child: &Value, abouts: &'a [Value]) -> Option<&'a Value> {
    let recorded_pid = |about: &Value| about["ownPid"].as_u64().or_else(|| about["pid"].as_u64());
    let start_us = |about: &Value| about["startUs"].as_i64();
    let is_above = |pid: u64, about: &Value| {
        recorded_pid(about) == Some(pid)
            && about["boot"] == child["boot"]
            && about["pidNamespace"] == child["pidNamespace"]
            && !start_of(about).is_after(start_of(child))
    };
    let ancestors = child["ancestors"].as_array().into_iter().flatten().chain([&child["ppid"]]);
    ancestors.filter_map(Value::as_u64).find_map(|pid| {
        let above = abouts.iter().filter(|about| is_above(pid, about));
        above.max_by_key(|about| start_us(about))
    })
}

fn start_of(about: &Value) -> StartTimes {
    StartTimes {
        process_ms: about["processStartMs"].as_u64(),
        recording_us: about["startUs"].as_i64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_the_nearest_recorded_process_above() {
        let about = |pid: u32, start_us: i64, ancestors: &[u32]| json!({ "pid": pid, "startUs": start_us, "ppid": ancestors[0], "ancestors": ancestors });
        // nx (2) runs a shell (9), which runs node (3); a later process has the id of nx.
        let all = [about(2, 5, &[1]), about(3, 6, &[9, 2, 1]), about(2, 7, &[1])];
        assert_eq!(parent_of(&all[1], &all), Some(&all[0]));
        assert_eq!(parent_of(&all[0], &all), None);
        // A header can have the parent alone.
        let child = json!({ "pid": 4, "startUs": 8, "ppid": 3 });
        assert_eq!(parent_of(&child, &all), Some(&all[1]));
        // Both were recorded from outside, the child first.
        let mut late = [about(2, 9, &[1]), about(3, 8, &[2])];
        assert_eq!(parent_of(&late[1], &late), None);
        late[0]["processStartMs"] = 100.into();
        late[1]["processStartMs"] = 110.into();
        assert_eq!(parent_of(&late[1], &late), Some(&late[0]));
    }
}
