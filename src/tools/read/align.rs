//! Moves the times of inputs, so that what happened at one time stands at one time.

use std::io::Read;

use memchr::memmem;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;

use super::sniff::is_recording;
use super::time_line::find_times;
use cpu_prof_core::files::input::Input;
use cpu_prof_core::format::number::Number;
use cpu_prof_core::format::trace::scan::{Item, Scanner};
use cpu_prof_core::profile::time_shift::TimeShift;

/// Moves the inputs of each given path, so that all begin when those of the first begin.
pub(crate) fn align_starts(inputs: &mut [Input]) {
    let mut first_us = None;
    for group in inputs.chunk_by_mut(|one, other| one.group == other.group) {
        let times = find_times(group);
        let Some((start_us, _)) = times.line() else { continue };
        let us = first_us.get_or_insert(start_us).saturating_sub(start_us);
        let shift = TimeShift { us, has_zero: times.has_zero() };
        group.iter_mut().for_each(|input| input.shift = shift);
    }
}

/// Moves traces to one clock, where they have events that tell one moment by the clock of each
/// (`clock_sync`). A trace stays if no earlier trace tells one of its moments.
pub(crate) fn align_clocks(inputs: &mut [Input]) {
    if inputs.len() < 2 {
        return;
    }
    let ids: Vec<FxHashSet<Vec<u8>>> = inputs.iter().map(sync_ids).collect();
    let mut counts: FxHashMap<&[u8], usize> = FxHashMap::default();
    for id in ids.iter().flatten() {
        *counts.entry(id).or_default() += 1;
    }
    // Moments by the clock of the traces before, microseconds.
    let mut known: FxHashMap<String, i64> = FxHashMap::default();
    for (input, ids) in inputs.iter_mut().zip(&ids) {
        if !ids.iter().any(|id| counts.get(id.as_slice()).is_some_and(|count| *count > 1)) {
            continue;
        }
        let moments = read_moments(input);
        let distance = |(id, us): (&String, &i64)| Some(known.get(id)?.saturating_sub(*us));
        if let Some(us) = moments.iter().find_map(distance) {
            let has_zero = find_times(std::slice::from_ref(input)).has_zero();
            input.shift = TimeShift { us, has_zero };
        }
        for (id, us) in moments {
            known.entry(id).or_insert(us.saturating_add(input.shift.us));
        }
    }
}

/// Name of an event that tells a moment.
const CLOCK_SYNC: &str = "clock_sync";

/// Returns the ids of moments in the text of an input, without parsing the text.
fn sync_ids(input: &Input) -> FxHashSet<Vec<u8>> {
    const PIECE: u64 = 1 << 20;
    /// Longest text from a key to the end of its value, bytes.
    const LONGEST: usize = 256;
    let mut ids = FxHashSet::default();
    let Some(mut file) = (!is_recording(input)).then(|| input.open().ok()).flatten() else {
        return ids;
    };
    let mut buffer = Vec::with_capacity(PIECE as usize + LONGEST);
    let key = memmem::Finder::new(b"\"sync_id\"");
    loop {
        // An id can begin at the end of a piece.
        let kept = buffer.len().min(LONGEST);
        buffer.drain(..buffer.len() - kept);
        if !matches!(file.by_ref().take(PIECE).read_to_end(&mut buffer), Ok(1..)) {
            return ids;
        }
        for at in key.find_iter(&buffer) {
            let mut texts = buffer[at..].splitn(5, |byte| *byte == b'"');
            // "sync_id" : "…"
            if let (Some(id), Some(_)) = (texts.nth(3), texts.next()) {
                ids.insert(id.to_owned());
            }
        }
    }
}

/// Reads the moments of a trace by their ids, microseconds.
fn read_moments(input: &Input) -> FxHashMap<String, i64> {
    let mut moments = FxHashMap::default();
    let Ok(reader) = input.open() else { return moments };
    let mut scanner = Scanner::new(reader);
    let finder = memmem::Finder::new(CLOCK_SYNC);
    while let Ok(Some(item)) = scanner.next() {
        if let Item::Event(event) = item
            && finder.find(event).is_some()
            && let Some((id, us)) = moment(event)
        {
            moments.entry(id).or_insert(us);
        }
    }
    moments
}

/// Returns the id and the time of the moment that an event tells, microseconds.
fn moment(event: &[u8]) -> Option<(String, i64)> {
    #[derive(Deserialize)]
    struct ClockSync {
        name: String,
        ph: String,
        ts: Number,
        args: ClockSyncArgs,
    }
    #[derive(Deserialize)]
    struct ClockSyncArgs {
        sync_id: String,
        issue_ts: Option<Number>,
    }
    let ClockSync { name, ph, ts, args } = serde_json::from_slice(event).ok()?;
    if name != CLOCK_SYNC || ph != "c" {
        return None;
    }
    // The issuer knows when it sent the id, and when it had an answer: the moment is between them.
    let issued_us = args.issue_ts.unwrap_or(ts).0;
    Some((args.sync_id, issued_us.saturating_add(ts.0.saturating_sub(issued_us) / 2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::files::find::find;

    fn trace(events: &[(i64, &str)]) -> String {
        let event = |(ts, more): &(i64, &str)| {
            format!(r#"{{"name":"x","ph":"X","pid":1,"tid":1,"ts":{ts},"dur":1{more}}}"#)
        };
        let events: Vec<String> = events.iter().map(event).collect();
        format!("[{}]", events.join(",\n"))
    }

    fn sync(ts: i64, id: &str, issue_ts: Option<i64>) -> String {
        let issued = issue_ts.map_or(String::new(), |ts| format!(r#","issue_ts":{ts}"#));
        format!(
            r#"[{{"name":"clock_sync","ph":"c","pid":1,"tid":1,"ts":{ts},"args":{{"sync_id":"{id}"{issued}}}}},
            {{"name":"x","ph":"X","pid":1,"tid":1,"ts":{},"dur":1}}]"#,
            ts + 5
        )
    }

    fn shifts(files: &[String], align: impl Fn(&mut [Input])) -> Vec<i64> {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<_> =
            (0..files.len()).map(|number| dir.path().join(format!("{number}.json"))).collect();
        for (path, text) in paths.iter().zip(files) {
            std::fs::write(path, text).unwrap();
        }
        let (mut inputs, _) = find(&paths);
        align(&mut inputs);
        inputs.iter().map(|input| input.shift.us).collect()
    }

    #[test]
    fn each_path_begins_with_the_first() {
        let files = [trace(&[(500, ""), (900, "")]), trace(&[(20_000_000_000, "")]), trace(&[])];
        assert_eq!(shifts(&files, align_starts), [0, 500 - 20_000_000_000, 0]);
    }

    #[test]
    fn traces_meet_in_the_moments_that_they_share() {
        // The issuer sent the id at 100 and had the answer at 120.
        let files = [
            sync(120, "a", Some(100)),
            sync(7_000, "a", None),
            trace(&[(1, "")]),
            sync(9_000, "other", None),
        ];
        assert_eq!(shifts(&files, align_clocks), [0, 110 - 7_000, 0, 0]);
        assert_eq!(shifts(&files[1..], align_clocks), [0, 0, 0]);
    }
}
