//! A `.cpuprofile` as the events of a thread.

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::rewrite::{ProfileRewriter, SourceSample};
use crate::merge::output::mapped_frames::MappedFrames;
use crate::merge::output::trace::OutputTrace;
use crate::merge::result::MergeError;
use crate::names::originals::in_session::map_profile;
use crate::read::sniff::RecordingFile;
use cpu_prof_core::base::settings::start::StartReason;
use cpu_prof_core::format::ascii_json::{encode, encode_raw};
use cpu_prof_core::format::frame_json::CallFrameJson;
use cpu_prof_core::format::number::NodeNumber;
use cpu_prof_core::format::script_id::ScriptIdOffset;
use cpu_prof_core::format::trace::write::event::{At, Event};
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::format::trace::write::met_condition::mark_condition;
use cpu_prof_core::format::trace::write::thread_names::{each_name, worker_name};
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::label_table::{LabelTable, NO_LABELS};
use cpu_prof_core::profile::met_condition::MetCondition;
use cpu_prof_core::profile::position::SourcePosition;
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_session::formats::cpuprofile::read::CpuProfileReader;
use cpu_prof_session::formats::node_json::NodeJson;
use cpu_prof_session::formats::trace::scan::{SoundItem, SoundItems};
use cpu_prof_session::model::frame_table::FrameTable;
use cpu_prof_session::model::lists::sample_list::ProfileSample;
use cpu_prof_session::model::thread_profile::{NONE, ThreadProfile};

/// Adds the samples of a `.cpuprofile` to a thread. Returns false if the file cannot be read.
pub fn add_file<R: std::io::Read>(
    items: &mut SoundItems<R>,
    recording: &RecordingFile,
    mapped: &mut MappedFrames,
    rewriter: &mut ProfileRewriter,
    pid: u32,
    trace: &mut OutputTrace,
) -> Result<bool, MergeError> {
    let mut frames = FrameTable::new();
    let Some((profile, labels)) = read(items, &mut frames, mapped) else { return Ok(false) };
    if let Some(met) = met_condition(recording) {
        let mut events = Events::default();
        mark_condition(&mut events, At { pid, tid: recording.tid, ts: profile.start_us }, &met);
        rewriter.other(events.as_bytes(), profile.start_us, trace)?;
    }
    add(&profile, (&frames, &labels), (pid, recording.tid), rewriter, trace)?;
    if recording.end_us.is_some() {
        // Later than the end in the file if samples come after that.
        let end_us = profile.end_us;
        let mut events = Events::default();
        events.push(&Event::trace_end(At { pid, tid: recording.tid, ts: end_us }, None));
        rewriter.other(events.as_bytes(), end_us, trace)?;
    }
    Ok(true)
}

/// Returns the condition that started a recording, if one did.
fn met_condition(recording: &RecordingFile) -> Option<MetCondition> {
    let start = StartReason::deserialize(recording.program.get("start")?).ok();
    MetCondition::of_start(start.as_ref(), recording.tid.into())
}

/// Reads the profile of an event that holds a whole `.cpuprofile`.
pub(crate) fn of_event(
    event: &[u8],
    frames: &mut FrameTable,
    mapped: &mut MappedFrames,
) -> Option<ThreadProfile> {
    #[derive(Deserialize)]
    struct WholeProfile<'a> {
        #[serde(borrow)]
        args: WholeArgs<'a>,
    }
    #[derive(Deserialize)]
    struct WholeArgs<'a> {
        #[serde(borrow)]
        data: WholeData<'a>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct WholeData<'a> {
        #[serde(borrow)]
        cpu_profile: &'a RawValue,
    }
    let event: WholeProfile<'_> = serde_json::from_slice(event).ok()?;
    let text = event.args.data.cpu_profile.get().as_bytes();
    Some(read(&mut SoundItems::new(text), frames, mapped)?.0)
}

