//! Sentences about the work of JavaScript threads.

use super::culprit::Culprit;
use super::evidence::Evidence;
use super::native_code::NativeCode;
use super::thresholds::{
    ALONE, AS_LARGE, ENOUGH_PART, ENOUGH_SHARES, ENOUGH_START_UP_US, ENOUGH_WORK_US, GC_PART, HALF,
    LARGE_PART, LOADING_PART, MOST_OF_GC, MOST_OF_OWNER, MOST_OF_START_UP, MOST_SHARES, SHARE,
    WORTH_A_NAME,
};
use super::words;
use crate::analysis::json::ReportCost;
use crate::analysis::native::module::module_of;
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_core::profile::package::is_users;
use cpu_prof_session::model::Process;

/// `52 % of the work is garbage collection, mostly under buildTable (a.js:3).`
pub(super) fn collector(evidence: &Evidence<'_>) -> Option<String> {
    let gc_us = evidence.times.gc_us as f64;
    let part = gc_us / evidence.work_us().max(1.0);
    if part < GC_PART || evidence.work_us() < ENOUGH_WORK_US {
        return None;
    }
    let under = evidence.work.collector.filter(|(_, us)| *us as f64 >= MOST_OF_GC * gc_us);
    let under = under.map_or(String::new(), |(function, _)| {
        format!(", mostly under {}", words::function(&evidence.view.index.place(function)))
    });
    Some(format!("{} of the work is garbage collection{under}.", words::percent(part)))
}

/// Says what the work is.
pub(super) fn work(evidence: &Evidence<'_>) -> Option<String> {
    let work_us = evidence.work_us();
    if work_us < ENOUGH_WORK_US {
        return start_up(evidence);
    }
    let culprit = evidence.work.culprit.as_ref();
    let part_of = |us: u64| us as f64 / work_us;
    let culprit_part = culprit.map_or(0.0, |culprit| part_of(culprit.work_us));
    if let Some(start) = start_up(evidence).filter(|_| culprit_part < ENOUGH_PART) {
        return Some(start);
    }
    if let Some(outside) = outside(evidence) {
        return Some(outside);
    }
    let is_leading = |us: u64| part_of(us) >= ENOUGH_PART && leads(evidence, us, part_of(us));
    let owner = main_owner(evidence).filter(|(_, us)| is_leading(*us));
    let culprit_owner =
        culprit.and_then(|culprit| evidence.costs.owners.of_function(culprit.function));
    if let Some((owner, us)) = owner.filter(|(_, us)| part_of(*us) > AS_LARGE * culprit_part) {
        let is_of_owner = culprit_owner == Some(owner);
        let inside = culprit.filter(|_| is_of_owner && culprit_part >= MOST_OF_OWNER * part_of(us));
        let inside =
            inside.map_or(String::new(), |culprit| format!(", mostly {}", what(evidence, culprit)));
        let name = owner_name(owner.0, owner.1);
        return Some(format!("{} of the work is {name}{inside}.", words::percent(part_of(us))));
    }
    if let Some(culprit) = culprit.filter(|culprit| is_leading(culprit.work_us)) {
        return Some(of_culprit(evidence, culprit, culprit_part));
    }
    if let Some((function, cost)) = own_function(evidence) {
        let place = words::function(&evidence.view.index.place(function));
        let package = package_within(evidence);
        let percent = words::percent(part_of(cost.total_us));
        return Some(format!("{percent} of the work is below {place}{package}."));
    }
    let largest = largest(evidence);
    let (package, cost) = main_package(evidence)?;
    let of_package = (code_of(package), cost.self_us);
    let shares = shares(evidence);
    let mut firsts = [Some(&of_package), shares.first()].into_iter().flatten();
    if let Some((name, us)) = firsts.find(|(_, us)| part_of(*us) >= LARGE_PART) {
        return Some(format!(
            "{} of the work is in {name}{largest}.",
            words::percent(part_of(*us))
        ));
    }
    // A list of less than half of the work says little about the work.
    let mut listed_us = 0;
    let shares = shares.iter().filter(|(_, us)| part_of(*us) >= SHARE).enumerate();
    let shares: Vec<String> = shares
        .take_while(|(number, (_, us))| {
            let is_needed = *number < ENOUGH_SHARES || part_of(listed_us) < HALF;
            listed_us += if is_needed { *us } else { 0 };
            is_needed && *number < MOST_SHARES
        })
        .map(|(_, (name, us))| format!("{name} {}", words::percent(part_of(*us))))
        .collect();
    (part_of(listed_us) >= HALF)
        .then(|| format!("The work is spread: {}{largest}.", shares.join(", ")))
}

