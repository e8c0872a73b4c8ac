//! The traces that this process writes, for the thread that sends them.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Time for which a trace is known after its end: its last windows are not sent at once.
const KNOWN_AFTER_END: Duration = Duration::from_secs(120);

/// The traces that are known; none in a process that sends nothing.
static KNOWN: Mutex<Option<KnownTraces>> = Mutex::new(None);

#[derive(Debug, Default)]
struct KnownTraces {
    traces: Vec<KnownTrace>,
    /// Id of the next trace.
    next: u64,
}

#[derive(Debug)]
struct KnownTrace {
    id: u64,
    path: PathBuf,
    ended: Option<Instant>,
}

/// A trace that grows. It has ended when this is dropped.
#[derive(Debug)]
pub(crate) struct GrowingTrace(Option<u64>);

/// Notes the traces that begin from now on.
pub(crate) fn begin() {
    KNOWN.lock().get_or_insert_default();
}

/// Returns the traces that grow, or have ended not long ago.
pub(crate) fn paths() -> Vec<PathBuf> {
    let mut known = KNOWN.lock();
    let Some(KnownTraces { traces, .. }) = &mut *known else { return Vec::new() };
    traces.retain(|trace| trace.ended.is_none_or(|ended| ended.elapsed() < KNOWN_AFTER_END));
    traces.iter().map(|trace| trace.path.clone()).collect()
}

impl GrowingTrace {
    /// Notes a trace that was created.
    pub(crate) fn of(path: PathBuf) -> Self {
        let mut known = KNOWN.lock();
        let Some(KnownTraces { traces, next }) = &mut *known else { return Self(None) };
        let id = *next;
        *next += 1;
        traces.push(KnownTrace { id, path, ended: None });
        Self(Some(id))
    }
}

impl Drop for GrowingTrace {
    fn drop(&mut self) {
        let Some(id) = self.0 else { return };
        if let Some(known) = &mut *KNOWN.lock()
            && let Some(trace) = known.traces.iter_mut().find(|trace| trace.id == id)
        {
            trace.ended = Some(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_known_until_some_time_after_its_end() {
        drop(GrowingTrace::of("before".into()));
        assert_eq!(paths(), Vec::<PathBuf>::new());
        begin();
        let (first, second) = (GrowingTrace::of("a".into()), GrowingTrace::of("b".into()));
        drop(first);
        assert_eq!(paths(), ["a", "b"].map(PathBuf::from));
        let long_ago = Instant::now().checked_sub(KNOWN_AFTER_END);
        if let Some(known) = &mut *KNOWN.lock() {
            known.traces[0].ended = long_ago;
        }
        assert_eq!(paths(), [PathBuf::from("b")]);
        begin();
        assert_eq!(paths(), [PathBuf::from("b")], "the second call changes nothing");
        drop(second);
    }
}
