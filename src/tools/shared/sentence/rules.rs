//! The rules. The first that holds gives the sentence.

use super::culprit::Culprit;
use super::evidence::Evidence;
use super::words;
use crate::shared::json::ReportCost;
use cpu_prof_core::profile::package::is_users;
use cpu_prof_core::profile::session::Process;

/// Work that says something about a run, microseconds.
const ENOUGH_WORK_US: f64 = 30_000.0;

/// Returns the first sentence, of at most two lines; none where no rule holds.
pub(crate) fn sentence(evidence: &Evidence<'_>) -> Option<String> {
    if let Some(killed) = killed(evidence) {
        return Some(killed);
    }
    let stretched = stretched(evidence);
    let first = native_threads(evidence)
        .or_else(|| other_programs(evidence))
        .or_else(|| blocked(evidence))
        .or_else(|| waits(evidence))
        .or_else(|| collector(evidence))
        .or_else(|| work(evidence));
    match (stretched, first) {
        (Some(stretched), Some(first)) => Some(format!("{stretched} {first}")),
        (stretched, first) => stretched.or(first),
    }
}

/// `Killed by SIGKILL after 12.3 s, 4.2 s into parse (parser.ts:88).`
fn killed(evidence: &Evidence<'_>) -> Option<String> {
    let death = evidence.death.as_ref()?;
    let process = &evidence.session.processes[death.process];
    let who = match evidence.session.processes.len() {
        1 => "Killed".to_owned(),
        _ => format!("{} was killed", words::shortened(&process.label())),
    };
    let heap =
        death.heap_peak.filter(|_| death.signal == "SIGABRT").map_or(String::new(), |bytes| {
            format!(" with a heap of {} MB (Node aborts when the heap is full)", bytes / 1_000_000)
        });
    let function = death.function.map_or(String::new(), |(function, us)| {
        let place = words::function(&evidence.index.place(function));
        format!(", {} into {place}", words::time(us as f64))
    });
    let after = words::time(death.after_us as f64);
    Some(format!("{who} by {} after {after}{heap}{function}.", death.signal))
}

/// `64 % of the time the machine was busy with something else: the numbers below are stretched.`
fn stretched(evidence: &Evidence<'_>) -> Option<String> {
    let waiting_us = evidence.times.waiting_us? as f64;
    let part = waiting_us / (waiting_us + evidence.work_us()).max(1.0);
    if part < 0.3 || waiting_us < 100_000.0 {
        return None;
    }
    // Shares of the wall time are less than waiting times where several threads wait or work at once.
    let at_once = waiting_us / evidence.wall?.waiting_us.max(1.0);
    let cpu = evidence.cpu.unwrap_or_default();
    let cpu_us = cpu.javascript_us + cpu.native_us + cpu.others_us.unwrap_or(0);
    let cores = cpu_us as f64 / evidence.length_us.max(1.0);
    let part = words::percent(part);
    Some(if at_once < 1.5 && cores < 0.75 {
        format!(
            "{part} of the time the machine was busy with something else: the numbers below are stretched."
        )
    } else {
        format!(
            "{part} of the time threads waited for a core: the run's own threads had {cores:.1} cores, and \
             {at_once:.0} wanted one at once."
        )
    })
}

/// `98 % of the CPU went to native threads.`
fn native_threads(evidence: &Evidence<'_>) -> Option<String> {
    let cpu = evidence.cpu?;
    let all_us = (cpu.javascript_us + cpu.native_us + cpu.others_us.unwrap_or(0)) as f64;
    let part = cpu.native_us as f64 / all_us.max(1.0);
    (part >= 0.6 && cpu.native_us > 100_000)
        .then(|| format!("{} of the CPU went to native threads.", words::percent(part)))
}

/// `71 % of the CPU went to programs other than Node, which vite build started.`
fn other_programs(evidence: &Evidence<'_>) -> Option<String> {
    let cpu = evidence.cpu?;
    let others_us = cpu.others_us?;
    let all_us = (cpu.javascript_us + cpu.native_us + others_us) as f64;
    let part = others_us as f64 / all_us.max(1.0);
    (part >= 0.6 && others_us > 100_000).then(|| {
        format!(
            "{} of the CPU went to programs other than Node, which have no profile.",
            words::percent(part)
        )
    })
}