/// Returns `; the largest function, parse (a.js:3), has 12 %`, whatever its language.
fn largest(evidence: &Evidence<'_>) -> String {
    let part_of = |us: u64| us as f64 / evidence.work_us().max(1.0);
    let culprit = evidence.work.culprit.as_ref().map(|culprit| (culprit.function, culprit.work_us));
    let functions = [culprit, evidence.work.largest_native].into_iter().flatten();
    let largest =
        functions.max_by_key(|(_, us)| *us).filter(|(_, us)| part_of(*us) >= WORTH_A_NAME);
    let loading_part = part_of(evidence.work.loading_us);
    match largest {
        Some((function, us)) => {
            let place = native_or_place(evidence, function);
            format!("; the largest function, {place}, has {}", words::percent(part_of(us)))
        }
        None if loading_part >= LOADING_PART => {
            let percent = words::percent(loading_part);
            format!("; of all work {percent} is Node's start and loading modules")
        }
        None => String::new(),
    }
}

/// Returns a function with its place, a native one with its module.
fn native_or_place(evidence: &Evidence<'_>, function: usize) -> String {
    let place = evidence.view.index.place(function);
    if !evidence.view.index.is_in_module(function) {
        return words::function(&place);
    }
    format!("{} of {}", words::name(&place), module_of(place.file, place.name))
}

/// `62 % of the work is native code outside of JavaScript, mostly OpenSSL (rsaz_amm52x20): TLS of createServer
/// (s.js:2).`
fn outside(evidence: &Evidence<'_>) -> Option<String> {
    let outside = &evidence.outside;
    let part = outside.us as f64 / evidence.work_us().max(1.0);
    if part < HALF {
        return None;
    }
    let what = outside.code.as_ref().map_or(String::new(), NativeCode::mostly);
    let area = outside.area.map_or(String::new(), |area| {
        let callback = outside.callback.map_or(String::new(), |function| {
            let place = words::function(&evidence.view.index.place(function));
            format!(" of {}", place.trim_start_matches("callback of "))
        });
        format!(": {area}{callback}")
    });
    let is_ours = evidence.shown().any(|process| process.node.is_some());
    let end = match outside.known_us {
        0 if is_ours => {
            " (TLS, HTTP parsing, timers and so on); on Linux, a recording with --native names it"
                .to_owned()
        }
        0 => largest(evidence),
        _ => String::new(),
    };
    let percent = words::percent(part);
    Some(format!("{percent} of the work is native code outside of JavaScript{what}{area}{end}."))
}

/// Returns the names of the owners with the work done for them, the most first: microseconds. The packages of
/// one scope count together.
fn shares(evidence: &Evidence<'_>) -> Vec<(String, u64)> {
    let mut shares: Vec<(Option<&str>, String, u64)> = Vec::new();
    let owners = evidence.costs.owners.list().filter(|(_, cost)| cost.self_us > 0);
    for ((kind, name), cost) in owners {
        let scope = name.split_once('/').map(|(scope, _)| scope);
        let scope = scope.filter(|scope| kind == "package" && scope.starts_with('@'));
        let known = shares.iter_mut().find(|(known, ..)| scope.is_some() && *known == scope);
        match (known, scope) {
            (Some((_, name, us)), Some(scope)) => {
                *name = format!("the {scope} packages");
                *us = us.saturating_add(cost.self_us);
            }
            _ => shares.push((scope, owner_name(kind, name), cost.self_us)),
        }
    }
    shares.cold_sort_by_key(|(.., us)| std::cmp::Reverse(*us));
    shares.into_iter().map(|(_, name, us)| (name, us)).collect()
}

