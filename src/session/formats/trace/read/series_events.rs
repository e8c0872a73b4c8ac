//! Reads the events that a recording's series are made of.

use serde::Deserialize;

use super::side_events::{MEMORY, cpu_times, data_of, lost_time, memory};
use crate::formats::trace::event::event_json::EventJson;
use crate::formats::trace::event::head::{EventHead, Member};
use crate::model::series::{CollectionSpan, NamedTime};
use crate::model::series_builder::SeriesBuilder;
use cpu_prof_core::base::outside_text::event_name;
use cpu_prof_core::format::trace::write::core_wait::WAITING;
use cpu_prof_core::format::trace::write::timing::USER_TIMING;

/// Adds what an event of the thread tells.
pub(super) fn add(
    series: &mut SeriesBuilder,
    text: &[u8],
    head: &EventHead,
    event: &EventJson<'_>,
) {
    let is_of = |category: &str| head.categories(text).any(|each| each == category.as_bytes());
    // The program names its timings as it likes.
    if is_of(USER_TIMING) {
        return add_timing(series, head.written(Member::Id2, text), event);
    }
    let time_us = event.ts.0;
    match &*event.name {
        "thread.start" => {
            cpu_times(event).into_iter().for_each(|times| series.begin_cpu(time_us, times));
        }
        "thread.flush" | "trace.end" => {
            let Some(times) = cpu_times(event) else { return };
            match lost_time(event) {
                Some(_) => series.begin_cpu(time_us, times),
                None => series.read_cpu(time_us, times),
            }
        }
        "MinorGC" | "MajorGC" => series.add_collection(CollectionSpan {
            start_us: time_us,
            duration_us: event.dur.unwrap_or(0).max(0),
            is_major: event.name == "MajorGC",
        }),
        "TimeStamp" if !is_of(WAITING) => {
            series_of_time_stamp(event).into_iter().for_each(|timing| series.add_timing(timing))
        }
        name if name.starts_with(MEMORY) => {
            memory(event).into_iter().for_each(|memory| series.add_memory(time_us, memory));
        }
        _ => {}
    }
}

/// Adds a mark, or the start or the end of a measure. `id2` is the measure's id.
fn add_timing(series: &mut SeriesBuilder, id2: Option<&[u8]>, event: &EventJson<'_>) {
    let id = || id2.and_then(|id| str::from_utf8(id).ok()).or(event.id).unwrap_or_default();
    match event.phase {
        b'e' => series.end_timing(id(), event.ts.0),
        b'b' => series.begin_timing(id(), named(event, detail_of_measure(event))),
        b'X' => {
            let duration_us = Some(event.dur.unwrap_or(0).max(0));
            let timing = named(event, detail_of_measure(event));
            series.add_timing(NamedTime { duration_us, ..timing });
        }
        b'I' | b'i' | b'R' => {
            let detail = data_of::<NamedArgs>(event).and_then(|args| args.detail);
            series.add_timing(named(event, detail));
        }
        _ => {}
    }
}

/// The arguments of a user timing.
#[derive(Deserialize)]
struct NamedArgs {
    detail: Option<String>,
}

fn detail_of_measure(event: &EventJson<'_>) -> Option<String> {
    serde_json::from_str::<NamedArgs>(event.args?).ok()?.detail
}

/// Returns the timing of an event. `detail` is JSON, in which DevTools' extension names the track.
fn named(event: &EventJson<'_>, detail: Option<String>) -> NamedTime {
    #[derive(Deserialize)]
    struct Detail {
        devtools: Track,
    }
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Track {
        track: Option<String>,
        track_group: Option<String>,
        color: Option<String>,
    }
    let detail = detail.and_then(|detail| serde_json::from_str::<Detail>(&detail).ok());
    let Track { track, track_group: group, color } =
        detail.map(|detail| detail.devtools).unwrap_or_default();
    let name = event_name(&event.name).into_owned();
    NamedTime { name, start_us: event.ts.0, duration_us: None, track, group, color }
}

/// Returns the time that a call of `console.timeStamp` tells; none for a call without both times, which
/// only names a moment for later calls.
fn series_of_time_stamp(event: &EventJson<'_>) -> Option<NamedTime> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Stamp {
        name: Option<String>,
        message: Option<String>,
        start: f64,
        end: f64,
        track: Option<String>,
        track_group: Option<String>,
        color: Option<String>,
    }
    let stamp = data_of::<Stamp>(event)?;
    // The conversion saturates.
    let (start_us, end_us) = (stamp.start as i64, stamp.end as i64);
    Some(NamedTime {
        name: event_name(&stamp.name.or(stamp.message)?).into_owned(),
        start_us,
        duration_us: Some(end_us.saturating_sub(start_us).max(0)),
        track: stamp.track,
        group: stamp.track_group,
        color: stamp.color,
    })
}
