//! Reads a `.cpuprofile` into a profile, member by member, in any order of the members.

use std::fmt;
use std::mem;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::file_name::ids_from_file_name;
use super::head_tree;
use super::kind::JsonKind;
use super::times::ProfileTimes;
use crate::formats::deltas::push_samples;
use crate::formats::label_json::AnnouncedLabels;
use crate::formats::node_json::NodeJson;
use crate::formats::trace::read::process_names::TraceNames;
use crate::model::builder::ProfileBuilder;
use crate::model::frame_table::FrameTable;
use crate::model::thread_profile::ThreadProfile;
use crate::model::{Process, Thread};
use cpu_prof_core::format::number::{NodeNumber, PlainNumber};
use cpu_prof_core::format::trace::ours::METADATA_KEY;
use cpu_prof_core::profile::label_table::LabelTable;
use cpu_prof_core::profile::met_condition::MetCondition;
use cpu_prof_core::profile::read_scope::ReadScope;

/// Reads the members of one file.
#[derive(Debug)]
pub struct CpuProfileReader {
    names: TraceNames,
    /// Ids of the process and the thread, if the file gives them.
    ids: Option<(i64, i64)>,
    builder: ProfileBuilder,
    kind: JsonKind,
    times: ProfileTimes,
    samples: Vec<NodeNumber>,
    deltas: Vec<PlainNumber>,
    /// Ids of the samples' label sets, as they are written.
    labels: Option<Box<RawValue>>,
    announced: AnnouncedLabels,
    table: LabelTable,
}

impl CpuProfileReader {
    /// Returns a reader that has read nothing yet.
    pub fn new(scope: ReadScope) -> Self {
        Self {
            names: TraceNames::default(),
            ids: None,
            builder: ProfileBuilder::new(0, scope),
            kind: JsonKind::default(),
            times: ProfileTimes::default(),
            samples: Vec::new(),
            deltas: Vec::new(),
            labels: None,
            announced: AnnouncedLabels::default(),
            table: LabelTable::default(),
        }
    }

    /// Reads a member of the file's object. The error ends a sentence that begins with the file.
    pub fn member(
        &mut self,
        key: &str,
        value: &[u8],
        frames: &mut FrameTable,
    ) -> Result<(), String> {
        self.times.member(key, value);
        self.kind.member(key, value);
        match key {
            "head" if self.is_profile() => {
                let read = head_tree::announce(value, &mut self.builder, frames);
                read.map_err(|error| invalid(key, &error))?;
            }
            "nodes" if self.is_profile() => {
                let nodes = NodeList { builder: &mut self.builder, frames };
                let read = nodes.deserialize(&mut serde_json::Deserializer::from_slice(value));
                read.map_err(|error| invalid(key, &error))?;
            }
            "samples" => self.samples = parse(key, value)?,
            "timeDeltas" => self.deltas = parse(key, value)?,
            "labels" => self.labels = serde_json::from_slice(value).ok(),
            "labelSets" => {
                let sets: Option<&RawValue> = serde_json::from_slice(value).ok();
                self.announced.announce(sets, &mut self.table);
            }
            METADATA_KEY => self.ids = self.names.of_cpuprofile(value),
            _ => {}
        }
        Ok(())
    }

    /// Takes the label sets of the profile out.
    pub fn take_labels(&mut self) -> LabelTable {
        mem::take(&mut self.table)
    }

    /// Returns whether the file is a `.cpuprofile`, by the members so far.
    pub fn is_profile(&self) -> bool {
        self.kind.is_profile()
    }

    /// Returns what the file is instead; none if its members do not tell.
    pub fn other(&self) -> Option<&'static str> {
        self.kind.other()
    }

    /// Returns the profile as a process with one thread; none if the file is not a `.cpuprofile`.
    /// A file that does not tell its process can have a name that does.
    pub fn finish_process(mut self, file_name: &str) -> Option<Process> {
        let of_name = ids_from_file_name(file_name);
        let (pid, id) = self.ids.or(of_name).unwrap_or((0, 0));
        let is_named = self.ids.is_some();
        let name = if of_name.is_some() { "node" } else { file_name };
        let names = self.names.take(pid);
        let thread = Thread {
            id,
            name: name_of_thread(names.known_thread(id), id),
            recording_label: names.recording_label(id),
            start: names.start(id),
            profiles: vec![self.finish()?],
        };
        let met = MetCondition::of_start(thread.start.as_ref(), id);
        let met = met.map(|met| (thread.profiles[0].recorded_us.0, met));
        let mut process = names.process(pid, vec![thread]);
        process.met_conditions.extend(met);
        if !is_named {
            (process.name, process.command) = (name.to_owned(), name.to_owned());
        }
        Some(process)
    }

    /// Returns the profile; none if the file is not a `.cpuprofile`.
    pub fn finish(mut self) -> Option<ThreadProfile> {
        if !self.is_profile() {
            return None;
        }
        let start_us = self.times.start_us().unwrap_or(0);
        let end_us = self.times.end_us().unwrap_or(start_us);
        if self.deltas.is_empty() {
            let mut last_us = start_us;
            let delta =
                |time: &PlainNumber| PlainNumber(time.0 - mem::replace(&mut last_us, time.0));
            self.deltas = self.times.timestamps.iter().map(delta).collect();
        }
        self.builder.set_start(start_us);
        let nodes = self.samples.iter().map(|id| id.0);
        let positions =
            if self.samples.is_empty() { Vec::new() } else { self.builder.take_positions(nodes) };
        let position = |index: usize| positions.get(index).copied().unwrap_or_default();
        let labels = self.announced.numbers(self.labels.as_deref());
        push_samples(&mut self.builder, &self.samples, &self.deltas, position, &labels, end_us);
        self.builder.extend_to(end_us);
        Some(ThreadProfile { has_ended: true, ..self.builder.finish() })
    }
}

