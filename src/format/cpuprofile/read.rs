//! A `.cpuprofile` back into a profile, member by member, in whatever order they stand.

use crate::format::deltas::push_samples;
use crate::format::node_json::NodeJson;
use crate::format::number::Number;
use crate::profile::builder::ProfileBuilder;
use crate::profile::frame_table::FrameTable;
use crate::profile::thread_profile::{ReadScope, ThreadProfile};

/// Reads the members of one file.
#[derive(Debug)]
pub(crate) struct CpuProfileReader {
    building: ProfileBuilder,
    has_nodes: bool,
    start_us: Option<i64>,
    end_us: Option<i64>,
    samples: Vec<Number>,
    deltas: Vec<Number>,
}

impl CpuProfileReader {
    /// Nothing is read yet.
    pub(crate) fn new(wanted: ReadScope) -> Self {
        Self {
            building: ProfileBuilder::new(0, wanted),
            has_nodes: false,
            start_us: None,
            end_us: None,
            samples: Vec::new(),
            deltas: Vec::new(),
        }
    }

    /// A member of the file's object, and its text.
    pub(crate) fn member(
        &mut self,
        key: &str,
        value: &[u8],
        frames: &mut FrameTable,
    ) -> Result<(), String> {
        fn parse<'a, T: serde::Deserialize<'a>>(key: &str, value: &'a [u8]) -> Result<T, String> {
            serde_json::from_slice(value).map_err(|error| format!("its {key} are strange: {error}"))
        }
        match key {
            "nodes" => {
                for node in parse::<Vec<NodeJson<'_>>>(key, value)? {
                    node.announce(&mut self.building, frames);
                }
                self.has_nodes = true;
            }
            "samples" => self.samples = parse(key, value)?,
            "timeDeltas" => self.deltas = parse(key, value)?,
            "startTime" => self.start_us = Some(parse::<Number>(key, value)?.0),
            "endTime" => self.end_us = Some(parse::<Number>(key, value)?.0),
            _ => {}
        }
        Ok(())
    }

    /// The profile; none if the file is no `.cpuprofile`.
    pub(crate) fn finish(mut self) -> Option<ThreadProfile> {
        if !self.has_nodes {
            return None;
        }
        let start_us = self.start_us.unwrap_or(0);
        let end_us = self.end_us.unwrap_or(start_us);
        self.building.starts(start_us);
        push_samples(&mut self.building, &self.samples, &self.deltas, end_us);
        self.building.seen(end_us);
        Some(self.building.finish())
    }
}

/// What a file's name tells of the thread in it: process id, thread id, and what is before them.
///
/// Node calls them `CPU.<date>.<time>.<pid>.<thread>.<number>.cpuprofile`, and we do; converted
/// ones are `name.<pid>.<thread>.cpuprofile`.
pub(crate) fn ids_from_file_name(name: &str) -> (Option<(i64, i64)>, &str) {
    let stem = name.strip_suffix(".gz").unwrap_or(name);
    let stem = stem.strip_suffix(".cpuprofile").unwrap_or(stem);
    let number =
        |part: &str| part.parse().ok().filter(|_| part.bytes().all(|byte| byte.is_ascii_digit()));
    let parts: Vec<&str> = stem.split('.').collect();
    match parts.as_slice() {
        ["CPU", date, time, pid, thread, _] if date.len() == 8 && time.len() == 6 => {
            (number(pid).zip(number(thread)), "node")
        }
        [first, .., pid, thread] => match number(pid).zip(number(thread)) {
            Some(ids) => (Some(ids), first),
            None => (None, stem),
        },
        _ => (None, stem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::trace::scan::{Item, Scanner};
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
        profile.nodes.iter().map(|node| node.self_us).collect()
    }

    const NODES: &str = r#""nodes":[{"id":1,"callFrame":{"functionName":"main"},"children":[2],
        "hitCount":0},{"id":2,"callFrame":{"functionName":"a"},"hitCount":4}]"#;

    #[test]
    fn members_stand_in_any_order() {
        let rest = r#""startTime":100,"endTime":150,"samples":[2,1,2],"timeDeltas":[10,10,10]"#;
        let before = read(&format!("{{{rest},{NODES}}}")).unwrap();
        let after = read(&format!("{{{NODES},{rest}}}")).unwrap();
        assert_eq!((self_times(&before), self_times(&after)), (vec![10, 30], vec![10, 30]));
        assert_eq!(before.nodes[1].parent, 0);
        assert_eq!((before.start_us, before.end_us, before.samples[0].time_us), (100, 150, 110));
    }

    #[test]
    fn samples_without_times_are_spread() {
        let text = format!(r#"{{{NODES},"startTime":0,"endTime":40,"samples":[1,2,2,1]}}"#);
        let profile = read(&text).unwrap();
        assert_eq!(self_times(&profile), [20, 20]);
        assert_eq!(profile.samples[3].time_us, 30);
    }

    #[test]
    fn nodes_without_samples_go_by_their_hits() {
        let profile = read(&format!(r#"{{{NODES},"startTime":0,"endTime":40}}"#)).unwrap();
        assert_eq!(self_times(&profile), [0, 40]);
        assert_eq!(profile.sample_count, 4);
    }

    #[test]
    fn other_objects_are_no_profile() {
        assert!(read("{\"traceEvents\":[]}").is_none());
        assert!(read("{}").is_none());
    }

    #[test]
    fn names_tell_process_and_thread() {
        for (name, told) in [
            ("CPU.20260304.050607.4242.3.001.cpuprofile", (Some((4242, 3)), "node")),
            ("out.4242.0.cpuprofile.gz", (Some((4242, 0)), "out")),
            ("build.cpuprofile", (None, "build")),
            ("a.b.c.cpuprofile", (None, "a.b.c")),
            ("1.2", (None, "1.2")),
            ("", (None, "")),
        ] {
            assert_eq!(ids_from_file_name(name), told, "{name}");
        }
    }

    proptest! {
        #[test]
        fn a_file_cut_anywhere_does_no_harm(cut in 0_usize..220) {
            let text = format!(r#"{{{NODES},"startTime":1,"endTime":9,"samples":[1,7],"timeDeltas":[1]}}"#);
            read(&text[..cut.min(text.len())]);
        }
    }
}