/// Returns whether a time is more than that of each package, or a large part of the work.
fn leads(evidence: &Evidence<'_>, us: u64, part: f64) -> bool {
    let packages = evidence.costs.owners.list().filter(|((kind, _), _)| *kind == "package");
    let largest_us = packages.map(|(_, cost)| cost.self_us).max().unwrap_or(0);
    part >= LARGE_PART || us >= largest_us
}

/// `71 % of the work is computeDiscount (apollo.js:2), called by resolveCart, in one thread.`
fn of_culprit(evidence: &Evidence<'_>, culprit: &Culprit, part: f64) -> String {
    let caller = culprit.caller.map(|caller| evidence.view.index.place(caller));
    let has_name =
        |name: &str| name != "default" && !name.starts_with('(') && !name.contains("exports");
    let caller = caller.filter(|caller| has_name(caller.name));
    let built_ins = culprit.main_built_ins();
    let detail = match (&built_ins, caller) {
        (Some((names, _)), _) => format!(", mostly {}", words::list(names)),
        (None, Some(caller)) => format!(", called by {}", words::name(&caller)),
        (None, None) => String::new(),
    };
    let owner = evidence.costs.owners.of_function(culprit.function);
    let owner = owner.filter(|(kind, _)| !matches!(*kind, "package" | "own code"));
    let owner =
        owner.map_or(String::new(), |(kind, name)| format!(", of {}", owner_name(kind, name)));
    let place = place_of(evidence, culprit);
    let function = words::function(&evidence.view.index.place(culprit.function));
    let of_wall = culprit.critical_us as f64 / evidence.length_us.max(1.0);
    let is_alone = of_wall > part + ALONE;
    if !is_alone && let Some((names, us)) = &built_ins {
        return format!(
            "{} of the work is {}, called by {function}{owner}{place}.",
            words::percent(*us as f64 / evidence.work_us()),
            words::list(names)
        );
    }
    let share = if is_alone {
        format!(
            "{} of the time, with {} of the work,",
            words::percent(of_wall),
            words::percent(part)
        )
    } else {
        format!("{} of the work", words::percent(part))
    };
    format!("{share} is {function}{owner}{detail}{place}.")
}

/// `JSON.parse in load (a.js:3)` where built-in functions have most of the time, and else the function.
fn what(evidence: &Evidence<'_>, culprit: &Culprit) -> String {
    let place = words::function(&evidence.view.index.place(culprit.function));
    match culprit.main_built_ins() {
        Some((names, _)) => format!("{} in {place}", words::list(&names)),
        None => place,
    }
}

/// Returns where a function ran, if work was done elsewhere too.
fn place_of(evidence: &Evidence<'_>, culprit: &Culprit) -> String {
    let mut processes: Vec<usize> = culprit.threads.iter().map(|(process, _)| *process).collect();
    processes.sort_unstable();
    processes.dedup();
    let all = evidence.shown().count();
    let place = match processes.as_slice() {
        [process] if all > 1 => {
            let process: &Process = &evidence.view.session.processes[*process];
            format!("{} (1 of {all} processes)", words::shortened(&process.command))
        }
        list if all > 1 => format!("{} of {all} processes", list.len()),
        _ => {
            let threads = evidence.shown().flat_map(|process| &process.threads);
            let threads = threads.filter(|thread| !thread.is_native()).count();
            match culprit.threads.len() {
                _ if threads <= 1 => return String::new(),
                1 => "one thread".to_owned(),
                count => format!("{count} threads"),
            }
        }
    };
    let mostly = if culprit.has_more_threads { "mostly " } else { "" };
    format!(", {mostly}in {place}")
}