/// Adds the samples of a profile to a thread, by its ids of process and thread.
pub fn add(
    profile: &ThreadProfile,
    (frames, labels): (&FrameTable, &LabelTable),
    (pid, tid): (u32, u32),
    rewriter: &mut ProfileRewriter,
    trace: &mut OutputTrace,
) -> Result<(), MergeError> {
    let offset = ScriptIdOffset::of_thread(pid, tid);
    let encode = |frame: &CallFrame| CallFrameJson::new(frame, &frame.url, offset).encode();
    let frames: Vec<_> = frames.list().iter().map(encode).collect();
    let root = CallFrameJson::new(&CallFrame::root(), "", ScriptIdOffset::NONE).encode();
    rewriter.nodes(&[NodeJson::new(ROOT, None, root.as_deref(), None)]);
    let deopts: FxHashMap<u32, _> =
        profile.deopts.iter().map(|(node, reason)| (*node, encode_raw(reason))).collect();
    for (index, node) in (0_u32..).zip(&profile.nodes) {
        let parent = (node.parent != NONE).then(|| id(node.parent));
        let call_frame = frames[node.frame as usize].as_deref();
        let deopt_reason = deopts.get(&index).and_then(Option::as_deref);
        rewriter.nodes(&[NodeJson::new(id(index), parent, call_frame, deopt_reason)]);
    }
    let sets = labels.list().iter().map(|set| rewriter.number_labels(set));
    let sets: Vec<u32> = [NO_LABELS].into_iter().chain(sets).collect();
    let mut last_us = profile.start_us;
    let samples = samples(profile).map(|ProfileSample { time_us, node, position }| {
        let delta_us = time_us.saturating_sub(last_us);
        last_us = time_us;
        let labels = sets[profile.labels(node) as usize];
        let node = if node == NONE { ROOT } else { id(node) };
        SourceSample { node: node.0, delta_us, position, labels }
    });
    rewriter.samples(samples, trace)
}

/// Returns the samples. A profile with nothing but counts of hits has one for each node, as long as
/// the node's share of the time.
fn samples(profile: &ThreadProfile) -> impl Iterator<Item = ProfileSample> {
    let mut time_us = profile.start_us;
    let has_samples = !profile.samples.is_empty();
    let times = (0_u32..).zip(profile.all_times()).filter(|(_, times)| times.self_us > 0);
    let of_hits = times.take_while(move |_| !has_samples);
    let of_hits = of_hits.map(move |(index, times)| {
        let sample = ProfileSample { time_us, node: index, position: SourcePosition::default() };
        time_us = time_us.saturating_add(i64::try_from(times.self_us).unwrap_or(i64::MAX));
        sample
    });
    profile.samples.iter().chain(of_hits)
}

/// Id of an added root, for which viewers draw nothing.
const ROOT: NodeNumber = NodeNumber(0);

fn id(index: u32) -> NodeNumber {
    NodeNumber(u64::from(index) + 1)
}

fn read<R: std::io::Read>(
    items: &mut SoundItems<R>,
    frames: &mut FrameTable,
    mapped: &mut MappedFrames,
) -> Option<(ThreadProfile, LabelTable)> {
    let mut reader = CpuProfileReader::new(ReadScope::SAMPLES);
    while let Some(item) = items.next().ok()? {
        if let SoundItem::Member { key, value } = item {
            reader.member(key, value, frames).ok()?;
        }
    }
    let labels = reader.take_labels();
    let mut profile = reader.finish()?;
    if let Some(originals) = mapped.originals() {
        map_profile(&mut profile, frames, originals);
    }
    Some((profile, labels))
}

/// Returns the events that name the process and the thread. `process` is the process's short label.
pub fn names(process: &str, recording: &RecordingFile, pid: u32) -> Vec<Vec<u8>> {
    let fact = |key: &str| recording.program.get(key).and_then(Value::as_str);
    let mut names = Vec::new();
    let mut write = |name: &Event<'_>| {
        let mut text = Vec::new();
        encode(&mut text, name);
        names.push(text);
    };
    let (tid, label) = (recording.tid, recording.recording_label());
    each_name(pid, tid, process, label, &mut write);
    if let Some(name) = fact("threadName").filter(|_| tid != 0) {
        worker_name(pid, tid, process, name, label, &mut write);
    }
    names
}
