//! What TypeScript's compiler did: the projects that it built, if they were several, and its phases.

use super::phase::Phase;
use super::stretches::DoingOfFrames;
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_session::model::compilation::{
    COMPILERS, CompilerSpan, RESOLVE, is_compiler, phase_below, without_config,
};
use cpu_prof_session::model::frame_table::FrameTable;
use cpu_prof_session::model::{Process, Thread};

/// The phases that a chain tells apart. Files are found while others are parsed.
const PHASES: [&str; 4] = ["parse", "bind", "check", "emit"];

/// The compiler's functions in a session.
pub(super) struct CompilerFrames(DoingOfFrames);

impl CompilerFrames {
    /// Returns the functions that begin a phase.
    pub(super) fn of(frames: &FrameTable) -> Self {
        Self(DoingOfFrames::of(frames, |frame| {
            let phase = phase_below(&frame.function_name).filter(|_| is_compiler(&frame.url))?;
            PHASES.iter().position(|name| *name == phase || (phase == RESOLVE && *name == "parse"))
        }))
    }

    /// Returns the phases of a compiler. Other tools that use the compiler do more than compile.
    pub(super) fn phases(&self, process: &Process, main: &Thread, least_us: i64) -> Vec<Phase> {
        if !COMPILERS.contains(&process.name.as_str()) {
            return Vec::new();
        }
        let times = self.0.stretches(main, least_us).into_iter();
        times.map(|time| Phase::new(PHASES[time.what], time.from_us, time.to_us)).collect()
    }
}

/// Returns the projects that a compiler built, if the recording tells several.
pub(super) fn projects(process: &Process, main: &Thread) -> Vec<Phase> {
    let spans = main.profiles.iter().flat_map(|profile| &profile.compiler_spans);
    let mut begins: Vec<&CompilerSpan> = spans.filter(|span| span.file.is_none()).collect();
    begins.cold_sort_by_key(|span| span.start_us);
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
