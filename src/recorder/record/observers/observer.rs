//! What an observer is: one half on the program's thread, one half on the writer thread.
//!
//! The halves share what they like: a channel, or a state behind an `Arc` with locks that are held for moments. An
//! export reaches the half on the calling thread by its type (`with_observer`).

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::record::files::appender::Appender;
use crate::record::files::totals::RecordingTotals;
use crate::record::link::recording_link::RecordingLink;
use crate::sampler::v8::{LabelRing, LabelSource, ScriptNotes, StackRing};
use cpu_prof_core::base::settings::categories::Category;
use cpu_prof_core::base::settings::config::Config;
use cpu_prof_core::base::settings::name_pattern::FileNames;
use cpu_prof_core::base::settings::values::Source;
use cpu_prof_core::base::system;
use cpu_prof_core::base::system::cpu_times::CpuTimes;
use cpu_prof_core::format::trace::write::event::At;
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::format::trace::write::thread::{ThreadInfo, ThreadTrace};
use cpu_prof_core::profile::ending::ProcessEnding;
use cpu_prof_core::profile::gc::{Collection, CollectionTotals};
use cpu_prof_core::profile::window::Window;
use cpu_prof_core::profile::window::call_tree::PlacedWindow;

/// An observer in the list of all.
pub(crate) struct Observer {
    /// The categories that need it.
    pub categories: &'static [Category],
    /// Whether it observes every recording, to which its categories only add.
    pub is_always_on: bool,
    /// Begins to observe the calling thread, whose sampling has just started.
    pub begin: fn(&Start<'_>) -> Halves,
}

/// The halves of an observer; none where it has nothing to do.
#[derive(Default)]
pub(crate) struct Halves {
    /// The half on the program's thread, whose drop ends the observation.
    pub thread: Option<Box<dyn ThreadObserver>>,
    /// The half on the writer thread.
    pub writer: Option<Box<dyn WriterObserver>>,
}

impl Halves {
    /// Returns an observer that is on the writer thread only.
    pub(crate) fn on_writer(writer: impl WriterObserver + 'static) -> Self {
        Self { thread: None, writer: Some(Box::new(writer)) }
    }

    /// Returns an observer with both halves.
    pub(crate) fn both(thread: impl ThreadObserver, writer: impl WriterObserver + 'static) -> Self {
        Self { thread: Some(Box::new(thread)), writer: Some(Box::new(writer)) }
    }
}

/// A recording that starts, as its observers see it.
pub(crate) struct Start<'a> {
    /// Settings.
    pub config: &'a Config,
    /// Source of the samples.
    pub source: Source,
    /// The thread.
    pub thread: &'a ObservedThread,
    /// Whether the time is known that the thread waits for events.
    pub is_idle_known: bool,
    /// What V8 notes of scripts, if V8 is the source.
    pub scripts: Option<Arc<ScriptNotes>>,
    /// Names of the recording's files.
    pub names: &'a FileNames,
    /// Facts of the recording's trace.
    pub info: &'a ThreadInfo,
}

impl Start<'_> {
    /// Returns whether a category is wanted. Without a trace there is no place for events.
    pub(crate) fn wants(&self, category: Category) -> bool {
        self.config.formats.trace && self.config.categories.has(category)
    }
}

/// A recorded thread, as its observers know it on any thread.
#[derive(Clone)]
pub(crate) struct ObservedThread {
    /// Link between the thread and the writer thread.
    pub link: Arc<RecordingLink>,
    /// Id of the process.
    pub pid: u32,
    /// Node's thread id, 0 for the main thread.
    pub tid: u32,
    /// Start of the recording: CLOCK_MONOTONIC, microseconds.
    pub start_us: i64,
    /// Asks the writer thread to write what waits.
    pub ask_writer: fn(&RecordingLink),
    /// Count of the spans so far.
    pub spans: Arc<AtomicU32>,
}

impl ObservedThread {
    /// Returns this thread now.
    pub(crate) fn now(&self) -> At {
        self.at(system::now_us())
    }

    /// Returns this thread at a time, microseconds.
    pub(crate) fn at(&self, ts: i64) -> At {
        At { pid: self.pid, tid: self.tid, ts }
    }

    /// Returns the number of the next span.
    pub(crate) fn next_span(&self) -> u32 {
        self.spans.fetch_add(1, Ordering::Relaxed)
    }

