//! The collections and the memory of a thread.

use super::json::{ReportCollections, ReportMemory};
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_core::profile::gc::{CollectionTotals, MemoryRange, MemoryUse};
use cpu_prof_session::model::Thread;

/// Returns the collections of all recordings of a thread; none if no recording tells them.
pub fn collections(thread: &Thread) -> Option<ReportCollections> {
    let told = thread.profiles.iter().filter_map(|profile| profile.collections);
    let all = told.reduce(|mut all: CollectionTotals, totals| {
        all.add_totals(totals);
        all
    })?;
    let CollectionTotals { minor, major, us, longest_us } = all;
    Some(ReportCollections { minor, major, total_us: us, longest_us })
}

/// Returns the memory over all recordings of a thread; none if no recording tells it.
pub fn memory(thread: &Thread) -> Option<ReportMemory> {
    let mut told: Vec<(i64, MemoryRange)> = thread
        .profiles
        .iter()
        .filter_map(|profile| Some((profile.start_us, profile.memory?)))
        .collect();
    told.cold_sort_by_key(|(start_us, _)| *start_us);
    let (_, first) = told.first()?;
    let (_, last) = told.last()?;
    let peak = |value: fn(&MemoryUse) -> Option<u64>| {
        told.iter().filter_map(|(_, range)| value(&range.peak)).max()
    };
    let (before, after) = (first.first, last.last);
    Some(ReportMemory {
        heap_peak: peak(|memory| Some(memory.heap_used)).unwrap_or_default(),
        heap_growth: growth(before.heap_used, after.heap_used),
        external_peak: peak(|memory| Some(memory.external)).unwrap_or_default(),
        rss_peak: peak(|memory| memory.rss),
        rss_growth: before.rss.zip(after.rss).map(|(before, after)| growth(before, after)),
    })
}

fn growth(before: u64, after: u64) -> i64 {
    i64::try_from(i128::from(after) - i128::from(before)).unwrap_or_default()
}
