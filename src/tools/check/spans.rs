//! Starts and ends that belong together: calls on a thread, asynchronous work, arrows and objects.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use rustc_hash::FxHashMap;

use cpu_prof_core::format::trace::check::event_text::EventText;
use cpu_prof_core::format::trace::check::problems::Problems;
use cpu_prof_core::format::trace::event::phase::PhaseKind;

/// The most starts without an end that are kept. Real traces have a few thousand at a time.
const MAX_OPEN: usize = 1_000_000;

/// The most characters of a name that are kept.
const NAME_CHARS: usize = 80;

/// The starts that have no end so far.
#[derive(Debug, Default)]
pub(super) struct UnclosedSpans {
    /// Calls of each thread, the innermost last.
    calls: FxHashMap<u64, Vec<OpenCall>>,
    /// Starts of each kind, category and id.
    others: FxHashMap<(SpanKind, u64), OpenStarts>,
    /// Count of all starts that have no end so far.
    open: usize,
    /// Line from which on starts and ends are not compared; none as long as they are.
    gives_up: Option<usize>,
}

#[derive(Debug)]
struct OpenCall {
    line: usize,
    name: Box<str>,
}

#[derive(Debug)]
struct OpenStarts {
    count: usize,
    /// Line of the first.
    line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum SpanKind {
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
        match kind {
            PhaseKind::Begin => {
                let name = event.name.text().unwrap_or_default();
                let name = name.chars().take(NAME_CHARS).collect();
                let call = OpenCall { line: to.line, name };
                self.calls.entry(thread(event)).or_default().push(call);
                self.opened(to.line);
            }
            PhaseKind::End => self.end_call(event, to),
            PhaseKind::AsyncBegin => self.start(SpanKind::Async, event, to.line),
            PhaseKind::AsyncEnd => self.end(SpanKind::Async, "a start (b)", event, to),
            PhaseKind::FlowStart => self.start(SpanKind::Flow, event, to.line),
            PhaseKind::FlowEnd => self.end(SpanKind::Flow, "a start (s)", event, to),
            PhaseKind::ObjectNew => self.start(SpanKind::Object, event, to.line),
            PhaseKind::ObjectDelete => self.end(SpanKind::Object, "a creation (N)", event, to),
            _ => {}
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
        for OpenCall { line, name } in self.calls.into_values().flatten() {
            open.push((line, "B", format!("the call '{name}' (B) never ends").into()));
        }
        for ((kind, _), OpenStarts { count, line }) in self.others {
            let (letter, message) = match kind {
                SpanKind::Async => ("b", "the asynchronous span (b) never ends"),
                SpanKind::Flow => ("s", "the arrow (s) has no end (f)"),
                // An object can live as long as the program.
                SpanKind::Object => continue,
            };
            open.extend(std::iter::repeat_n((line, letter, message.into()), count));
        }
        open.sort();
        for (line, letter, message) in open {
            to.line = line;
            to.warn(letter, "ph", message);
        }
    }

    fn opened(&mut self, line: usize) {
        self.open += 1;
        if self.open > MAX_OPEN {
            *self = Self { gives_up: Some(line), ..Self::default() };
        }
    }

    fn end_call(&mut self, event: &EventText<'_>, to: &mut Problems) {
        let thread = thread(event);
        let begun = self.calls.get_mut(&thread).and_then(Vec::pop);
        let Some(OpenCall { line: start, name: begun }) = begun else {
            let message = "an end (E) without a start (B) on its thread: viewers leave it out";
            return to.warn("E", "ph", message);
        };
        self.open -= 1;
        let name = event.name.text().unwrap_or_default();
        let is_same = name.chars().take(NAME_CHARS).eq(begun.chars());
        if !name.is_empty() && !is_same {
            let message =
                format!("the end of '{name}' closes '{begun}', which started in line {start}");
            to.warn("E name", "name", message);
        }
    }

    fn start(&mut self, kind: SpanKind, event: &EventText<'_>, line: usize) {
        let new = || OpenStarts { count: 0, line };
        self.others.entry((kind, key(event))).or_insert_with(new).count += 1;
        self.opened(line);
    }

    fn end(&mut self, kind: SpanKind, start: &str, event: &EventText<'_>, to: &mut Problems) {
        let key = (kind, key(event));
        let Some(open) = self.others.get_mut(&key) else {
            let message =
                format!("an end without {start} of this category and id: viewers leave it out");
            return to.warn("end", "id", message);
        };
        open.count -= 1;
        if open.count == 0 {
            self.others.remove(&key);
        }
        self.open -= 1;
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn thread(event: &EventText<'_>) -> u64 {
    hash((event.pid, event.tid))
}

/// Returns category, scope and id; a local id is that of its process.
fn key(event: &EventText<'_>) -> u64 {
    let (local, global) = (event.id2.member("local"), event.id2.member("global"));
    let pid = if local.is_null() { "" } else { event.pid.as_written() };
    let categories = event.categories.text();
    hash((categories, event.scope, event.id, global, local, pid))
}