/// Returns the kind and the name of the rule, plugin or test with the most time.
fn main_owner<'a>(evidence: &Evidence<'a>) -> Option<((&'static str, &'a str), u64)> {
    let owners = evidence.costs.owners.list();
    let named = owners.filter(|((kind, _), _)| !matches!(*kind, "package" | "own code"));
    let (owner, cost) = named.max_by_key(|(_, cost)| cost.self_us)?;
    Some((owner, cost.self_us))
}

/// Returns `the rule no-cycle`, `the test adds (sum.test.js)`, `own code`.
fn owner_name(kind: &str, name: &str) -> String {
    let file = |path: &str| words::shortened(path.rsplit(['/', '\\']).next().unwrap_or(path));
    match kind {
        "package" | "own code" => code_of(name),
        "test" => match name.split_once(" › ") {
            Some((path, title)) => format!("the test {} ({})", words::shortened(title), file(path)),
            None => format!("the test {}", words::shortened(name)),
        },
        "test file" => format!("the test file {}", file(name)),
        kind if name.starts_with(['/', '.']) || name.contains(":/") => {
            format!("the {kind} {}", file(name))
        }
        kind => format!("the {kind} {}", words::shortened(name)),
    }
}

/// Returns the innermost own function with much of the work below, if the run has other own functions that
/// call it.
fn own_function(evidence: &Evidence<'_>) -> Option<(usize, ReportCost)> {
    let least_us = LARGE_PART * evidence.work_us();
    let trunk = evidence.costs.functions.trunk();
    let is_own = |function: usize| {
        evidence.view.index.is_users(evidence.view.index.functions[function].file)
    };
    let known = evidence.costs.functions.known();
    let large = known.filter(|(function, cost)| {
        is_own(*function) && !trunk[*function] && cost.total_us as f64 >= least_us
    });
    large.min_by_key(|(_, cost)| cost.total_us)
}

/// Returns `, mostly in react-dom` for the package of most of the work.
fn package_within(evidence: &Evidence<'_>) -> String {
    let package = main_package(evidence)
        .filter(|(_, cost)| cost.self_us as f64 >= LARGE_PART * evidence.work_us());
    package.map_or(String::new(), |(package, _)| format!(", mostly in {}", code_of(package)))
}

fn main_package<'a>(evidence: &Evidence<'a>) -> Option<(&'a str, ReportCost)> {
    let packages = evidence.costs.packages.known();
    let (package, cost) = packages.max_by_key(|(_, cost)| cost.self_us)?;
    Some((&evidence.view.index.packages[package], cost))
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
    if part < HALF || all_us < ENOUGH_START_UP_US {
        return None;
    }
    let processes = &evidence.view.session.processes;
    let launcher = processes.iter().zip(&evidence.view.launchers).filter(|(_, is)| **is);
    let longest =
        launcher.map(|(process, _)| (own_work_us(process), process)).max_by_key(|(us, _)| *us);
    if let [_] = processes.as_slice() {
        return Some(format!(
            "{} of the {} of work is Node's start and loading modules.",
            words::percent(part),
            words::time(all_us)
        ));
    }
    let longest = longest.filter(|(us, _)| *us as f64 >= MOST_OF_START_UP * all_us).map_or(
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
    use cpu_prof_session::model::frame_table::FrameTable;
    let nodes = process
        .threads
        .iter()
        .flat_map(|thread| &thread.profiles)
        .flat_map(|profile| profile.timed_nodes());
    let busy = nodes.filter(|(node, _)| node.frame != FrameTable::IDLE);
    busy.map(|(_, times)| times.self_us).sum()
}