    /// Asks the writer thread to write what waits before the next window.
    pub(crate) fn write_soon(&self) {
        (self.ask_writer)(&self.link);
    }
}

/// What the signal handler reads of a thread with each sample.
#[derive(Default)]
pub(crate) struct SignalReads {
    /// Where the ids of label sets are, and where they are noted.
    pub labels: Option<(LabelSource, Arc<LabelRing>)>,
    /// Where native stacks are copied to.
    pub stacks: Option<Arc<StackRing>>,
}

/// The half of an observer on the program's thread. Its functions run in V8's interrupts, where no JavaScript may
/// run, and the program waits for them: so they only take what must be taken there.
pub(crate) trait ThreadObserver: Any {
    /// Adds what the signal handler should read from now on.
    fn add_reads(&self, _reads: &mut SignalReads) {}

    /// Takes what belongs to the window that ends now.
    fn end_window(&self) {}

    /// Takes what is left, before sampling stops. A last window follows, unless sampling is suspended.
    fn end(&self) {}
}

/// The half of an observer on the writer thread. In a recording without a trace, it only changes windows, and what
/// waits is dropped.
pub(crate) trait WriterObserver: Send {
    /// Begins on the writer thread: what takes too long for the program's own.
    fn open(&mut self) {}

    /// Begins a file of the trace, which has nothing of the files before.
    fn begin_file(&mut self) {}

    /// Changes a window as its source returned it.
    fn before_passes(&mut self, _window: &mut Window) {}

    /// Changes a window after all passes.
    fn after_passes(&mut self, _window: &mut Window) {}

    /// Appends what a window needs, before the window.
    fn before_window(&mut self, _window: &Window, _trace: &mut Appender<'_>) {}

    /// Appends what waits: before each window, while the thread waits, at the end, and when the thread asks.
    fn write_waiting(&mut self, _trace: &mut Appender<'_>) {}

    /// Adds events to those of a window.
    fn window(&mut self, _window: &WrittenWindow<'_>, _at: &Moment<'_>, _found: &mut FoundEvents) {}

    /// Adds events of a thread that waits since its last window, or since a time in that window, microseconds.
    fn wait(&mut self, _idle_us: Option<i64>, _at: &Moment<'_>, _found: &mut FoundEvents) {}

    /// Adds the last events of a file. `is_over` tells that the recording ends, too.
    fn end(&mut self, _is_over: bool, _at: &Moment<'_>, _found: &mut FoundEvents) {}

    /// Notes that the events of the last window or wait are written.
    fn wrote(&mut self) {}

    /// Writes the files of its own, if it has any. `is_last` tells that there is no later time.
    fn write_files(&mut self, _is_last: bool, _events: &mut Events) {}

    /// Ends the files of its own, for now or for good.
    fn end_files(&mut self, _end_us: i64, _is_provisional: bool, _events: &mut Events) {}

    /// Keeps the history of the files of its own, and what comes until a time, microseconds.
    fn hold_files(&mut self, _until_us: i64) {}

    /// Adds what the files of its own hold.
    fn add_files_to(&self, _totals: &mut RecordingTotals) {}
}

/// A window that is about to be written.
pub(crate) struct WrittenWindow<'a> {
    /// The window.
    pub window: &'a Window,
    /// Its place in the call tree of the trace.
    pub placed: &'a PlacedWindow,
}

/// The moment up to which events are written.
pub(crate) struct Moment<'a> {
    /// Writes events of the thread.
    pub trace: &'a ThreadTrace,
    /// Time up to which the thread is told, microseconds.
    pub until_us: i64,
    /// Counters of the thread at that time.
    pub cpu: CpuTimes,
    /// Bytes that there is room for; less than 0 after events that are always drawn.
    pub room: i64,
}

/// The events of observers that are written together with a window, a wait or the end of a file.
#[derive(Default)]
pub(crate) struct FoundEvents {
    /// Events that others are drawn within: these come first.
    pub enclosing: Events,
    /// Events that stay.
    pub lasting: Events,
    /// Events that the next write replaces.
    pub provisional: Events,
    /// Totals of the collections, for the heartbeat.
    pub collection_totals: Option<CollectionTotals>,
    /// The collections that are drawn.
    pub collections: Vec<Collection>,
    /// How the process ends, if it does.
    pub ending: ProcessEnding,
}
