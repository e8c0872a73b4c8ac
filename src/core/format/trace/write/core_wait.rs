//! The times of which a thread spent a large part on waiting for a core. DevTools draws them above the thread, over
//! the functions that were drawn too long.

use super::event::Event;
use super::event_args::{Args, Data};
use super::events::Events;
use super::thread::ThreadTrace;
use crate::profile::cpu_use::CoreWait;

/// The category by which readers recognise these times, which the counters of heartbeats tell already.
pub const WAITING: &str = "cpu-prof.waiting";
/// The group of the tracks, one for each thread.
const GROUP: &str = "Waiting for a core";
/// What DevTools shows of a time that is selected: JSON.
const DETAILS: &str = r#""The functions ran for less time than is drawn: no core was free, or the process was stopped.""#;

impl ThreadTrace {
    /// Adds a time of which the thread spent a large part on waiting for a core.
    pub fn core_wait(&self, events: &mut Events, CoreWait { from_us, to_us, waited_us }: CoreWait) {
        let ms = |us: i64| (us + 500) / 1000;
        let name = format!("waited {} of {} ms", ms(waited_us), ms(to_us - from_us));
        let data = Data::TimeStamp {
            message: &name,
            name: &name,
            start: from_us,
            end: to_us,
            track: &self.first_name(),
            track_group: Some(GROUP),
            color: "warning",
            devtools: DETAILS,
        };
        let args = Args::Data { data };
        events.push(&Event::moment(WAITING, "TimeStamp", self.at(to_us), args));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::trace::write::thread::tests::info;
    use crate::profile::program::NodeModules;

    #[test]
    fn a_wait_has_the_form_that_devtools_reads() {
        let mut trace = ThreadTrace::new(info(3, NodeModules::Foldable), 0);
        let mut names = Events::default();
        trace.rename_worker(&mut names, "crunch.js");
        let mut events = Events::default();
        let wait = CoreWait { from_us: 10_400, to_us: 510_400, waited_us: 339_600 };
        trace.core_wait(&mut events, wait);
        assert_eq!(
            std::str::from_utf8(events.as_bytes()).unwrap(),
            r#"{"cat":"cpu-prof.waiting","name":"TimeStamp","ph":"I","s":"t","pid":4242,"tid":3,"ts":510400,"args":{"data":{"message":"waited 340 of 500 ms","name":"waited 340 of 500 ms","start":10400,"end":510400,"track":"nx.js (pid 4242) - worker 3","trackGroup":"Waiting for a core","color":"warning","devtools":"\"The functions ran for less time than is drawn: no core was free, or the process was stopped.\""}}}"#
        );
    }
}
