//! Starts and ends that belong together: calls on a thread, asynchronous work, arrows and objects.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use rustc_hash::FxHashMap;

use cpu_prof_core::format::trace::check::event_text::EventText;
use cpu_prof_core::format::trace::check::problems::Problems;
use cpu_prof_core::format::trace::phase::PhaseKind;

/// The most starts without an end that are kept. Real traces have a few thousand at a time.
const MAX_OPEN: usize = 1_000_000;

/// The most characters of a name that are kept.
const NAME_CHARS: usize = 80;

/// The starts that have no end so far.
#[derive(Debug, Default)]
pub(super) struct UnclosedSpans {
    /// Starts of each thread, or of each category and id, the innermost last.
    starts: FxHashMap<(SpanKind, u64), Vec<SpanStart>>,
    /// Count of all starts that have no end so far.
    open: usize,
    /// Line from which on starts and ends are not compared; none as long as they are.
    gives_up: Option<usize>,
}

#[derive(Debug)]
struct SpanStart {
    line: usize,
    /// Name of a call.
    name: Box<str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum SpanKind {
    Call,
    Async,
    Flow,
    Object,
}

impl UnclosedSpans {
    /// Checks whether an event fits to the events before. An end without a start is a warning: viewers
    /// leave the end out, and traces can begin in the middle of a call.
    pub(super) fn event(&mut self, kind: PhaseKind, event: &EventText<'_>, to: &mut Problems) {
        if self.gives_up.is_some() {
            return;
        }
        let (span, is_start) = match kind {
            PhaseKind::Begin => (SpanKind::Call, true),
            PhaseKind::End => (SpanKind::Call, false),
            PhaseKind::AsyncBegin => (SpanKind::Async, true),
            PhaseKind::AsyncEnd => (SpanKind::Async, false),
            PhaseKind::FlowStart => (SpanKind::Flow, true),
            PhaseKind::FlowEnd => (SpanKind::Flow, false),
            PhaseKind::ObjectNew => (SpanKind::Object, true),
            PhaseKind::ObjectDelete => (SpanKind::Object, false),
            _ => return,
        };
        let is_call = span == SpanKind::Call;
        let key = (span, if is_call { thread(event) } else { key(event) });
        let name = if is_call { event.get("name").text().unwrap_or_default() } else { "".into() };
        let name: Box<str> = name.chars().take(NAME_CHARS).collect();
        if is_start {
            self.starts.entry(key).or_default().push(SpanStart { line: to.line, name });
            self.open += 1;
            if self.open > MAX_OPEN {
                *self = Self { gives_up: Some(to.line), ..Self::default() };
            }
            return;
        }
        let starts = self.starts.entry(key).or_default();
        let start = starts.pop();
        if starts.is_empty() {
            self.starts.remove(&key);
        }
        let Some(start) = start else { return startless(span, to) };
        self.open -= 1;
        if !name.is_empty() && name != start.name {
            let SpanStart { line, name: begun } = start;
            let message =
                format!("the end of '{name}' closes '{begun}', which started in line {line}");
            to.warn("E name", "name", message);
        }
    }

    /// Adds the starts that have no end.
    pub(super) fn finish(self, to: &mut Problems) {
        if let Some(line) = self.gives_up {
            let message = format!(
                "{MAX_OPEN} starts have no end so far: from here on, starts and ends are not \
                 compared"
            );
            to.line = line;
            return to.warn("open", "ph", message);
        }
        let mut open: Vec<(usize, &str, Cow<'_, str>)> = Vec::new();
        for ((kind, _), starts) in self.starts {
            let first = starts.first().map_or(0, |start| start.line);
            for SpanStart { line, name } in starts {
                open.push(match kind {
                    SpanKind::Call => {
                        (line, "B", format!("the call '{name}' (B) never ends").into())
                    }
                    SpanKind::Async => (first, "b", "the asynchronous span (b) never ends".into()),
                    SpanKind::Flow => (first, "s", "the arrow (s) has no end (f)".into()),
                    // An object can live as long as the program.
                    SpanKind::Object => break,
                });
            }
        }
        open.sort();
        for (line, letter, message) in open {
            to.line = line;
            to.warn(letter, "ph", message);
        }
    }
}

/// Adds an end that has no start.
fn startless(span: SpanKind, to: &mut Problems) {
    let start = match span {
        SpanKind::Call => {
            let message = "an end (E) without a start (B) on its thread: viewers leave it out";
            return to.warn("E", "ph", message);
        }
        SpanKind::Async => "a start (b)",
        SpanKind::Flow => "a start (s)",
        SpanKind::Object => "a creation (N)",
    };
    let message = format!("an end without {start} of this category and id: viewers leave it out");
    to.warn("end", "id", message);
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn thread(event: &EventText<'_>) -> u64 {
    hash((event.get("pid"), event.get("tid")))
}

/// Returns category, scope and id; a local id is that of its process.
fn key(event: &EventText<'_>) -> u64 {
    let (local, global) = (event.get("id2").member("local"), event.get("id2").member("global"));
    let pid = if local.is_null() { "" } else { event.get("pid").as_written() };
    let categories = event.get("cat").text();
    hash((categories, event.get("scope"), event.get("id"), global, local, pid))
}
