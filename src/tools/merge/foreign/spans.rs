//! Events that belong together, in slices of the time: spans are clipped to the slices, and an arrow
//! is kept where both of its ends are.

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::merge::output::parts::OutputParts;
use crate::merge::result::MergeError;
use cpu_prof_core::format::trace::event::head::EventHead;

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
    /// Part that the time belongs to.
    part: Option<usize>,
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
    /// Writes an event with a time to the parts of its span. Returns false for other events, which
    /// the caller writes.
    pub(super) fn write(
        &mut self,
        line: &[u8],
        phase: u8,
        (pid, tid): (u32, u32),
        parts: &mut OutputParts,
    ) -> Result<bool, MergeError> {
        let role = role(phase);
        if role.is_none() && phase != b'X' {
            return Ok(false);
        }
        let Some(head) = EventHead::of_any(line) else { return Ok(false) };
        let Some(ts) = head.ts(line) else { return Ok(false) };
        if phase == b'X' {
            write_whole(line, &head, pid, parts)?;
            return Ok(true);
        }
        let Some(role) = role else { return Ok(false) };
        let Some(key) = key(line, phase, (pid, tid)) else { return Ok(false) };
        let event = SpanEvent { line: line.to_owned(), pid, ts, part: parts.slices.part(ts) };
        match role {
            Role::Begin => {
                if let Some(part) = event.part {
                    event.write(part, ts, parts)?;
                }
                self.spans.entry(key).or_default().push(event);
            }
            Role::End => match self.spans.get_mut(&key).and_then(Vec::pop) {
                Some(begin) => begin.end(&event, parts)?,
                None => event.part.map_or(Ok(()), |part| event.write(part, ts, parts))?,
            },
            Role::Flow { is_last } => {
                let mut flow = self.flows.remove(&key).unwrap_or_default();
                flow.push(event);
                if is_last {
                    write_flow(&flow, parts)?;
                } else {
                    self.flows.insert(key, flow);
                }
            }
        }
        Ok(true)
    }

    /// Writes what has not ended. A span without an end lasts until the end of the trace.
    pub(super) fn finish(&mut self, parts: &mut OutputParts) -> Result<(), MergeError> {
        for begin in self.spans.drain().flat_map(|(_, spans)| spans) {
            let first = parts.slices.first_after(begin.ts);
            for part in first..parts.slices.count() {
                begin.write(part, parts.slices.start(part, begin.ts), parts)?;
            }
        }
        self.flows.drain().try_for_each(|(_, flow)| write_flow(&flow, parts))
    }
}

impl SpanEvent {
    /// Ends a span, which this event began: in its part, and in the parts until the end.
    fn end(&self, end: &Self, parts: &mut OutputParts) -> Result<(), MergeError> {
        let first = self.part.unwrap_or_else(|| parts.slices.first_after(self.ts));
        for part in first..parts.slices.count() {
            let (from_us, to_us) = parts.slices.range(part);
            if Some(part) != self.part {
                if from_us >= end.ts {
                    break;
                }
                self.write(part, from_us, parts)?;
            }
            end.write(part, end.ts.min(to_us), parts)?;
        }
        Ok(())
    }

    /// Writes the event to a part, with this time.
    fn write(&self, part: usize, ts: i64, parts: &mut OutputParts) -> Result<(), MergeError> {
        let out = &mut parts.list[part];
        out.note(self.pid, ts);
        if ts == self.ts {
            return out.events(&self.line);
        }
        match EventHead::of_any(&self.line) {
            Some(head) => out.events(&head.moved(&self.line, ts, None)),
            None => Ok(()),
        }
    }
}

/// Writes a span that is one event to all parts with some of its time.
fn write_whole(
    line: &[u8],
    head: &EventHead,
    pid: u32,
    parts: &mut OutputParts,
) -> Result<(), MergeError> {
    let from_us = head.ts(line).unwrap_or_default();
    let to_us = from_us.saturating_add(head.dur(line).unwrap_or_default().max(0));
    let first = parts.slices.part(from_us).unwrap_or_else(|| parts.slices.first_after(from_us));
    for part in first..parts.slices.count() {
        let (start_us, end_us) = parts.slices.range(part);
        if start_us > from_us && start_us >= to_us {
            break;
        }
        let (from, to) = (from_us.max(start_us), to_us.min(end_us));
        let out = &mut parts.list[part];
        out.note(pid, from);
        out.note(pid, to);
        if (from, to) == (from_us, to_us) {
            out.events(line)?;
        } else {
            out.events(&head.moved(line, from, Some(to - from)))?;
        }
    }
    Ok(())
}

/// Writes the events of a flow to the parts that have at least two of them: an arrow needs two ends.
fn write_flow(flow: &[SpanEvent], parts: &mut OutputParts) -> Result<(), MergeError> {
    for event in flow {
        let Some(part) = event.part else { continue };
        if flow.iter().filter(|other| other.part == Some(part)).count() > 1 {
            event.write(part, event.ts, parts)?;
        }
    }
    Ok(())
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
