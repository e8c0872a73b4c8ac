//! Starts and ends that belong together: calls on a thread, asynchronous work, arrows and objects.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::phases::PhaseKind;
use super::problems::Problems;

/// The starts that have no end so far.
#[derive(Debug, Default)]
pub(super) struct UnclosedSpans {
    /// Lines and names of calls, by process and thread.
    calls: FxHashMap<String, Vec<(usize, String)>>,
    /// Lines of starts, by kind, category and id.
    others: FxHashMap<(&'static str, String), Vec<usize>>,
}

impl UnclosedSpans {
    /// Checks whether an event fits to the events before.
    pub(super) fn event(&mut self, kind: PhaseKind, event: &Value, line: usize, to: &mut Problems) {
        let name = event["name"].as_str().unwrap_or_default();
        match kind {
            PhaseKind::Begin => {
                self.calls.entry(thread(event)).or_default().push((line, name.to_owned()));
            }
            PhaseKind::End => match self.calls.entry(thread(event)).or_default().pop() {
                None => to.error("E", line, "ph", "an end (E) without a start (B) on its thread"),
                Some((start, other)) if !name.is_empty() && name != other => to.warn(
                    "E name",
                    line,
                    "name",
                    format!("the end of '{name}' closes '{other}', which started in line {start}"),
                ),
                Some(_) => {}
            },
            PhaseKind::AsyncBegin => self.start("async", event, line),
            PhaseKind::AsyncEnd => self.end("async", "a start (b)", event, line, to),
            PhaseKind::FlowStart => self.start("flow", event, line),
            PhaseKind::FlowEnd => self.end("flow", "a start (s)", event, line, to),
            PhaseKind::ObjectNew => self.start("object", event, line),
            PhaseKind::ObjectDelete => self.end("object", "a creation (N)", event, line, to),
            _ => {}
        }
    }

    /// Adds the starts that have no end.
    pub(super) fn finish(self, to: &mut Problems) {
        let mut open: Vec<(usize, String)> = self.calls.into_values().flatten().collect();
        open.sort();
        for (line, name) in open {
            to.warn("B", line, "ph", format!("the call '{name}' (B) never ends"));
        }
        let mut open: Vec<(usize, &str)> = Vec::new();
        for ((what, _), lines) in self.others {
            open.extend(lines.into_iter().map(|line| (line, what)));
        }
        open.sort_unstable();
        for (line, what) in open {
            match what {
                "async" => to.warn("b", line, "ph", "the asynchronous span (b) never ends"),
                "flow" => to.warn("s", line, "ph", "the arrow (s) has no end (f)"),
                // An object can live as long as the program.
                _ => {}
            }
        }
    }

    fn start(&mut self, what: &'static str, event: &Value, line: usize) {
        self.others.entry((what, key(event))).or_default().push(line);
    }

    fn end(
        &mut self,
        what: &'static str,
        start: &str,
        event: &Value,
        line: usize,
        to: &mut Problems,
    ) {
        let open = self.others.get_mut(&(what, key(event)));
        if open.and_then(Vec::pop).is_none() {
            to.error(what, line, "id", format!("an end without {start} of this category and id"));
        }
    }
}

fn thread(event: &Value) -> String {
    format!("{} {}", event["pid"], event["tid"])
}

/// Returns category, scope and id; a local id is that of its process.
fn key(event: &Value) -> String {
    let local = &event["id2"]["local"];
    let pid = if local.is_null() { &Value::Null } else { &event["pid"] };
    format!(
        "{} {} {} {} {} {pid}",
        event["cat"], event["scope"], event["id"], event["id2"]["global"], local
    )
}
