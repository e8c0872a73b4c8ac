//! Tasks of the event loop: the long ones, and those with a collection that is drawn.

use super::observer::{
    FoundEvents, Halves, Moment, Observer, Start, WriterObserver, WrittenWindow,
};
use cpu_prof_core::base::settings::categories::Category;
use cpu_prof_core::profile::window::task::{Task, TaskTracker};

/// The observer of tasks.
pub(super) const OBSERVER: Observer =
    Observer { categories: &[Category::EventLoop, Category::Gc], is_always_on: false, begin };

fn begin(start: &Start<'_>) -> Halves {
    if !start.is_idle_known {
        return Halves::default();
    }
    Halves::on_writer(Tasks {
        tracker: TaskTracker::new(start.config.interval_us),
        has_long: start.wants(Category::EventLoop),
    })
}

/// The tasks of a thread.
struct Tasks {
    tracker: TaskTracker,
    /// Whether long tasks are wanted.
    has_long: bool,
}

impl Tasks {
    fn is_wanted(&self, task: &Task) -> bool {
        task.collected_until_us.is_some() || self.has_long && task.is_long()
    }

    fn add_ended(
        &self,
        ended: impl IntoIterator<Item = Task>,
        at: &Moment<'_>,
        found: &mut FoundEvents,
    ) {
        for task in ended.into_iter().filter(|task| self.is_wanted(task)) {
            at.trace.task(&mut found.enclosing, &task);
        }
    }

    /// Adds the task that has not ended by a time, microseconds.
    fn add_open(&self, until_us: i64, at: &Moment<'_>, found: &mut FoundEvents) {
        let open = self.tracker.open_until(until_us);
        if let Some(task) = open.filter(|task| self.is_wanted(task)) {
            at.trace.task(&mut found.provisional, &task);
        }
    }
}

impl WriterObserver for Tasks {
    fn window(&mut self, written: &WrittenWindow<'_>, at: &Moment<'_>, found: &mut FoundEvents) {
        let ended = self.tracker.ended_in(written.window, &found.collections);
        self.add_ended(ended, at, found);
        self.add_open(at.until_us, at, found);
    }

    fn wait(&mut self, idle_us: Option<i64>, at: &Moment<'_>, found: &mut FoundEvents) {
        if let Some(idle_us) = idle_us {
            self.add_open(idle_us, at, found);
        }
    }

    /// A task that has not ended continues in the next file.
    fn end(&mut self, _: bool, at: &Moment<'_>, found: &mut FoundEvents) {
        let ended = self.tracker.split(at.until_us, &found.collections);
        self.add_ended(ended, at, found);
    }
}
