//! The events of a recording beside its profile: collections, memory, native threads, waiting times and tasks. Runs
//! on the writer thread.
//!
//! These events make the file at most a tenth larger. A busy server has a hundred collections a
//! second, most of them far shorter than a sample: so the longest are drawn, as many as there is room
//! for, and the totals of all are in each heartbeat.

use super::core_waits::CoreWaits;
use super::native_threads::NativeThreads;
use crate::record::link::recording_link::RecordingLink;
use cpu_prof_core::base::settings::categories::{Categories, Category};
use cpu_prof_core::base::settings::config::Config;
use cpu_prof_core::base::system;
use cpu_prof_core::base::system::cpu_times::CpuTimes;
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::format::trace::write::thread::ThreadTrace;
use cpu_prof_core::profile::cpu_use::{CoreWait, NativeSpan};
use cpu_prof_core::profile::gc::{Collection, CollectionTotals, MemoryUse};
use cpu_prof_core::profile::window::Window;
use cpu_prof_core::profile::window::call_tree::PlacedWindow;
use cpu_prof_core::profile::window::task::{Task, TaskTracker};

/// Bytes of the profile for each byte of these events. The memory, long tasks and long collections may need
/// more, and the totals in heartbeats need room too.
const PROFILE_SHARE: i64 = 25;
/// The most bytes that are saved up.
const MAX_ROOM: i64 = 8 << 10;
/// Bytes of a collection, with the call that it may need.
const COLLECTION_BYTES: i64 = 280;
/// Duration from which a collection is always drawn, microseconds.
const ALWAYS_DRAWN_US: i64 = 5000;

/// The state that is needed to find these events.
pub(super) struct SideEvents {
    categories: Categories,
    /// None if idle time is not known, or if no category needs tasks.
    tasks: Option<TaskTracker>,
    /// Collections that are younger than the last window.
    waiting: Vec<Collection>,
    /// None for a worker, and where the system does not list threads.
    pub(super) native: Option<NativeThreads>,
    core_waits: CoreWaits,
    /// Bytes that there is room for; less than 0 after events that are always drawn.
    room: i64,
}

/// The events of one flush.
#[derive(Default)]
pub(super) struct FlushedEvents {
    totals: CollectionTotals,
    /// The collections that are drawn.
    collections: Vec<Collection>,
    memory: Option<(i64, MemoryUse)>,
    /// What native threads used.
    pub(super) native: Option<NativeSpan>,
    core_wait: Option<CoreWait>,
    /// Tasks that have ended.
    ended: Vec<Task>,
    /// The task that has not ended, as far as it is known.
    open: Option<Task>,
}

impl SideEvents {
    /// Returns the state at the start of a recording.
    pub(super) fn new(config: &Config, is_idle_known: bool) -> Self {
        let categories = config.categories;
        let has_tasks =
            is_idle_known && (categories.has(Category::EventLoop) || categories.has(Category::Gc));
        let tasks = has_tasks.then(|| TaskTracker::new(config.interval_us));
        let core_waits = CoreWaits::default();
        Self { categories, tasks, waiting: Vec::new(), native: None, core_waits, room: 0 }
    }

    /// Looks at the native threads and at the counters for the first time. Takes too long for the program's own
    /// thread.
    pub(super) fn open(&mut self, link: &RecordingLink) {
        self.core_waits.begin(system::now_us(), link.thread.times());
        if link.is_main {
            self.native = NativeThreads::now();
        }
    }

    /// Returns the events of a window. `cpu` has the thread's counters at the end of the window.
    pub(super) fn of_window(
        &mut self,
        link: &RecordingLink,
        window: &Window,
        placed: &PlacedWindow,
        cpu: CpuTimes,
        memory: Option<MemoryUse>,
    ) -> FlushedEvents {
        let (totals, collections) = self.collections_until(link, window.end_us);
        let ended = self.tasks.as_mut().map(|tasks| tasks.ended_in(window, &collections));
        let open = self.tasks.as_ref().and_then(|tasks| tasks.open_until(window.end_us));
        FlushedEvents {
            memory: memory.map(|memory| (window.end_us, with_process(link, memory))),
            ended: ended.into_iter().flatten().filter(|task| self.is_wanted(task)).collect(),
            open: open.filter(|task| self.is_wanted(task)),
            native: self.native_use(window.end_us, false),
            core_wait: self.core_waits.in_window(window, placed, cpu),
            totals,
            collections,
        }
    }

    /// Returns the events of a thread that has waited since its last window, or since `idle_us` if
    /// it was busy in that window. `cpu` has the thread's counters.
    pub(super) fn of_wait(
        &mut self,
        now_us: i64,
        cpu: CpuTimes,
        idle_us: Option<i64>,
    ) -> FlushedEvents {
        self.core_waits.begin(now_us, cpu);
        let tasks = self.tasks.as_ref().zip(idle_us);
        let open = tasks.and_then(|(tasks, idle_us)| tasks.open_until(idle_us));
        let open = open.filter(|task| self.is_wanted(task));
        FlushedEvents { open, native: self.native_use(now_us, false), ..FlushedEvents::default() }
    }

