//! What of another tool's trace is not in the output: nothing is left out without a word.

use std::path::Path;

use cpu_prof_core::base::name_list::first_of;
use cpu_prof_core::format::json_walk::count_items;

/// Members of a trace's object that say nothing about the program, or that the merge understands.
const UNDERSTOOD: [&str; 6] =
    ["displayTimeUnit", "metadata", "otherData", "source", "stackFrames", "traceEvents"];

/// Members that a note names.
const SHOWN: usize = 5;

/// The parts of a trace that are left out.
#[derive(Debug, Default)]
pub struct LeftOut {
    /// Events that break a rule of the format.
    pub events: u64,
    /// Samples without a thread, a time or a stack.
    pub samples: u64,
    /// Members of the trace's object, each with its size.
    members: Vec<String>,
}

impl LeftOut {
    /// Notes a member of the trace's object, which is no list of samples.
    pub fn member(&mut self, key: &str, value: &[u8]) {
        let is_empty = matches!(value, b"null" | b"[]" | b"{}" | b"\"\"");
        if UNDERSTOOD.contains(&key) || is_empty {
            return;
        }
        let size = match count_items(value) {
            Some(1) => "1 entry".to_owned(),
            Some(count) => format!("{count} entries"),
            None => format!("{} bytes", value.len()),
        };
        self.members.push(format!("{key} ({size})"));
    }

    /// Returns a note for the user; none if nothing is left out.
    pub(super) fn note(&self, path: &Path) -> Option<String> {
        let count = |count: u64, what: &str, why: &str| {
            let plural = if count == 1 { "" } else { "s" };
            (count > 0).then(|| format!("{count} {what}{plural} {why}"))
        };
        let events = count(self.events, "event", "against the rules of the format");
        let samples = count(self.samples, "sample", "without a thread, a time or a stack");
        let members = (!self.members.is_empty()).then(|| {
            format!("what no viewer reads in a merged trace: {}", first_of(&self.members, SHOWN))
        });
        let parts: Vec<String> = [events, samples, members].into_iter().flatten().collect();
        let path = path.display();
        (!parts.is_empty()).then(|| {
            format!("{path}: left out {} (cpu-prof check names what is wrong)", parts.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_has_counts() {
        let mut left_out = LeftOut { events: 1, samples: 20, ..LeftOut::default() };
        left_out.member("metadata", b"{\"a\":1}");
        left_out.member("powerTraceAsString", b"\"\"");
        left_out.member("systemTraceEvents", b"\"# tracer\"");
        left_out.member("other", b"[1, [2], 3]");
        left_out.member("map", b"{\"a\":1}");
        let note = left_out.note(Path::new("a.json")).unwrap();
        assert_eq!(
            note,
            "a.json: left out 1 event against the rules of the format, 20 samples without a thread, a time or a \
             stack, what no viewer reads in a merged trace: systemTraceEvents (10 bytes), other (3 entries), map \
             (1 entry) (cpu-prof check names what is wrong)"
        );
        assert_eq!(LeftOut::default().note(Path::new("a.json")), None);
    }
}