/// Returns the name of a thread within its process. A thread that is not the main one is a worker.
fn name_of_thread(known: Option<&str>, id: i64) -> String {
    let made = || if id == 0 { "main".to_owned() } else { format!("worker {id}") };
    known.map_or_else(made, str::to_owned)
}

fn parse<'a, T: Deserialize<'a>>(key: &str, value: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(value).map_err(|error| invalid(key, &error))
}

fn invalid(key: &str, error: &serde_json::Error) -> String {
    format!("\"{key}\" is not valid: {error}")
}

/// Reads the list of nodes, of which there can be millions, one by one.
struct NodeList<'b> {
    builder: &'b mut ProfileBuilder,
    frames: &'b mut FrameTable,
}

impl<'de> DeserializeSeed<'de> for NodeList<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, list: D) -> Result<(), D::Error> {
        list.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for NodeList<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of nodes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(node) = list.next_element::<NodeJson<'de>>()? {
            node.announce(self.builder, self.frames);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::trace::scan::{Item, Scanner};
    use proptest::prelude::*;

    fn read(text: &str) -> Option<ThreadProfile> {
        let mut frames = FrameTable::new();
        let mut reader = CpuProfileReader::new(ReadScope::SAMPLES);
        let mut scanner = Scanner::new(text.as_bytes());
        while let Ok(Some(item)) = scanner.next() {
            if let Item::Member { key, value } = item {
                let _ = reader.member(key, value, &mut frames);
            }
        }
        reader.finish()
    }

    fn self_times(profile: &ThreadProfile) -> Vec<u64> {
        profile.all_times().map(|times| times.self_us).collect()
    }

    const NODES: &str = r#""nodes":[{"id":1,"callFrame":{"functionName":"main"},"children":[2],
        "hitCount":0},{"id":2,"callFrame":{"functionName":"a"},"hitCount":4}]"#;

    #[test]
    fn members_come_in_any_order() {
        let rest = r#""startTime":100,"endTime":150,"samples":[2,1,2],"timeDeltas":[10,10,10]"#;
        let before = read(&format!("{{{rest},{NODES}}}")).unwrap();
        let after = read(&format!("{{{NODES},{rest}}}")).unwrap();
        assert_eq!((self_times(&before), self_times(&after)), (vec![10, 30], vec![10, 30]));
        assert_eq!(before.nodes[1].parent, 0);
        assert_eq!(
            (before.start_us, before.end_us, before.samples.first().map(|sample| sample.time_us)),
            (100, 150, Some(110))
        );
    }

    #[test]
    fn samples_without_times_are_spread_evenly() {
        let text = format!(r#"{{{NODES},"startTime":0,"endTime":40,"samples":[1,2,2,1]}}"#);
        let profile = read(&text).unwrap();
        assert_eq!(self_times(&profile), [20, 20]);
        assert_eq!(profile.samples.iter().nth(3).unwrap().time_us, 30);
    }

    #[test]
    fn nodes_without_samples_share_the_time_by_their_hits() {
        let profile = read(&format!(r#"{{{NODES},"startTime":0,"endTime":40}}"#)).unwrap();
        assert_eq!(self_times(&profile), [0, 40]);
        assert_eq!(profile.sample_count, 4);
    }

    #[test]
    fn samples_get_the_lines_of_their_node() {
        let lines_at = |url: &str, ticks: &str| -> Vec<u32> {
            let nodes = NODES.replace(r#""hitCount":4"#, ticks);
            let nodes = nodes.replace(r#""a""#, &format!(r#""a","url":"{url}""#));
            let rest = r#""startTime":0,"samples":[2,1,2,2,2],"timeDeltas":[1,1,1,1,1]"#;
            let profile = read(&format!("{{{nodes},{rest}}}")).unwrap();
            assert_eq!(profile.samples.iter().nth(1).unwrap().position.line, 0);
            let mut lines: Vec<_> =
                profile.samples.iter().map(|sample| sample.position.line).collect();
            lines.remove(1);
            lines.sort_unstable();
            lines
        };
        let lines = |ticks: &str| lines_at("/a.js", ticks);
        let three = r#""positionTicks":[{"line":9,"ticks":1},{"line":8,"ticks":2}]"#;
        assert_eq!(lines(three), [0, 8, 8, 9]);
        // A function without a script has the line of its caller.
        assert_eq!(lines_at("", three), [0; 4]);
        let eight = r#""positionTicks":[{"line":9,"ticks":4},{"line":8,"ticks":4}]"#;
        assert_eq!(lines(eight), [8, 8, 9, 9]);
        for strange in ["5", "null", "[{\"line\":1}]", "{}", "[]"] {
            assert_eq!(lines(&format!(r#""positionTicks":{strange}"#)), [0; 4]);
        }
    }

    #[test]
    fn other_objects_are_not_profiles() {
        assert!(read("{\"traceEvents\":[]}").is_none());
        assert!(read("{}").is_none());
    }

    proptest! {
        #[test]
        fn a_file_cut_anywhere_does_no_harm(cut in 0_usize..220) {
            let text = format!(r#"{{{NODES},"startTime":1,"endTime":9,"samples":[1,7],"timeDeltas":[1]}}"#);
            read(&text[..cut.min(text.len())]);
        }
    }
}