    /// Returns the last events of a file that ends at `end_us`. A task that has not ended continues
    /// in the next file.
    pub(super) fn at_end(&mut self, link: &RecordingLink, end_us: i64) -> FlushedEvents {
        let (totals, collections) = self.collections_until(link, end_us);
        let ended = self.tasks.as_mut().and_then(|tasks| tasks.split(end_us, &collections));
        let ended = ended.into_iter().filter(|task| self.is_wanted(task)).collect();
        let native = self.native_use(end_us, true);
        self.wrote(native.as_ref());
        FlushedEvents { totals, collections, native, ended, ..FlushedEvents::default() }
    }

    /// Returns what native threads have used until now, and was not told.
    fn native_use(&mut self, until_us: i64, is_last: bool) -> Option<NativeSpan> {
        let native = self.native.as_mut()?;
        native.look(is_last);
        native.untold(until_us, is_last)
    }

    /// Notes that the use of native threads was written.
    pub(super) fn wrote(&mut self, native: Option<&NativeSpan>) {
        if let Some((native, span)) = self.native.as_mut().zip(native) {
            native.told(span);
        }
    }

    /// Notes the sizes of what was written: the profile, and these events.
    pub(super) fn account(&mut self, profile_bytes: usize, side_bytes: usize) {
        self.room += profile_bytes as i64 / PROFILE_SHARE - side_bytes as i64;
        self.room = self.room.min(MAX_ROOM);
    }

    /// Takes the collections that began before `end_us`: their totals, and those that are drawn.
    fn collections_until(
        &mut self,
        link: &RecordingLink,
        end_us: i64,
    ) -> (CollectionTotals, Vec<Collection>) {
        let mut collections = std::mem::take(&mut self.waiting);
        collections.extend(link.collections.take());
        self.waiting = collections.extract_if(.., |each| each.start_us >= end_us).collect();
        let mut totals = CollectionTotals::default();
        for collection in &collections {
            totals.add(collection);
        }
        (totals, longest(collections, usize::try_from(self.room / COLLECTION_BYTES).unwrap_or(0)))
    }

    fn is_wanted(&self, task: &Task) -> bool {
        task.collected_until_us.is_some()
            || self.categories.has(Category::EventLoop) && task.is_long()
    }
}

/// Returns the `count` longest collections, and all that are always drawn, in the order of time.
fn longest(mut collections: Vec<Collection>, count: usize) -> Vec<Collection> {
    collections.sort_by_key(|each| std::cmp::Reverse(each.duration_us));
    let always = collections.partition_point(|each| each.duration_us >= ALWAYS_DRAWN_US);
    collections.truncate(count.max(always));
    collections.sort_by_key(|each| each.start_us);
    collections
}

fn with_process(link: &RecordingLink, memory: MemoryUse) -> MemoryUse {
    let rss = link.is_main.then(system::resident_bytes).flatten();
    MemoryUse { rss, ..memory }
}

impl FlushedEvents {
    /// Returns the totals of the collections, if there were any.
    pub(super) fn collections(&self) -> Option<CollectionTotals> {
        (self.totals != CollectionTotals::default()).then_some(self.totals)
    }

    /// Adds the events to those of the profile. The open task comes last: the next flush replaces it.
    pub(super) fn add_to(&self, trace: &ThreadTrace, events: &mut Events) {
        for task in &self.ended {
            trace.task(events, task);
        }
        for collection in &self.collections {
            trace.collection(events, collection);
        }
        if let Some(wait) = self.core_wait {
            trace.core_wait(events, wait);
        }
        if let Some(native) = &self.native {
            trace.native_threads(events, native);
        }
        if let Some((time_us, memory)) = self.memory {
            trace.memory(events, time_us, memory);
        }
        if let Some(task) = &self.open {
            events.begin_provisional();
            trace.task(events, task);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::profile::gc::CollectionKind;

    #[test]
    fn the_longest_collections_are_drawn_in_the_order_of_time() {
        let of = |durations: &[i64]| -> Vec<Collection> {
            let each = |(index, duration_us): (usize, &i64)| Collection {
                kind: CollectionKind::Minor,
                start_us: index as i64,
                duration_us: *duration_us,
                heap_before: 0,
                heap_after: 0,
                is_nested: false,
            };
            durations.iter().enumerate().map(each).collect()
        };
        let drawn = |durations: &[i64], count| -> Vec<i64> {
            longest(of(durations), count).iter().map(|each| each.duration_us).collect()
        };
        assert_eq!(drawn(&[3, 1, 4, 2], 2), [3, 4]);
        assert_eq!(drawn(&[3, 9000, 4, 5000], 1), [9000, 5000]);
        assert!(drawn(&[3, 1], 0).is_empty());
    }
}
