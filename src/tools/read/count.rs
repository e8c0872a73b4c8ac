//! Counts recordings, which can have several files.

use std::collections::HashSet;
use std::path::PathBuf;

use serde_json::Value;

use super::sniff::read_header;
use cpu_prof_core::files::find::find;
use cpu_prof_core::files::input::Input;
use cpu_prof_core::profile::session::Identity;

/// Returns the count of recordings in these files. The segments of a recording count once.
pub(crate) fn count_recordings(files: &[PathBuf]) -> usize {
    let mut chains = HashSet::new();
    let is_new = |input: &&Input| chain(input).is_none_or(|chain| chains.insert(chain));
    find(files).0.iter().filter(is_new).count()
}

/// Returns what the segments of one recording have in common; none if the file is no segment.
fn chain(input: &Input) -> Option<(u32, Option<Identity>, u64)> {
    let header = read_header(input)?;
    let number = header.program.get("recording").and_then(Value::as_u64)?;
    Some((header.pid?, header.identity(), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    use cpu_prof_core::testing::traces::MAIN;

    #[test]
    fn segments_count_once() {
        let dir = tempfile::tempdir().unwrap();
        let segment = |recording: u32, segment: u32| {
            let facts = format!("\"recording\":{recording},\"segment\":{segment},\"threadId\":");
            MAIN.replacen("\"threadId\":", &facts, 1)
        };
        let files = [
            ("a.trace.json", segment(1, 3)),
            ("b.trace.json", segment(1, 4)),
            ("c.trace.json", segment(2, 1)),
            ("d.trace.json", segment(1, 3).replace("\"pid\":4242", "\"pid\":4243")),
            ("e.trace.json", MAIN.to_owned()),
            ("f.trace.json", MAIN.to_owned()),
            ("g.cpuprofile", "{\"nodes\":[]}".to_owned()),
        ];
        let paths = files.map(|(name, text)| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        });
        assert_eq!(count_recordings(&paths), 6);
    }
}
