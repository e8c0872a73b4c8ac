//! Writes the tables of one run.

use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

use super::facts::{GivenFacts, RunFacts};
use super::file_identity::{file_identity, is_absolute};
use super::groups::groups;
use super::output::lake_file::{LakeFile, TableError, WholeTable, new_hasher};
use super::output::schema::{FUNCTIONS, GROUPS, LakeTable, THREADS};
use super::rows::{self, LakeThread, functions, ids};
use super::run_id::{hex, run_id};
use super::run_start::RunStart;
use super::stack_times::StackTimes;
use super::tables_error::LakeTablesError;
use cpu_prof_core::base::system;
use cpu_prof_core::files::atomic::keep;
use cpu_prof_core::files::input::{Failed, lossy_list};
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_session::model::thread_profile::ThreadProfile;
use cpu_prof_session::model::{Clock, Process, Session};
use cpu_prof_tools::analysis::frame_index::FrameIndex;
use cpu_prof_tools::analysis::json::ms;
use cpu_prof_tools::analysis::process::session_view::SessionView;
use cpu_prof_tools::analysis::process::times::{sum_of_times, thread_times};
use cpu_prof_tools::analysis::session_costs::SessionCosts;
use cpu_prof_tools::read::load::Loaded;
use cpu_prof_tools::read::selection::Selection;

/// What the tables need: times and samples with their lines, and not what happened beside them.
const SCOPE: ReadScope = ReadScope { samples: true, ..ReadScope::LINES };

/// The most samples that the usual interval is found from.
const MAX_INTERVALS: usize = 10_000;

/// Nodes of processes that are gone, after which their memory is given back: a trim takes about a millisecond.
const NODES_TO_TRIM: usize = 200_000;

/// The tables that were written.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LakeTables {
    /// Name of the run's files in the lake, without the ending.
    pub stem: String,
    pub run_id: String,
    /// Date of the start in UTC.
    pub date: String,
    /// Wall time of the start: ISO 8601, UTC.
    pub started_at: String,
    /// Count of functions.
    pub functions: usize,
    /// Count of samples.
    pub samples: u64,
    pub duration_ms: f64,
    /// Size of all tables.
    pub bytes: u64,
    /// Inputs that were cut off or torn.
    #[serde(serialize_with = "lossy_list")]
    pub repaired: Vec<PathBuf>,
    /// Inputs that could not be read.
    pub failed: Vec<Failed>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Reads files and folders, and writes the tables of their run into a folder. `facts` is JSON.
pub(crate) fn lake_tables(
    inputs: &[PathBuf],
    facts: &str,
    folder: &Path,
    selection: &Selection,
) -> Result<LakeTables, LakeTablesError> {
    let given = GivenFacts::parse(facts)?;
    // Which part of a sample is in a slice only the times of lines tell.
    let scope = ReadScope { lines_of_samples: !selection.slice.is_everything(), ..SCOPE };
    let loaded = selection.load(inputs, scope)?;
    Ok(write_tables(loaded, given, folder, SystemTime::now())?)
}

/// Writes the tables of what was read. `now` is the time by which that of a run is judged.
pub(super) fn write_tables(
    loaded: Loaded,
    given: GivenFacts,
    folder: &Path,
    now: SystemTime,
) -> Result<LakeTables, TableError> {
    let Loaded { mut session, repaired, failed, mut notes, modified, .. } = loaded;
    // What the reading threads no longer need.
    system::trim_heap();
    let view = SessionView::of(&session);
    let costs = SessionCosts::of(&view);
    let samples = samples_of_functions(&view);
    let SessionView { index, launchers, .. } = view;
    let start = RunStart::of(&session, modified, now);
    let root = given.root();
    notes.extend_from_slice(&start.notes);
    notes.extend(root_note(&index, root.as_deref()));
    let threads = threads(&session, &index);
    let facts = RunFacts {
        given,
        run_id: run_id(&session),
        started_us: start.us,
        busy_us: sum_of_times(threads.iter().map(|thread| thread.times)).work_us(),
        duration_us: u64::try_from(session.length_us()).unwrap_or(0),
        samples: profiles(&session)
            .fold(0, |sum, profile| sum.saturating_add(profile.sample_count)),
        interval_us: interval_us(&session, &index),
        node: session.processes.iter().find_map(|process| process.node.clone()),
    };
    let functions = functions(costs.functions.known(), &index, root.as_deref());
    let threads = write(folder, THREADS, |file| {
        rows::write_threads(file, &facts.run_id, &threads, &session, &index)
    })?;
    let list = groups(&costs, &index, facts.busy_us);
    let groups = write(folder, GROUPS, |file| rows::write_groups(file, &facts, &list))?;
    let of_functions =
        write(folder, FUNCTIONS, |file| rows::write_functions(file, &facts, &functions, &samples))?;

    drop((list, costs));
    system::trim_heap();
    let mut times = StackTimes::create(folder, &facts.run_id, &index)?;
    let processes = std::mem::take(&mut session.processes);
    add_times(&mut times, processes, &session.clocks, &launchers)?;
    let [stacks, times] = times.finish(folder, &ids(&functions, &index))?;

    let tables = [stacks, times, threads, groups, of_functions];
    let mut hasher = new_hasher();
    tables.iter().for_each(|table| hasher.write(&table.hash.to_le_bytes()));
    let bytes = tables.iter().map(|table| table.file.bytes).sum();
    keep(tables.into_iter().map(|table| (table.file, table.path)).collect())?;
    let RunFacts { run_id, samples, duration_us, .. } = facts;
    Ok(LakeTables {
        stem: format!("{run_id}-{}", hex(hasher.finish())),
        run_id,
        date: start.date().to_owned(),
        functions: functions.len(),
        samples,
        duration_ms: ms(duration_us),
        bytes,
        repaired,
        failed,
        notes,
        started_at: start.text,
    })
}