/// `82 % of the time nothing ran: it was blocked in spawnSync, called by build (build.js:3).`
fn blocked(evidence: &Evidence<'_>) -> Option<String> {
    let wall = evidence.wall?;
    let part = wall.blocked_us / evidence.length_us.max(1.0);
    if part < 0.4 {
        return None;
    }
    let costs = evidence.costs.functions.known();
    let (function, _) = costs.max_by_key(|(_, cost)| cost.blocked_us)?;
    let place = evidence.index.place(function);
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
    let caller = super::culprit::caller_of_blocked(
        evidence.session,
        evidence.launchers,
        evidence.index,
        function,
    );
    caller.map_or(String::new(), |caller| {
        format!(", called by {}", words::function(&evidence.index.place(caller)))
    })
}

/// `93 % of the 10.2 s nothing worked. Of the work, 71 % is handle (server.js:8).`
fn waits(evidence: &Evidence<'_>) -> Option<String> {
    let wall = evidence.wall?;
    let part = wall.idle_us / evidence.length_us.max(1.0);
    if part < 0.6 || wall.idle_us < 300_000.0 {
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
    Some(match work(evidence) {
        Some(work) => format!("{waited} {work}"),
        None => waited,
    })
}

/// `52 % of the work is garbage collection, mostly under buildTable (a.js:3).`
fn collector(evidence: &Evidence<'_>) -> Option<String> {
    let gc_us = evidence.times.gc_us as f64;
    let part = gc_us / evidence.work_us().max(1.0);
    if part < 0.35 || evidence.work_us() < ENOUGH_WORK_US {
        return None;
    }
    let under = evidence.work.collector.filter(|(_, us)| *us as f64 >= 0.5 * gc_us);
    let under = under.map_or(String::new(), |(function, _)| {
        format!(", mostly under {}", words::function(&evidence.index.place(function)))
    });
    Some(format!("{} of the work is garbage collection{under}.", words::percent(part)))
}

/// Says what the work is.
fn work(evidence: &Evidence<'_>) -> Option<String> {
    let work_us = evidence.work_us();
    if work_us < ENOUGH_WORK_US {
        return start_up(evidence);
    }
    let culprit = evidence.work.culprit.as_ref();
    let owner = main_owner(evidence);
    let culprit_part = culprit.map_or(0.0, |culprit| culprit.work_us as f64 / work_us);
    let owner_part = owner.as_ref().map_or(0.0, |(_, us)| *us as f64 / work_us);
    if let Some(start) = start_up(evidence).filter(|_| culprit_part < 0.25) {
        return Some(start);
    }
    if let Some((owner, _)) =
        owner.filter(|_| owner_part >= 0.25 && owner_part > 0.9 * culprit_part)
    {
        return Some(format!("{} of the work is {owner}.", words::percent(owner_part)));
    }
    if let Some(culprit) = culprit.filter(|_| culprit_part >= 0.25) {
        return Some(of_culprit(evidence, culprit, culprit_part));
    }
    let below = own_function(evidence);
    if let Some((function, cost)) = below {
        let part = cost.total_us as f64 / work_us;
        let place = words::function(&evidence.index.place(function));
        return Some(format!(
            "{} of the work is below {place}{}.",
            words::percent(part),
            package_within(evidence)
        ));
    }
    let (package, cost) = main_package(evidence)?;
    let part = cost.self_us as f64 / work_us;
    if part < 0.4 {
        return None;
    }
    let largest = culprit.filter(|_| culprit_part >= 0.05).map_or(String::new(), |culprit| {
        let place = words::function(&evidence.index.place(culprit.function));
        format!("; no function has more than {}, that of {place}", words::percent(culprit_part))
    });
    Some(format!("{} of the work is in {}{largest}.", words::percent(part), code_of(package)))
}

/// `71 % of the work is computeDiscount (apollo.js:2), called by resolveCart, in one thread.`
fn of_culprit(evidence: &Evidence<'_>, culprit: &Culprit, part: f64) -> String {
    let index = evidence.index;
    let place = words::function(&index.place(culprit.function));
    let what = match culprit.built_in {
        Some(built_in) => format!("{} in {place}", words::name(&index.place(built_in))),
        None => place,
    };
    let caller = culprit.caller.map(|caller| index.place(caller));
    let caller = caller
        .filter(|caller| caller.name != "(anonymous)")
        .map_or(String::new(), |caller| format!(", called by {}", words::name(&caller)));
    format!(
        "{} of the work is {what}{caller}{}.",
        words::percent(part),
        place_of(evidence, culprit)
    )
}

/// Returns where a function ran, if work was done elsewhere too.
fn place_of(evidence: &Evidence<'_>, culprit: &Culprit) -> String {
    let mut processes: Vec<usize> = culprit.threads.iter().map(|(process, _)| *process).collect();
    processes.sort_unstable();
    processes.dedup();
    let all = evidence.shown().count();
    match processes.as_slice() {
        [process] if all > 1 => {
            let process: &Process = &evidence.session.processes[*process];
            format!(", in {} (1 of {all} processes)", words::shortened(&process.command))
        }
        list if all > 1 => format!(", in {} of {all} processes", list.len()),
        _ => {
            let threads: usize = evidence.shown().map(|process| process.threads.len()).sum();
            match culprit.threads.len() {
                _ if threads <= 1 => String::new(),
                1 => ", in one thread".to_owned(),
                count => format!(", in {count} threads"),
            }
        }
    }
}

/// Returns the rule, plugin or test with the most time.
fn main_owner(evidence: &Evidence<'_>) -> Option<(String, u64)> {
    let named = evidence
        .costs
        .owners
        .list()
        .filter(|((kind, _), _)| !matches!(*kind, "package" | "own code"));
    let ((kind, name), cost) = named.max_by_key(|(_, cost)| cost.self_us)?;
    Some((format!("the {kind} {}", words::shortened(name)), cost.self_us))
}

/// Returns the innermost own function with much of the work below, if the run has other own functions that
/// call it.
fn own_function(evidence: &Evidence<'_>) -> Option<(usize, ReportCost)> {
    let least_us = 0.4 * evidence.work_us();
    let trunk = evidence.costs.functions.trunk();
    let is_own = |function: usize| evidence.index.is_users(evidence.index.functions[function].file);
    let known = evidence.costs.functions.known();
    let large = known.filter(|(function, cost)| {
        is_own(*function) && !trunk[*function] && cost.total_us as f64 >= least_us
    });
    large.min_by_key(|(_, cost)| cost.total_us)
}

/// Returns `, mostly in react-dom` for the package of most of the work.
fn package_within(evidence: &Evidence<'_>) -> String {
    let package =
        main_package(evidence).filter(|(_, cost)| cost.self_us as f64 >= 0.4 * evidence.work_us());
    package.map_or(String::new(), |(package, _)| format!(", mostly in {}", code_of(package)))
}

fn main_package<'a>(evidence: &Evidence<'a>) -> Option<(&'a str, ReportCost)> {
    let packages = evidence.costs.packages.known();
    let (package, cost) = packages.max_by_key(|(_, cost)| cost.self_us)?;
    Some((&evidence.index.packages[package], cost))
}

