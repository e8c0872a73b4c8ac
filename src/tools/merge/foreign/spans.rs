//! Events that belong together, in a slice of the time: spans are clipped to the slice, and an arrow
//! is kept if both of its ends are there.

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::merge::output::slice::OutputSlice;
use crate::merge::output::trace::OutputTrace;
use crate::merge::result::MergeError;
use cpu_prof_session::formats::trace::event::head::EventHead;

/// The key that the events of one span or flow share: the thread, or category, scope and id.
type Key = String;

/// The spans and flows of one trace that have not ended.
#[derive(Debug, Default)]
pub(super) struct OpenSpans {
    /// Begun spans, the innermost last.
    spans: FxHashMap<Key, Vec<SpanEvent>>,
    /// Events of flows in their order.
    flows: FxHashMap<Key, Vec<SpanEvent>>,
}

/// An event of a span or a flow, as it is written.
#[derive(Debug)]
struct SpanEvent {
    line: Vec<u8>,
    pid: u32,
    ts: i64,
}

/// The role of an event in its span or flow.
enum Role {
    Begin,
    End,
    Flow { is_last: bool },
}

fn role(phase: u8) -> Option<Role> {
    match phase {
        b'B' | b'b' | b'S' | b'N' => Some(Role::Begin),
        b'E' | b'e' | b'F' | b'D' => Some(Role::End),
        b's' | b't' => Some(Role::Flow { is_last: false }),
        b'f' => Some(Role::Flow { is_last: true }),
        _ => None,
    }
}

impl OpenSpans {
    /// Writes an event with a time as its span needs it. Returns false for other events, which
    /// the caller writes.
    pub(super) fn write(
        &mut self,
        line: &[u8],
        phase: u8,
        (pid, tid): (u32, u32),
        trace: &mut OutputTrace,
    ) -> Result<bool, MergeError> {
        let role = role(phase);
        if role.is_none() && phase != b'X' {
            return Ok(false);
        }
        let Some(head) = EventHead::of_any(line) else { return Ok(false) };
        let Some(ts) = head.ts(line) else { return Ok(false) };
        if phase == b'X' {
            write_whole(line, &head, pid, trace)?;
            return Ok(true);
        }
        let Some(role) = role else { return Ok(false) };
        let Some(key) = key(line, phase, (pid, tid)) else { return Ok(false) };
        let event = SpanEvent { line: line.to_owned(), pid, ts };
        let is_inside = trace.slice.has(ts);
        match role {
            Role::Begin => {
                if is_inside {
                    event.write(ts, trace)?;
                }
                self.spans.entry(key).or_default().push(event);
            }
            Role::End => match self.spans.get_mut(&key).and_then(Vec::pop) {
                Some(begin) => begin.end(&event, trace)?,
                None if is_inside => event.write(ts, trace)?,
                None => {}
            },
            Role::Flow { is_last } => {
                let mut flow = self.flows.remove(&key).unwrap_or_default();
                flow.push(event);
                if is_last {
                    write_flow(&flow, trace)?;
                } else {
                    self.flows.insert(key, flow);
                }
            }
        }
        Ok(true)
    }

    /// Writes what has not ended. A span without an end lasts until the end of the trace.
    pub(super) fn finish(&mut self, trace: &mut OutputTrace) -> Result<(), MergeError> {
        for begin in self.spans.drain().flat_map(|(_, spans)| spans) {
            if begin.ts < trace.slice.from_us {
                begin.write(trace.slice.from_us, trace)?;
            }
        }
        self.flows.drain().try_for_each(|(_, flow)| write_flow(&flow, trace))
    }
}

impl SpanEvent {
    /// Ends a span, which this event began.
    fn end(&self, end: &Self, trace: &mut OutputTrace) -> Result<(), MergeError> {
        let OutputSlice { from_us, to_us, .. } = trace.slice;
        if self.ts < from_us && end.ts > from_us {
            self.write(from_us, trace)?;
        } else if !trace.slice.has(self.ts) {
            return Ok(());
        }
        end.write(end.ts.min(to_us), trace)
    }

    /// Writes the event with this time.
    fn write(&self, ts: i64, trace: &mut OutputTrace) -> Result<(), MergeError> {
        trace.note(self.pid, ts);
        if ts == self.ts {
            return trace.events(&self.line);
        }
        match EventHead::of_any(&self.line) {
            Some(head) => trace.events(&head.moved(&self.line, ts, None)),
            None => Ok(()),
        }
    }
}

/// Writes a span that is one event, if some of its time is in the slice.
fn write_whole(
    line: &[u8],
    head: &EventHead,
    pid: u32,
    trace: &mut OutputTrace,
) -> Result<(), MergeError> {
    let from_us = head.ts(line).unwrap_or_default();
    let to_us = from_us.saturating_add(head.dur(line).unwrap_or_default().max(0));
    let OutputSlice { from_us: start_us, to_us: end_us, .. } = trace.slice;
    if from_us >= end_us || (start_us > from_us && start_us >= to_us) {
        return Ok(());
    }
    let (from, to) = (from_us.max(start_us), to_us.min(end_us));
    trace.note_span(pid, from, to);
    match (from, to) == (from_us, to_us) {
        true => trace.events(line),
        false => trace.events(&head.moved(line, from, Some(to - from))),
    }
}

/// Writes the events of a flow that are in the slice, if there are two of them: an arrow needs two ends.
fn write_flow(flow: &[SpanEvent], trace: &mut OutputTrace) -> Result<(), MergeError> {
    let slice = trace.slice;
    let inside = flow.iter().filter(|event| slice.has(event.ts));
    if inside.clone().count() < 2 {
        return Ok(());
    }
    inside.into_iter().try_for_each(|event| event.write(event.ts, trace))
}

/// Returns what the events of one span have in common.
fn key(line: &[u8], phase: u8, (pid, tid): (u32, u32)) -> Option<Key> {
    if matches!(phase, b'B' | b'E') {
        return Some(format!("{pid} {tid}"));
    }
    let event: Value = serde_json::from_slice(line).ok()?;
    let id = ["id", "id2", "bind_id"].iter().find_map(|key| event.get(*key))?;
    // Only these are told apart by their names.
    let name = if matches!(phase, b'b' | b'e') { None } else { event.get("name") };
    let kind = match phase {
        b's' | b't' | b'f' => "flow",
        b'N' | b'D' => "object",
        _ => "span",
    };
    let of_process =
        if event.get("id2").is_some_and(|id| id.get("global").is_none()) { pid } else { 0 };
    let pieces = [Some(id), event.get("cat"), event.get("scope"), name];
    let text = pieces.iter().map(|piece| piece.map(Value::to_string).unwrap_or_default());
    Some(format!("{kind} {of_process} {}", text.collect::<Vec<_>>().join(" ")))
}
