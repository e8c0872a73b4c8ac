//! The rows of functions, groups and threads.

use parquet::data_type::ByteArray;

use super::facts::RunFacts;
use super::file_identity::file_identity;
use super::groups::Group;
use super::output::column::{LakeColumn, long, text};
use super::output::lake_file::{LakeFile, MAX_ROWS, TableError};
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_session::model::{Process, Session, Thread};
use cpu_prof_tools::analysis::frame_index::{FrameIndex, FrameKind, SourceFunction};
use cpu_prof_tools::analysis::json::{ReportCost, ReportTimes};
use cpu_prof_tools::analysis::process::cpu::counted_us;

/// A function with its costs.
#[derive(Debug, Clone, Copy)]
pub(super) struct LakeFunction<'a> {
    /// Index into [`FrameIndex::functions`].
    number: usize,
    package: &'a str,
    /// Name of the file that is the same in all runs.
    file: &'a str,
    function: &'a SourceFunction,
    cost: ReportCost,
}

/// A thread with its times.
pub(super) struct LakeThread<'a> {
    pub process: &'a Process,
    pub thread: &'a Thread,
    pub times: ReportTimes,
}

/// Returns the functions by their names: files that repeat are small in a table.
pub(super) fn functions<'a>(
    costs: impl Iterator<Item = (usize, ReportCost)>,
    index: &'a FrameIndex,
    root: Option<&str>,
) -> Vec<LakeFunction<'a>> {
    let row = |(number, cost): (usize, ReportCost)| {
        let function = &index.functions[number];
        let file = &index.files[function.file];
        let package = index.packages[file.package].as_str();
        LakeFunction { number, package, file: file_identity(&file.path, root), function, cost }
    };
    let mut list: Vec<_> = costs.map(row).collect();
    list.cold_sort_by(|one, other| {
        let key = |row: &LakeFunction<'a>| {
            let SourceFunction { name, line, column, .. } = row.function;
            (row.package, row.file, name.as_str(), *line, *column)
        };
        let path = |row: &LakeFunction<'a>| index.files[row.function.file].path.as_str();
        (key(one), path(one)).cmp(&(key(other), path(other)))
    });
    list
}

/// Returns the ids of functions in their table, by their indices.
pub(super) fn ids(functions: &[LakeFunction<'_>], index: &FrameIndex) -> Vec<Option<i32>> {
    let mut ids = vec![None; index.functions.len()];
    for (id, function) in (0..).zip(functions) {
        ids[function.number] = Some(id);
    }
    ids
}

/// Writes the table of functions. `samples` are the counts of samples by the indices of functions.
pub(super) fn write_functions(
    file: &mut LakeFile,
    facts: &RunFacts,
    functions: &[LakeFunction<'_>],
    samples: &[u64],
) -> Result<(), TableError> {
    let mut first = 0;
    for rows in functions.chunks(MAX_ROWS) {
        let texts = |of: fn(&LakeFunction<'_>) -> ByteArray| {
            LakeColumn::Texts(rows.iter().map(of).collect())
        };
        let longs = |of: &dyn Fn(&LakeFunction<'_>) -> u64| {
            LakeColumn::Longs(rows.iter().map(|row| long(of(row))).collect())
        };
        let places = |of: fn(&SourceFunction) -> i32| {
            let place = |row: &LakeFunction<'_>| Some(of(row.function)).filter(|place| *place > 0);
            LakeColumn::OptionalInts(rows.iter().map(place).collect())
        };
        let own = [
            LakeColumn::Ints((first..).take(rows.len()).collect()),
            texts(|row| text(row.package)),
            texts(|row| text(row.file)),
            texts(|row| text(&row.function.name)),
            places(|function| function.line),
            places(|function| function.column),
            longs(&|row| row.cost.self_us),
            longs(&|row| row.cost.total_us),
            longs(&|row| samples.get(row.number).copied().unwrap_or(0)),
        ];
        file.write(rows.len(), facts.columns().into_iter().chain(own))?;
        first += rows.len() as i32;
    }
    Ok(())
}

/// Writes the table of groups.
pub(super) fn write_groups(
    file: &mut LakeFile,
    facts: &RunFacts,
    groups: &[Group],
) -> Result<(), TableError> {
    for rows in groups.chunks(MAX_ROWS) {
        let texts = |of: fn(&Group) -> &str| {
            LakeColumn::Texts(rows.iter().map(|row| text(of(row))).collect())
        };
        let longs = |of: fn(&Group) -> u64| {
            LakeColumn::Longs(rows.iter().map(|row| long(of(row))).collect())
        };
        let own = [
            texts(|row| row.kind),
            texts(|row| &row.sort),
            texts(|row| &row.name),
            longs(|row| row.self_us),
            longs(|row| row.total_us),
        ];
        file.write(rows.len(), facts.columns().into_iter().chain(own))?;
    }
    Ok(())
}

/// Writes the table of threads.
pub(super) fn write_threads(
    file: &mut LakeFile,
    run_id: &str,
    threads: &[LakeThread<'_>],
    session: &Session,
    index: &FrameIndex,
) -> Result<(), TableError> {
    let mut first = 0;
    for rows in threads.chunks(MAX_ROWS) {
        let longs =
            |of: &dyn Fn(&LakeThread<'_>) -> i64| LakeColumn::Longs(rows.iter().map(of).collect());
        let after_start =
            |row: &LakeThread<'_>, us: i64| us.saturating_sub(session.clock(row.process).start_us);
        let columns = [
            LakeColumn::SameText(Some(run_id.to_owned())),
            LakeColumn::Ints((first..).take(rows.len()).collect()),
            longs(&|row| row.process.pid),
            longs(&|row| row.thread.id),
            LakeColumn::Texts(rows.iter().map(|row| text(&row.process.name)).collect()),
            LakeColumn::Texts(rows.iter().map(|row| text(&row.thread.full_name())).collect()),
            longs(&|row| after_start(row, row.thread.start_us())),
            longs(&|row| after_start(row, row.thread.end_us())),
            longs(&|row| long(row.times.work_us())),
            longs(&|row| long(row.times.gc_us)),
            longs(&|row| long(program_us(row.thread, index))),
            longs(&|row| long(row.times.blocked_us.unwrap_or(0))),
            longs(&|row| long(row.times.idle_us)),
            LakeColumn::OptionalLongs(rows.iter().map(cpu_us).collect()),
        ];
        file.write(rows.len(), columns)?;
        first += rows.len() as i32;
    }
    Ok(())
}

/// Returns the CPU time of a thread by the system's count, microseconds.
fn cpu_us(row: &LakeThread<'_>) -> Option<i64> {
    counted_us(row.thread, |cpu| Some(cpu.cpu_us)).map(long)
}

/// Returns the work of a thread outside of all functions, microseconds.
fn program_us(thread: &Thread, index: &FrameIndex) -> u64 {
    let nodes = thread.profiles.iter().flat_map(|profile| profile.timed_nodes());
    let in_program = nodes.filter(|(node, _)| index.kind(node.frame) == FrameKind::Program);
    in_program.fold(0, |sum, (_, times)| sum.saturating_add(times.self_us))
}
