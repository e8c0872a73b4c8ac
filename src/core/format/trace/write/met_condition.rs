//! The mark of a condition that was met, which DevTools draws over the whole trace.

use serde_json::json;

use super::event::{At, Event};
use super::event_args::{Args, Data, TimingArgs};
use super::events::Events;
use super::thread::ThreadTrace;
use super::timing::USER_TIMING;
use crate::profile::met_condition::MetCondition;

/// Start of the marks' names, by which readers recognise them.
pub const CONDITION_MARK: &str = "cpu-prof: ";

impl ThreadTrace {
    /// Adds the mark of a condition that was met at `time_us`.
    pub fn met_condition(&self, events: &mut Events, time_us: i64, met: &MetCondition) {
        mark_condition(events, self.at(time_us), met);
    }
}

/// Adds the mark of a condition that was met.
pub fn mark_condition(events: &mut Events, at: At, met: &MetCondition) {
    let name = format!("{CONDITION_MARK}{}", met.reason);
    let detail = json!({ "devtools": {
        "dataType": "marker",
        "color": "error",
        "tooltipText": met.sentence(),
    }})
    .to_string();
    let timing = TimingArgs { start_time: at.ts as f64 / 1000.0, detail: Some(&detail) };
    let args = Args::Data { data: Data::MetCondition { timing, condition: met } };
    events.push(&Event::moment(USER_TIMING, &name, at, args));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::trace::write::thread::tests::info;
    use crate::profile::program::NodeModules;

    #[test]
    fn a_met_condition_has_the_form_that_devtools_reads() {
        let trace = ThreadTrace::new(info(0, NodeModules::Foldable), 0);
        let (reason, observed) = ("stall>500ms".into(), "612 ms".into());
        let mut events = Events::default();
        let met = MetCondition { reason, observed, is_kept: true };
        trace.met_condition(&mut events, 80_500, &met);
        assert_eq!(
            std::str::from_utf8(events.as_bytes()).unwrap(),
            r#"{"cat":"blink.user_timing","name":"cpu-prof: stall>500ms","ph":"I","s":"t","pid":4242,"tid":0,"ts":80500,"args":{"data":{"startTime":80.5,"detail":"{\"devtools\":{\"color\":\"error\",\"dataType\":\"marker\",\"tooltipText\":\"Kept because the event loop had stood still for 612 ms (stall>500ms).\"}}","condition":{"reason":"stall>500ms","observed":"612 ms","isKept":true}}}}"#
        );
    }
}
