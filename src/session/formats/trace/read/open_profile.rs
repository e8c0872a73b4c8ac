//! A profile of a trace that is being read, and can go on.

use super::finished::FinishedProfile;
use crate::formats::label_json::AnnouncedLabels;
use crate::formats::trace::event::chunk_json::ProfileOrigin;
use crate::formats::trace::event::event_json::EventJson;
use crate::model::builder::ProfileBuilder;
use crate::model::compilation::CompilerSpan;
use crate::model::series_builder::SeriesBuilder;
use crate::model::thread_profile::ThreadProfile;
use cpu_prof_core::profile::cpu_use::NativeSpan;
use cpu_prof_core::profile::read_scope::ReadScope;

/// A profile that can go on.
#[derive(Debug, Clone)]
pub(super) struct OpenProfile {
    pub(super) pid: i64,
    /// `id`, as it is written.
    pub(super) id: String,
    pub(super) tid: i64,
    pub(super) origin: ProfileOrigin,
    /// Whether the Profile event was read. Only this event names the thread.
    pub(super) is_announced: bool,
    /// Offset of the trace's clock from V8's, microseconds.
    pub(super) offset_us: i64,
    pub(super) builder: ProfileBuilder,
    /// Label sets that the profile has announced.
    pub(super) labels: AnnouncedLabels,
    /// What native threads of the process used.
    pub(super) native: Vec<NativeSpan>,
    /// None if the scope is without steps.
    pub(super) series: Option<SeriesBuilder>,
    /// What TypeScript's compiler worked on.
    compiler_spans: Vec<CompilerSpan>,
}

impl OpenProfile {
    /// Returns a profile of the event's thread and id that starts at `start_us`.
    pub(super) fn new(event: &EventJson<'_>, start_us: i64, scope: ReadScope) -> Self {
        Self {
            pid: event.pid.0,
            id: event.id.unwrap_or_default().to_owned(),
            tid: event.tid.0,
            origin: ProfileOrigin::default(),
            is_announced: false,
            offset_us: 0,
            builder: ProfileBuilder::new(start_us, scope),
            labels: AnnouncedLabels::default(),
            native: Vec::new(),
            series: scope.steps.then(|| SeriesBuilder::new(scope)),
            compiler_spans: Vec::new(),
        }
    }

    /// Returns whether the profile is that of the event's thread.
    pub(super) fn is_of(&self, event: &EventJson<'_>) -> bool {
        self.pid == event.pid.0 && self.tid == event.tid.0
    }

    /// Adds what TypeScript's compiler worked on.
    pub(super) fn compiled(&mut self, span: &CompilerSpan) {
        self.compiler_spans.push(span.clone());
    }

    /// Returns the profile, which has ended.
    pub(super) fn finish(self) -> FinishedProfile {
        let Self { pid, tid, origin, builder, native, series, compiler_spans, .. } = self;
        let profile = builder.finish();
        let series = series.map(|series| series.finish(profile.recorded_us.1)).unwrap_or_default();
        let profile = ThreadProfile { native, series, compiler_spans, ..profile };
        FinishedProfile { pid, tid, origin, profile }
    }
}
