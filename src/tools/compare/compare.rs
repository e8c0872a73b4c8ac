//! Builds a comparison of two sets of runs.

use std::cmp::Reverse;
use std::path::PathBuf;

use super::items::{ComparedItem, ItemKind, Items, Measure};
use super::json::{ComparedPlace, ComparedRow, ComparedSide, Comparison};
use super::matching::{MatchedItems, SideItems, matched};
use super::noise::{Difference, RowValues, SPREAD_OF_WAITING, SPREAD_OF_WORK, differences};
use super::run_costs::{RunCosts, main_callers, run_costs};
use crate::read::selection::Selection;
use cpu_prof_core::files::input::Failed;
use cpu_prof_core::profile::session::thread_profile::ReadScope;

/// Rows with less than this part of the work, on both sides, are not tested.
const TESTED: f64 = 0.005;
/// Measures of the whole run.
const TOTALS: [Measure; 8] = [
    Measure::Wall,
    Measure::Work,
    Measure::Cpu,
    Measure::Gc,
    Measure::Idle,
    Measure::Blocked,
    Measure::Memory,
    Measure::Processes,
];

/// What a comparison contains.
#[derive(Debug, Clone, Default)]
pub(crate) struct CompareOptions {
    /// Kinds and names of items that are tested, however little time they have.
    pub wanted: Vec<(String, String)>,
    /// Whether times of functions, files, packages and owners are parts of the work.
    pub shares: bool,
    /// What is read of each run.
    pub selection: Selection,
}

/// What happened to the files of all runs.
#[derive(Debug, Default)]
struct ReadFiles {
    inputs: [usize; 2],
    repaired: Vec<PathBuf>,
    failed: Vec<Failed>,
    notes: Vec<String>,
}

/// A measure of a row, with its values.
struct TestedRow {
    /// Index of the matched items.
    row: usize,
    measure: Measure,
    values: RowValues,
}

/// Compares runs, each a list of files and folders. Returns JSON, or the reason why a run cannot be
/// read.
pub(crate) fn compare(
    base: &[Vec<PathBuf>],
    head: &[Vec<PathBuf>],
    options: &CompareOptions,
) -> Result<String, String> {
    let mut items = Items::default();
    let mut files = ReadFiles::default();
    let base = read_side(base, 0, &options.selection, &mut items, &mut files)?;
    let head = read_side(head, 1, &options.selection, &mut items, &mut files)?;
    let rows = matched(&items, &SideItems::of(&base), &SideItems::of(&head));
    let tested = tested_rows(&rows, &items, &base, &head, options);
    let values: Vec<RowValues> = tested.iter().map(|row| row.values.clone()).collect();
    let (differences, noise) = differences(&values);
    let mut found: Vec<(&TestedRow, &Difference)> = tested.iter().zip(&differences).collect();
    found.sort_by_key(|(tested, difference)| {
        let kind = kind_of(&rows[tested.row], &items);
        // Shares are below 1.
        let size = (1e6 * (difference.head - difference.base).abs()) as u64;
        (kind, !difference.is_change(), Reverse(size))
    });
    let callers_of = |runs: &[RunCosts]| main_callers(runs.iter().map(|run| &run.callers));
    let (base_callers, head_callers) = (callers_of(&base), callers_of(&head));
    let caller = |row: &MatchedItems| {
        let of_head = row.head.iter().find_map(|item| head_callers.get(item));
        let caller = of_head.or(row.base.iter().find_map(|item| base_callers.get(item)))?;
        let ComparedItem { name, file, line, .. } = &items[*caller];
        Some(ComparedPlace { name, file, line: Some(*line) })
    };
    let shown = |(tested, difference): (&TestedRow, &Difference)| {
        let row = &rows[tested.row];
        let shown = shown(tested, row, difference, &items, options.shares);
        ComparedRow { caller: caller(row), ..shown }
    };
    let comparison = Comparison {
        version: 1,
        base: ComparedSide { runs: base.len(), inputs: files.inputs[0] },
        head: ComparedSide { runs: head.len(), inputs: files.inputs[1] },
        noise,
        rows: found.into_iter().map(shown).collect(),
        repaired: &files.repaired,
        failed: &files.failed,
        notes: &files.notes,
    };
    serde_json::to_string(&comparison).map_err(|error| error.to_string())
}

/// Reads the runs of a side one after the other, so that one is in memory at a time.
fn read_side(
    runs: &[Vec<PathBuf>],
    side: usize,
    selection: &Selection,
    items: &mut Items,
    files: &mut ReadFiles,
) -> Result<Vec<RunCosts>, String> {
    let mut costs = Vec::with_capacity(runs.len());
    for run in runs {
        let loaded = selection.load(run, ReadScope::LINES)?;
        costs.push(run_costs(&loaded, items));
        files.inputs[side] += loaded.inputs;
        files.repaired.extend(loaded.repaired);
        files.failed.extend(loaded.failed);
        for note in loaded.notes {
            if !files.notes.contains(&note) {
                files.notes.push(note);
            }
        }
    }
    Ok(costs)
}