/// Adds the times of all processes but launchers. A process goes as soon as its times are added, and the memory
/// goes back to the system: what a table takes comes from another heap than what the reading threads took.
fn add_times(
    times: &mut StackTimes<'_>,
    processes: Vec<Process>,
    clocks: &[Clock],
    launchers: &[bool],
) -> Result<(), TableError> {
    let mut number = 0;
    let mut nodes = 0;
    for (process, is_launcher) in processes.into_iter().zip(launchers) {
        let clock_us = clocks[process.clock].start_us;
        for thread in process.threads {
            if !is_launcher {
                times.add(number, &thread, clock_us)?;
            }
            number += 1;
            nodes += thread.profiles.iter().map(|profile| profile.nodes.len()).sum::<usize>();
        }
        if nodes > NODES_TO_TRIM {
            nodes = 0;
            system::trim_heap();
        }
    }
    Ok(())
}

/// Writes one table.
fn write(
    folder: &Path,
    table: LakeTable,
    rows: impl FnOnce(&mut LakeFile) -> Result<(), TableError>,
) -> Result<WholeTable, TableError> {
    let mut file = LakeFile::create(folder, table)?;
    rows(&mut file)?;
    file.finish()
}

/// Returns all threads, also those of launchers: their work is in the report's totals.
fn threads<'a>(session: &'a Session, index: &FrameIndex) -> Vec<LakeThread<'a>> {
    let all = session
        .processes
        .iter()
        .flat_map(|process| process.threads.iter().map(move |thread| (process, thread)));
    all.map(|(process, thread)| LakeThread { process, thread, times: thread_times(thread, index) })
        .collect()
}

fn profiles(session: &Session) -> impl Iterator<Item = &ThreadProfile> {
    session
        .processes
        .iter()
        .flat_map(|process| &process.threads)
        .flat_map(|thread| &thread.profiles)
}

/// Returns the counts of samples with each function on top, by the indices of functions.
fn samples_of_functions(view: &SessionView<'_>) -> Vec<u64> {
    let index = &view.index;
    let mut samples = vec![0_u64; index.functions.len()];
    for profile in view.shown_profiles() {
        let mut add = |node: u32, count: u64| {
            let node = profile.nodes.get(node as usize);
            if let Some(function) = node.and_then(|node| index.function(node.frame)) {
                samples[function] = samples[function].saturating_add(count);
            }
        };
        if profile.lines.is_empty() {
            profile.samples.iter().for_each(|sample| add(sample.node, 1));
        } else {
            profile.lines.iter().for_each(|line| add(line.node, line.samples));
        }
    }
    samples
}

/// Returns the usual time between two samples of work, microseconds: the median; 0 if no file tells times.
fn interval_us(session: &Session, index: &FrameIndex) -> i64 {
    let of_profile = |profile: &'_ ThreadProfile| {
        let pairs = profile.samples.iter().zip(profile.samples.iter().skip(1));
        let of_functions = pairs.filter(|(sample, _)| {
            let node = profile.nodes.get(sample.node as usize);
            node.is_some_and(|node| index.function(node.frame).is_some())
        });
        of_functions
            .map(|(sample, next)| next.time_us.saturating_sub(sample.time_us))
            .take(MAX_INTERVALS)
            .collect::<Vec<_>>()
    };
    let mut intervals = Vec::new();
    for profile in profiles(session) {
        intervals.extend(of_profile(profile));
        if intervals.len() >= MAX_INTERVALS {
            break;
        }
    }
    let middle = intervals.len() / 2;
    if intervals.is_empty() {
        return 0;
    }
    *intervals.select_nth_unstable(middle).1
}

/// Returns a note if own files have names of one machine, because none is below the root.
fn root_note(index: &FrameIndex, root: Option<&str>) -> Option<String> {
    let own = (0..index.files.len()).filter(|file| index.is_users(*file));
    let names: Vec<&str> = own.map(|file| file_identity(&index.files[file].path, root)).collect();
    let absolute = names.iter().find(|name| is_absolute(name))?;
    if names.iter().any(|name| !is_absolute(name) && !name.contains([':', '<', '['])) {
        return None;
    }
    let root = root.map_or("no root of the repository was given".to_owned(), |root| {
        format!("no file of the program is in {root}")
    });
    Some(format!(
        "{root}: files keep their whole paths, such as {absolute}, and are other files in runs from other \
         folders. Give the root that the repository had where the run was recorded"
    ))
}
