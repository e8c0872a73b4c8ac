//! Writes the thread of a `.cpuprofile` as a trace.

use std::io::{self, Write};

use crate::base::event_lines::{FOOTER, SEPARATOR};
use crate::format::trace::event::Flush;
use crate::format::trace::events::Events;
use crate::format::trace::thread::{ThreadInfo, ThreadTrace};
use crate::profile::program::{NodeModules, Program};
use crate::profile::replay::windows;
use crate::profile::session::{Process, Session, Thread};

/// Writes the session's first thread. `started` is the recording's start: ISO 8601, UTC.
pub(super) fn write(session: &Session, started: &str, out: &mut impl Write) -> io::Result<()> {
    let first = session
        .processes
        .iter()
        .find_map(|process| process.threads.first().map(|thread| (process, thread)));
    let Some((process, thread)) = first else { return Ok(()) };
    let mut trace = ThreadTrace::new(thread_info(process, thread, started), thread.start_us());
    out.write_all(&trace.head())?;
    let mut events = Events::default();
    for (window, placed) in windows(thread, &session.frames) {
        events.clear();
        trace.window(&mut events, &window, &placed, Flush::default());
        append(&events, out)?;
    }
    events.clear();
    trace.close(&mut events, thread.end_us());
    append(&events, out)?;
    out.write_all(FOOTER)
}

fn append(events: &Events, out: &mut impl Write) -> io::Result<()> {
    out.write_all(SEPARATOR)?;
    out.write_all(events.as_bytes())
}

fn thread_info(process: &Process, thread: &Thread, started: &str) -> ThreadInfo {
    let small = |number: i64| u32::try_from(number).unwrap_or(0);
    // A program is named after its script, without the extension.
    let argv = match process.name.as_str() {
        "node" => vec!["node".to_owned()],
        name => vec!["node".to_owned(), format!("{name}.cpuprofile")],
    };
    ThreadInfo {
        program: Program { pid: small(process.pid).max(1), argv, ..Program::default() },
        thread_id: small(thread.id),
        node_modules: NodeModules::Foldable,
        interval_us: small(mean_interval_us(thread)),
        started: started.to_owned(),
        cpu: None,
        segment: None,
    }
}

fn mean_interval_us(thread: &Thread) -> i64 {
    let samples: u64 = thread.profiles.iter().map(|profile| profile.sample_count).sum();
    let length_us = thread.end_us().saturating_sub(thread.start_us());
    length_us.checked_div(i64::try_from(samples).unwrap_or(i64::MAX)).unwrap_or(0)
}
