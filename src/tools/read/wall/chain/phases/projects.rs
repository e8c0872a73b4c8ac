//! The projects that TypeScript's compiler built in one process.

use super::phase::Phase;
use cpu_prof_core::profile::compilation::{CompilerSpan, without_config};
use cpu_prof_core::profile::session::{Process, Thread};

/// Returns the projects that TypeScript's compiler built, if they were several.
pub(super) fn projects(process: &Process, main: &Thread) -> Vec<Phase> {
    let spans = main.profiles.iter().flat_map(|profile| &profile.compiler_spans);
    let mut begins: Vec<&CompilerSpan> = spans.filter(|span| span.file.is_none()).collect();
    begins.sort_by_key(|span| span.start_us);
    begins.dedup_by(|next, last| next.project == last.project);
    if begins.len() < 2 {
        return Vec::new();
    }
    let ends = begins.iter().skip(1).map(|next| next.start_us).chain([main.end_us()]);
    let phase = |(begin, to_us): (&&CompilerSpan, i64)| {
        Phase::of_path(without_config(&begin.project), process, begin.start_us, to_us)
    };
    begins.iter().zip(ends).map(phase).collect()
}
