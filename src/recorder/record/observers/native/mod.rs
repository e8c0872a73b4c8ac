//! Native work: the CPU time of the threads that run no JavaScript, in each recording of a main thread; and with the
//! category, the native functions above those of JavaScript, and the traces of such threads.

mod cpu_use;
mod lane;
mod lanes;
mod pairing;
mod thread_ticks;

use std::sync::Arc;

use self::cpu_use::NativeThreads;
use self::lanes::{LanePlan, NativeLanes};
use self::pairing::NativePairing;
use super::observer::{
    FoundEvents, Halves, Moment, Observer, SignalReads, Start, ThreadObserver, WriterObserver,
    WrittenWindow,
};
use crate::record::files::totals::RecordingTotals;
use crate::sampler::native::ThreadStacks;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::settings::categories::Category;
use cpu_prof_core::base::settings::values::Source;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::profile::cpu_use::NativeSpan;
use cpu_prof_core::profile::window::Window;

/// The observer of native work.
pub(super) const OBSERVER: Observer =
    Observer { categories: &[Category::Native], is_always_on: true, begin };

fn begin(start: &Start<'_>) -> Halves {
    // A `.cpuprofile` has these functions, too.
    let has_functions = start.config.categories.has(Category::Native);
    let stacks = if has_functions { stacks_of_this_thread(start.source) } else { None };
    let is_main = start.thread.link.thread.is_main;
    let has_lanes = start.wants(Category::Native) && is_main && start.source != Source::Inspector;
    let plan = || LanePlan::new(start.config, start.names, start.info, start.thread.start_us);
    let writer = NativeWork {
        is_main,
        threads: None,
        untold: None,
        lanes: has_lanes.then(|| NativeLanes::new(plan())),
        stacks: stacks.clone().map(|stacks| (stacks, NativePairing::default())),
    };
    Halves {
        thread: stacks.map(|stacks| Box::new(NativeStacks(stacks)) as Box<dyn ThreadObserver>),
        writer: Some(Box::new(writer)),
    }
}

/// Lets the native stacks of this thread be copied, as far as that is possible.
fn stacks_of_this_thread(source: Source) -> Option<Arc<ThreadStacks>> {
    let stacks = match source {
        Source::V8 | Source::Walk => ThreadStacks::of_this_thread(),
        Source::Inspector => Err(Error::Native("this needs CPU_PROF_SOURCE=v8".into())),
    };
    stacks.inspect_err(warn_once).ok()
}

/// The native stacks of the samples that are not written yet.
struct NativeStacks(Arc<ThreadStacks>);

impl ThreadObserver for NativeStacks {
    fn add_reads(&self, reads: &mut SignalReads) {
        reads.stacks = Some(Arc::clone(&self.0.ring));
    }
}

/// Native work, on the writer thread.
struct NativeWork {
    is_main: bool,
    /// None for a worker, and where the system does not list threads.
    threads: Option<NativeThreads>,
    /// What threads used, until that is written.
    untold: Option<NativeSpan>,
    /// Traces of threads; none if they are not wanted.
    lanes: Option<NativeLanes>,
    /// Stacks of the thread's samples; none if they are not wanted.
    stacks: Option<(Arc<ThreadStacks>, NativePairing)>,
}

impl NativeWork {
    /// Adds what threads have used until now, and was not told.
    fn add_use(&mut self, is_last: bool, at: &Moment<'_>, found: &mut FoundEvents) {
        self.untold = None;
        let Some(threads) = &mut self.threads else { return };
        threads.look(is_last);
        self.untold = threads.untold(at.until_us, is_last);
        if let Some(span) = &self.untold {
            at.trace.native_threads(&mut found.lasting, span);
        }
    }
}

impl WriterObserver for NativeWork {
    /// Looks at the threads for the first time.
    fn open(&mut self) {
        if self.is_main {
            self.threads = NativeThreads::now();
        }
        self.lanes.iter_mut().for_each(NativeLanes::begin);
    }

    /// Extends the stacks, after all that take V8's.
    fn after_passes(&mut self, window: &mut Window) {
        if let Some((stacks, pairing)) = &mut self.stacks {
            pairing.extend(window, stacks);
        }
    }

    fn window(&mut self, _: &WrittenWindow<'_>, at: &Moment<'_>, found: &mut FoundEvents) {
        self.add_use(false, at, found);
    }

    fn wait(&mut self, _: Option<i64>, at: &Moment<'_>, found: &mut FoundEvents) {
        self.add_use(false, at, found);
    }

    fn end(&mut self, _: bool, at: &Moment<'_>, found: &mut FoundEvents) {
        self.add_use(true, at, found);
        self.wrote();
    }

    fn wrote(&mut self) {
        if let Some((threads, span)) = self.threads.as_mut().zip(self.untold.take()) {
            threads.told(&span);
        }
    }

    fn write_files(&mut self, is_last: bool, events: &mut Events) {
        if let Some(lanes) = &mut self.lanes {
            lanes.write(self.threads.as_ref(), is_last, events);
        }
    }

    fn end_files(&mut self, end_us: i64, is_provisional: bool, events: &mut Events) {
        self.lanes.iter_mut().for_each(|lanes| lanes.end(end_us, is_provisional, events));
    }

    fn hold_files(&mut self, until_us: i64) {
        self.lanes.iter_mut().for_each(|lanes| lanes.hold(until_us));
    }

    fn add_files_to(&self, totals: &mut RecordingTotals) {
        self.lanes.iter().for_each(|lanes| lanes.add_to(totals));
    }
}