fn code_of(package: &str) -> String {
    match package {
        "node:" => "Node's own code".to_owned(),
        "(native)" => "native code".to_owned(),
        package if is_users(package) => "own code".to_owned(),
        package => package.to_owned(),
    }
}

/// `Nothing took long: 80 % is start-up of 11 processes; npx alone 0.9 s.`
fn start_up(evidence: &Evidence<'_>) -> Option<String> {
    let all_us = evidence.all_times.work_us() as f64;
    let of_launchers_us = all_us - evidence.work_us();
    let start_us = evidence.work.loading_us as f64 + of_launchers_us;
    let part = start_us / all_us.max(1.0);
    if part < 0.5 || all_us < 20_000.0 {
        return None;
    }
    let processes = &evidence.session.processes;
    let launcher = processes.iter().zip(evidence.launchers).filter(|(_, is)| **is);
    let longest =
        launcher.map(|(process, _)| (own_work_us(process), process)).max_by_key(|(us, _)| *us);
    let longest = longest.filter(|(us, _)| *us as f64 >= 0.2 * all_us).map_or(
        String::new(),
        |(us, process)| {
            format!("; {} alone {}", words::shortened(&process.name), words::time(us as f64))
        },
    );
    Some(format!(
        "Nothing took long: {} of the {} of work is start-up of {}{longest}.",
        words::percent(part),
        words::time(all_us),
        words::count(processes.len(), "process", "processes")
    ))
}

/// Returns the time of all stacks but idle ones, microseconds.
fn own_work_us(process: &Process) -> u64 {
    use cpu_prof_core::profile::frame_table::FrameTable;
    let nodes = process
        .threads
        .iter()
        .flat_map(|thread| &thread.profiles)
        .flat_map(|profile| &profile.nodes);
    nodes.filter(|node| node.frame != FrameTable::IDLE).map(|node| node.self_us).sum()
}