/// Returns the rows that have enough time to say something about, and those that are wanted.
fn tested_rows(
    rows: &[MatchedItems],
    items: &Items,
    base: &[RunCosts],
    head: &[RunCosts],
    options: &CompareOptions,
) -> Vec<TestedRow> {
    let total = rows.iter().find(|row| kind_of(row, items) == ItemKind::Total);
    let of_total = |measure: Measure| match total {
        Some(total) => [values(&total.base, base, measure), values(&total.head, head, measure)],
        None => [vec![0.0; base.len()], vec![0.0; head.len()]],
    };
    let largest = |sides: [Vec<f64>; 2]| mean(&sides[0]).max(mean(&sides[1]));
    let [base_work, head_work] = of_total(Measure::Work);
    let least_wall = TESTED * largest(of_total(Measure::Wall));
    let work = largest([base_work.clone(), head_work.clone()]);
    let least_work = TESTED * if options.shares { 1.0 } else { work };
    let mut tested = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let kind = kind_of(row, items);
        let is_wanted =
            row.base.iter().chain(&row.head).any(|item| is_wanted(&items[*item], &options.wanted));
        let measures: &[Measure] = match kind {
            ItemKind::Total => &TOTALS,
            ItemKind::Process => &[Measure::Duration],
            // One of several functions can call another, so that their total times have a part in common.
            ItemKind::Function if count(row) > 1 => &[Measure::SelfTime],
            _ => &[Measure::SelfTime, Measure::TotalTime],
        };
        for measure in measures {
            let is_share = options.shares && measure.is_sampled();
            let divisor = |work: &[f64]| if is_share { work.to_vec() } else { Vec::new() };
            let values = RowValues {
                base: divided(values(&row.base, base, *measure), &divisor(&base_work)),
                head: divided(values(&row.head, head, *measure), &divisor(&head_work)),
                assumed_spread: if measure.is_waiting() {
                    SPREAD_OF_WAITING
                } else {
                    SPREAD_OF_WORK
                },
                sampled: match measure.is_sampled() {
                    true if is_share => interval_ms(base, head) / work.max(1.0),
                    true => interval_ms(base, head),
                    false => 0.0,
                },
            };
            let most = mean(&values.base).max(mean(&values.head));
            let is_tested = match kind {
                ItemKind::Total => is_known(row, base, head, *measure),
                ItemKind::Process => most > 0.0 && (is_wanted || most >= least_wall),
                _ => most > 0.0 && (is_wanted || most >= least_work),
            };
            if is_tested {
                tested.push(TestedRow { row: number, measure: *measure, values });
            }
        }
    }
    tested
}

fn shown<'a>(
    tested: &TestedRow,
    row: &MatchedItems,
    found: &Difference,
    items: &'a Items,
    shares: bool,
) -> ComparedRow<'a> {
    // Head has the names that a user knows now.
    let item = &items[*row.head.first().or(row.base.first()).unwrap_or(&0)];
    let was = row.base.first().map(|number| &items[*number]);
    let was = was.filter(|was| was.name != item.name || was.file != item.file);
    let is_function = item.kind == ItemKind::Function;
    let has_package = is_function || item.kind == ItemKind::File;
    let functions = count(row);
    let difference = found.head - found.base;
    ComparedRow {
        kind: item.kind.name(),
        owner: item.owner,
        name: &item.name,
        file: is_function.then_some(item.file.as_str()),
        line: (is_function && functions == 1).then_some(item.line),
        package: has_package.then_some(item.package.as_str()),
        functions,
        was: was.map(|was| ComparedPlace { name: &was.name, file: &was.file, line: None }),
        caller: None,
        measure: tested.measure,
        unit: if shares && tested.measure.is_sampled() { "share" } else { tested.measure.unit() },
        base: found.base,
        head: found.head,
        difference,
        low: found.low,
        high: found.high,
        relative: (found.base > 0.0).then(|| difference / found.base),
        changed: found.is_change(),
    }
}

fn kind_of(row: &MatchedItems, items: &Items) -> ItemKind {
    row.base.first().or(row.head.first()).map_or(ItemKind::Total, |item| items[*item].kind)
}

/// Returns the count of functions that count together.
fn count(row: &MatchedItems) -> usize {
    row.base.len().max(row.head.len()).max(1)
}

/// Returns the sum of the items' values in each run.
fn values(numbers: &[usize], runs: &[RunCosts], measure: Measure) -> Vec<f64> {
    let of =
        |run: &RunCosts| numbers.iter().filter_map(|item| run.values.get(&(*item, measure))).sum();
    runs.iter().map(of).collect()
}

/// Returns values as parts of others; the values themselves without others.
fn divided(values: Vec<f64>, by: &[f64]) -> Vec<f64> {
    let divisors = by.iter().copied().chain(std::iter::repeat(1.0));
    values.iter().zip(divisors).map(|(value, by)| if by > 0.0 { value / by } else { 0.0 }).collect()
}

/// Returns whether all runs have a value.
fn is_known(row: &MatchedItems, base: &[RunCosts], head: &[RunCosts], measure: Measure) -> bool {
    let has = |numbers: &[usize], run: &RunCosts| {
        numbers.iter().any(|item| run.values.contains_key(&(*item, measure)))
    };
    base.iter().all(|run| has(&row.base, run)) && head.iter().all(|run| has(&row.head, run))
}

fn is_wanted(item: &ComparedItem, wanted: &[(String, String)]) -> bool {
    wanted.iter().any(|(kind, name)| {
        let has_kind = item.kind.name() == kind || item.owner == kind.as_str();
        has_kind && item.name == *name
    })
}

fn interval_ms(base: &[RunCosts], head: &[RunCosts]) -> f64 {
    let all: Vec<f64> = base.iter().chain(head).map(|run| run.interval_ms).collect();
    mean(&all)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
