//! The events of a recording beside its profile: collections, memory and tasks. Runs on the writer
//! thread.

use super::link::RecordingLink;
use crate::base::config::{Categories, Config};
use crate::base::system;
use crate::format::trace::events::Events;
use crate::format::trace::thread::ThreadTrace;
use crate::profile::collection::{Collection, MemoryUse};
use crate::profile::task::{Task, TaskTracker};
use crate::profile::window::Window;

/// The state that is needed to find these events.
pub(super) struct SideEvents {
    categories: Categories,
    /// None if idle time is not known, or if no category needs tasks.
    tasks: Option<TaskTracker>,
    /// Collections that are younger than the last window.
    waiting: Vec<Collection>,
}

/// The events of one flush.
#[derive(Default)]
pub(super) struct FlushedEvents {
    collections: Vec<Collection>,
    memory: Option<(i64, MemoryUse)>,
    /// Tasks that have ended.
    ended: Vec<Task>,
    /// The task that has not ended, as far as it is known.
    open: Option<Task>,
}

impl SideEvents {
    /// Returns the state at the start of a recording.
    pub(super) fn new(config: &Config, is_idle_known: bool) -> Self {
        let categories = config.categories;
        let has_tasks = is_idle_known && (categories.event_loop || categories.gc);
        let tasks = has_tasks.then(|| TaskTracker::new(config.interval_us));
        Self { categories, tasks, waiting: Vec::new() }
    }

    /// Returns the events of a window.
    pub(super) fn of_window(
        &mut self,
        link: &RecordingLink,
        window: &Window,
        memory: Option<MemoryUse>,
    ) -> FlushedEvents {
        let collections = self.collections_until(link, window.end_us);
        let ended = self.tasks.as_mut().map(|tasks| tasks.ended_in(window, &collections));
        let open = self.tasks.as_ref().and_then(|tasks| tasks.open_until(window.end_us));
        FlushedEvents {
            memory: memory.map(|memory| (window.end_us, self.with_process(link, memory))),
            ended: ended.into_iter().flatten().filter(|task| self.is_wanted(task)).collect(),
            open: open.filter(|task| self.is_wanted(task)),
            collections,
        }
    }

    /// Returns the events of a thread that has waited since its last window, or since `idle_us` if
    /// it was busy in that window.
    pub(super) fn of_wait(&self, idle_us: Option<i64>) -> FlushedEvents {
        let tasks = self.tasks.as_ref().zip(idle_us);
        let open = tasks.and_then(|(tasks, idle_us)| tasks.open_until(idle_us));
        let open = open.filter(|task| self.is_wanted(task));
        FlushedEvents { open, ..FlushedEvents::default() }
    }

    /// Returns the last events of a file that ends at `end_us`. A task that has not ended continues
    /// in the next file.
    pub(super) fn at_end(&mut self, link: &RecordingLink, end_us: i64) -> FlushedEvents {
        let collections = self.collections_until(link, end_us);
        let ended = self.tasks.as_mut().and_then(|tasks| tasks.split(end_us));
        let ended = ended.into_iter().filter(|task| self.is_wanted(task)).collect();
        FlushedEvents { collections, ended, ..FlushedEvents::default() }
    }

    /// Takes the collections that began before `end_us`.
    fn collections_until(&mut self, link: &RecordingLink, end_us: i64) -> Vec<Collection> {
        let mut collections = std::mem::take(&mut self.waiting);
        collections.extend(link.collections.take());
        self.waiting = collections.extract_if(.., |each| each.start_us >= end_us).collect();
        collections
    }

    fn with_process(&self, link: &RecordingLink, memory: MemoryUse) -> MemoryUse {
        let rss = link.is_main().then(system::resident_bytes).flatten();
        MemoryUse { rss, ..memory }
    }

    fn is_wanted(&self, task: &Task) -> bool {
        task.has_collections || self.categories.event_loop && task.is_long()
    }
}

impl FlushedEvents {
    /// Adds the events to those of the profile. The open task comes last: the next flush replaces it.
    pub(super) fn add_to(&self, trace: &ThreadTrace, events: &mut Events) {
        for task in &self.ended {
            trace.task(events, task);
        }
        for collection in &self.collections {
            trace.collection(events, collection);
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
