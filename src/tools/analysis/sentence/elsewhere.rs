//! Sentences of runs whose time is not in JavaScript.

use super::culprit;
use super::evidence::Evidence;
use super::native_code::NativeCode;
use super::thresholds::{
    BLOCKED_PART, IDLE_PART, MOST_OF_CPU, MOST_OF_NATIVE, MOST_OF_OTHERS, NOTICED_IDLE_US,
    ONLY_NODES, SOME_NODES, WORK_BESIDE_WAITING,
};
use super::words;
use super::work::work;
use crate::analysis::native::threads::UNRECORDED_WORKERS;

/// `98 % of the CPU went to native threads, mostly OpenSSL (sha512_block), started by crypto.pbkdf2 in hash
/// (a.js:3).`
pub(super) fn native_threads(evidence: &Evidence<'_>) -> Option<String> {
    let cpu = evidence.cpu?;
    let all_us = (cpu.javascript_us + cpu.native_us + cpu.others_us.unwrap_or(0)) as f64;
    let part = cpu.native_us as f64 / all_us.max(1.0);
    // Node's own threads are most of the little that a program does that waits.
    let is_notable = cpu.native_us as f64 >= evidence.noticed_us();
    if part < MOST_OF_CPU || !is_notable {
        return None;
    }
    let percent = words::percent(part);
    let is_most = |us: u64| us as f64 >= MOST_OF_NATIVE * cpu.native_us as f64;
    let code = evidence.native_code.as_ref().map(NativeCode::mostly);
    let Some(threads) = evidence.largest_native.filter(|threads| is_most(threads.cpu_us)) else {
        let code = code.unwrap_or_default();
        return Some(format!("{percent} of the CPU went to native threads{code}."));
    };
    if threads.name == UNRECORDED_WORKERS {
        let percent = words::percent(threads.cpu_us as f64 / all_us.max(1.0));
        return Some(format!("{percent} of the CPU went to {UNRECORDED_WORKERS}."));
    }
    // With several causes, none is known for sure.
    let started = match threads.started_by.as_slice() {
        [starter] => match &starter.place {
            Some(place) => format!(", started by {} in {}", starter.what, words::function(place)),
            None => format!(", started by {}", starter.what),
        },
        _ => String::new(),
    };
    // Threads without a name of their own can be of several kinds.
    let name = match threads.name.as_str() {
        _ if code.is_some() => code.unwrap_or_default(),
        name if name.contains("unnamed") || name.contains(" or ") => String::new(),
        name => format!(", mostly {}", words::shortened(name)),
    };
    Some(format!("{percent} of the CPU went to native threads{name}{started}."))
}

/// `71 % of the CPU went to programs other than Node, started by biome, which have no profile.`, or with what is
/// known of Node processes, `100 % of the CPU went to Node processes without a recording, started by build.js.`
pub(super) fn other_programs(evidence: &Evidence<'_>) -> Option<String> {
    let cpu = evidence.cpu?;
    let others_us = cpu.others_us?;
    let all_us = (cpu.javascript_us + cpu.native_us + others_us) as f64;
    let part = others_us as f64 / all_us.max(1.0);
    if part < MOST_OF_CPU || (others_us as f64) < evidence.noticed_us() {
        return None;
    }
    let starter = evidence
        .starter_of_others
        .filter(|(_, us)| *us as f64 >= MOST_OF_OTHERS * others_us as f64);
    let starter = starter.map_or(String::new(), |(process, _)| {
        let name = &evidence.view.session.processes[process].name;
        format!(", started by {}", words::shortened(name))
    });
    let percent = words::percent(part);
    let (nodes, nodes_us) = unrecorded_nodes(evidence);
    Some(match nodes_us as f64 / others_us.max(1) as f64 {
        _ if nodes > 0 && nodes_us == 0 => format!(
            "{percent} of the CPU went to programs without a recording{starter}, {} among them.",
            words::count(nodes, "Node process", "Node processes")
        ),
        part if part >= ONLY_NODES => {
            format!("{percent} of the CPU went to Node processes without a recording{starter}.")
        }
        part if part >= SOME_NODES => format!(
            "{percent} of the CPU went to programs without a recording{starter}: {} to Node processes.",
            words::percent(nodes_us as f64 / all_us.max(1.0))
        ),
        _ => {
            let starter = if starter.is_empty() { starter } else { format!("{starter},") };
            format!(
                "{percent} of the CPU went to programs other than Node{starter} which have no profile."
            )
        }
    })
}

/// Returns the count of the Node processes without a recording, and how much they have of the CPU time of all
/// programs without one: microseconds.
fn unrecorded_nodes(evidence: &Evidence<'_>) -> (usize, u64) {
    let processes = evidence.view.session.processes.iter().enumerate();
    let known = processes.filter_map(|(index, process)| Some((index, process.unrecorded?)));
    known.fold((0, 0), |(nodes, us), (index, programs)| {
        let of_starter = evidence.starter_of_others.filter(|(process, _)| *process == index);
        let part_us =
            of_starter.map_or(programs.nodes_us, |(_, all_us)| programs.nodes_part_of(all_us));
        (nodes + programs.nodes as usize, us.saturating_add(part_us))
    })
}

/// `82 % of the time nothing ran: it was blocked in spawnSync, called by build (build.js:3).`
pub(super) fn blocked(evidence: &Evidence<'_>) -> Option<String> {
    let wall = evidence.wall?;
    let part = wall.blocked_us / evidence.length_us.max(1.0);
    if part < BLOCKED_PART {
        return None;
    }
    let costs = evidence.costs.functions.known();
    let (function, _) = costs.max_by_key(|(_, cost)| cost.blocked_us)?;
    let place = evidence.view.index.place(function);
    Some(format!(
        "{} of the {} nothing worked: a thread was blocked in {}{}.",
        words::percent(part),
        words::time(evidence.length_us),
        words::function(&place),
        caller_of_blocked(evidence, function)
    ))
}

/// Returns `, called by build (build.js:3)` for a built-in function with one notable caller.
fn caller_of_blocked(evidence: &Evidence<'_>, function: usize) -> String {
    let caller = culprit::caller_of_blocked(evidence.view, function);
    caller.map_or(String::new(), |caller| {
        format!(", called by {}", words::function(&evidence.view.index.place(caller)))
    })
}

/// `93 % of the 10.2 s nothing worked. Of the work, 71 % is handle (server.js:8).`
pub(super) fn waits(evidence: &Evidence<'_>) -> Option<String> {
    let wall = evidence.wall?;
    let part = wall.idle_us / evidence.length_us.max(1.0);
    if part < IDLE_PART || wall.idle_us < NOTICED_IDLE_US {
        return None;
    }
    let waited = format!(
        "{} of the {} nothing worked: {} waited for events (timers, network, files, other programs).",
        words::percent(part),
        words::time(evidence.length_us),
        match evidence.shown().count() {
            1 => "the program",
            _ => "the processes",
        }
    );
    let has_work = evidence.work_us() >= WORK_BESIDE_WAITING * evidence.length_us;
    Some(match work(evidence).filter(|_| has_work) {
        Some(work) => format!("{waited} {work}"),
        None => waited,
    })
}
