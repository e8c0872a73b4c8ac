//! The events of a trace, one by one.

use serde::Serialize;

use super::cpuprofile::ProfileChecks;
use super::profiles::Profiles;
use super::samples::check;
use super::spans::UnclosedSpans;
use cpu_prof_core::format::trace::check::event_text::EventText;
use cpu_prof_core::format::trace::check::fields::{fields, has_id, kind_of};
use cpu_prof_core::format::trace::check::problems::Problems;
use cpu_prof_core::format::trace::event_names::{PROFILE_EVENTS, WHOLE_PROFILE};
use cpu_prof_session::formats::trace::samples::GlobalSamples;

/// What a file contains.
#[derive(Debug, Default, Serialize)]
pub(super) struct Contents {
    /// What the file is; none for neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// Whether tools can load the file.
    pub loads: bool,
    pub events: u64,
    pub profiles: usize,
    pub samples: u64,
}

/// Checks the events of a trace.
#[derive(Debug, Default)]
pub(super) struct EventChecks {
    spans: UnclosedSpans,
    profiles: Profiles,
    /// Count of the profiles that are one event each.
    whole_profiles: usize,
    /// Count of their samples.
    whole_samples: u64,
    /// Count of the events.
    count: u64,
    /// Whether there is an event besides names.
    has_others: bool,
}

impl EventChecks {
    /// Checks an event.
    pub(super) fn event(&mut self, text: &str, to: &mut Problems) {
        self.count += 1;
        let Some(event) = EventText::read(text) else {
            self.has_others = true;
            return to.error("object", "", "an event has to be an object");
        };
        let phase = event.get("ph").text();
        self.has_others |= phase.as_deref() != Some("M");
        let Some(phase) = phase else {
            return to.error("ph", "ph", "an event needs its phase, a text of one letter");
        };
        let Some(kind) = kind_of(&phase) else {
            return to.error("phase", "ph", format!("'{phase}' is not a phase"));
        };
        fields(kind, &event, to);
        if !kind.needs_id() || has_id(&event) {
            self.spans.event(kind, &event, to);
        }
        // Readers go by the name, whatever the phase.
        let Some(name) = event.get("name").text() else { return };
        match name.as_bytes() {
            part if PROFILE_EVENTS.contains(&part) => self.profiles.event(&name, &event, to),
            WHOLE_PROFILE => {
                self.whole_profiles += 1;
                let profile = event.get("args").member("data").member("cpuProfile");
                self.whole_samples += ProfileChecks::event(profile, to);
            }
            b"TracingStartedInBrowser" => frames(&event, to),
            _ => {}
        }
    }

    /// Adds what only the end of the trace shows. Returns what the trace contains.
    pub(super) fn finish(self, samples: GlobalSamples, to: &mut Problems) -> Contents {
        let (threads, count) = check(samples, to);
        if self.count == 0 && count == 0 {
            to.warn("empty", "traceEvents", "the trace has no events");
        } else if !self.has_others && count == 0 {
            to.warn("empty", "traceEvents", "the trace has names only");
        }
        self.profiles.finish(to);
        self.spans.finish(to);
        Contents {
            kind: Some("trace"),
            events: self.count,
            profiles: self.profiles.known.len() + self.whole_profiles + threads,
            samples: self.profiles.samples + self.whole_samples + count,
            ..Contents::default()
        }
    }
}

/// Checks the event that begins a trace of a browser.
fn frames(event: &EventText<'_>, to: &mut Problems) {
    if !event.get("args").member("data").member("frames").is_list() {
        let message = "a TracingStartedInBrowser without a list of frames: DevTools refuses the file (frames is \
                       not iterable); cpu-prof merge writes a trace with such a list";
        to.error("frames", "args.data.frames", message);
    }
}
