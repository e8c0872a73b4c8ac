//! Tasks: the busy times of a thread between two waits of its event loop.

use super::Window;
use crate::profile::frame::CallFrame;
use crate::profile::gc::Collection;

/// A busy time. Times are CLOCK_MONOTONIC, microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// Moment before the first sample that is not idle. DevTools draws a sample of the same moment
    /// before the task.
    pub start_us: i64,
    /// Time of the next idle sample, or the end of a collection that lasted longer.
    pub end_us: i64,
    /// Latest end of the collections in the task; None without a collection.
    pub collected_until_us: Option<i64>,
}

impl Task {
    /// The duration from which DevTools marks a task as long, microseconds.
    pub const LONG_US: i64 = 50_000;

    /// Returns whether the task is long.
    pub fn is_long(&self) -> bool {
        self.end_us - self.start_us >= Self::LONG_US
    }

    fn starting_at(start_us: i64) -> Self {
        Self { start_us, end_us: start_us, collected_until_us: None }
    }

    /// Ends the task with an idle sample. An idle sample that V8 has not taken itself can have a time
    /// before the end of a collection, which an earlier window has added to the task.
    fn ended_at(self, idle_us: i64) -> Self {
        Self { end_us: self.collected_until_us.map_or(idle_us, |us| us.max(idle_us)), ..self }
    }

    /// Takes a collection in, if both touch. A task is known to the accuracy of the samples, so a
    /// collection can begin before or end after it.
    fn include(&mut self, collection: &Collection, tolerance_us: i64) {
        let end_us = collection.start_us + collection.duration_us;
        let touches = collection.start_us <= self.end_us + tolerance_us
            && end_us >= self.start_us - tolerance_us;
        if touches {
            self.start_us = self.start_us.min(collection.start_us);
            self.end_us = self.end_us.max(end_us);
            self.collected_until_us = self.collected_until_us.max(Some(end_us));
        }
    }
}

/// The tasks of one thread, window after window.
#[derive(Debug)]
pub struct TaskTracker {
    interval_us: i64,
    /// The task that has not ended.
    open: Option<Task>,
    /// End of the last task: the next one starts no earlier.
    last_end_us: i64,
}

impl TaskTracker {
    /// Returns the tracker of a thread that is sampled every `interval_us`.
    pub fn new(interval_us: u32) -> Self {
        Self { interval_us: i64::from(interval_us), open: None, last_end_us: i64::MIN }
    }

    /// Returns the tasks that end in a window, with the collections of this time.
    pub fn ended_in(&mut self, window: &Window, collections: &[Collection]) -> Vec<Task> {
        let idle = window.state(CallFrame::IDLE);
        let mut tasks = Vec::new();
        for sample in &window.samples {
            let time_us = sample.time_us;
            if Some(sample.node) == idle {
                tasks.extend(self.open.take().map(|open| open.ended_at(time_us)));
            } else if self.open.is_none() {
                self.open = Some(Task::starting_at(time_us - 1));
            }
        }
        let ended = tasks.len();
        if let Some(open) = &mut self.open {
            open.end_us = open.end_us.max(window.end_us);
            tasks.push(*open);
        }
        for collection in collections {
            let touched =
                tasks.partition_point(|task| task.end_us + self.interval_us < collection.start_us);
            if let Some(task) = tasks.get_mut(touched) {
                task.include(collection, self.interval_us);
            }
        }
        self.separate(&mut tasks);
        if let Some(open) = &mut self.open {
            *open = tasks[ended];
        }
        tasks.truncate(ended);
        if let Some(last) = tasks.last() {
            self.last_end_us = last.end_us;
        }
        tasks
    }

    /// Lets each task end before the next begins, though collections have made them longer.
    fn separate(&self, tasks: &mut [Task]) {
        let mut earliest_us = self.last_end_us;
        for task in tasks {
            task.start_us = task.start_us.max(earliest_us);
            task.end_us = task.end_us.max(task.start_us);
            earliest_us = task.end_us;
        }
    }

    /// Returns the task that has not ended, as if it ended at `end_us`.
    pub fn open_until(&self, end_us: i64) -> Option<Task> {
        self.open.map(|open| Task { end_us: open.end_us.max(end_us), ..open })
    }

    /// Ends the open task at `end_us`, with the collections since the last window, and begins another
    /// there.
    pub fn split(&mut self, end_us: i64, collections: &[Collection]) -> Option<Task> {
        let mut first = self.open_until(end_us)?;
        for collection in collections {
            first.include(collection, self.interval_us);
        }
        first.start_us = first.start_us.max(self.last_end_us);
        self.open = Some(Task::starting_at(first.end_us));
        self.last_end_us = first.end_us;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::gc::CollectionKind;
    use crate::profile::window::Sample;
    use crate::testing::windows::made::{frame, window};

    const IDLE: u32 = 1;
    const JS: u32 = 2;

    fn of(samples: &[(i64, u32)], end_us: i64) -> Window {
        let nodes = [(0, CallFrame::state("(root)")), (0, CallFrame::state(CallFrame::IDLE))];
        let nodes: Vec<_> = nodes.into_iter().chain([(0, frame("f", "/a.js", 5))]).collect();
        let mut window = window(&nodes, &[]);
        let at = |(time_us, node): &(i64, u32)| Sample {
            time_us: *time_us,
            node: *node,
            ..Sample::default()
        };
        window.samples = samples.iter().map(at).collect();
        window.end_us = end_us;
        window
    }

    fn collection(start_us: i64, duration_us: i64) -> Collection {
        let kind = CollectionKind::Minor;
        Collection { kind, start_us, duration_us, heap_before: 2, heap_after: 1, is_nested: false }
    }

    fn spans(tasks: &[Task]) -> Vec<(i64, i64, bool)> {
        tasks
            .iter()
            .map(|task| (task.start_us, task.end_us, task.collected_until_us.is_some()))
            .collect()
    }

    #[test]
    fn a_task_lasts_from_idle_to_idle_over_windows() {
        let mut tracker = TaskTracker::new(10);
        let first = of(&[(100, JS), (110, IDLE), (500, JS), (510, JS)], 515);
        assert_eq!(spans(&tracker.ended_in(&first, &[])), [(99, 110, false)]);
        assert_eq!(tracker.open_until(520).map(|task| task.end_us), Some(520));
        let second = of(&[(520, JS), (900, IDLE)], 905);
        assert_eq!(spans(&tracker.ended_in(&second, &[])), [(499, 900, false)]);
        assert_eq!(tracker.open_until(1000), None);
    }

    #[test]
    fn a_task_has_the_collections_that_touch_it_and_overlaps_no_other() {
        let mut tracker = TaskTracker::new(10);
        let first = of(&[(100, JS), (150, IDLE), (160, JS)], 200);
        let collections = [collection(95, 20), collection(149, 8), collection(190, 5)];
        assert_eq!(spans(&tracker.ended_in(&first, &collections)), [(95, 157, true)]);
        assert_eq!(
            tracker.open_until(0).map(|task| (task.start_us, task.collected_until_us)),
            Some((159, Some(195)))
        );
        let second = of(&[(210, IDLE)], 220);
        assert_eq!(spans(&tracker.ended_in(&second, &[])), [(159, 210, true)]);
        let idle = of(&[(300, IDLE)], 400);
        assert_eq!(spans(&tracker.ended_in(&idle, &[collection(350, 5)])), []);
    }

    #[test]
    fn a_split_task_is_whole_in_two_parts() {
        let mut tracker = TaskTracker::new(10);
        assert_eq!(tracker.split(50, &[]), None);
        tracker.ended_in(&of(&[(100, JS)], 200), &[]);
        let first = tracker.split(250, &[]);
        assert_eq!(spans(first.as_slice()), [(99, 250, false)]);
        assert_eq!(spans(&tracker.ended_in(&of(&[(300, IDLE)], 310), &[])), [(250, 300, false)]);
    }

    #[test]
    fn a_collection_after_the_last_window_belongs_to_the_task_that_is_split() {
        let mut tracker = TaskTracker::new(10);
        tracker.ended_in(&of(&[(100, JS)], 200), &[]);
        let first = tracker.split(250, &[collection(240, 15)]);
        assert_eq!(spans(first.as_slice()), [(99, 255, true)]);
        assert_eq!(spans(&tracker.ended_in(&of(&[(300, IDLE)], 310), &[])), [(255, 300, false)]);
    }

    #[test]
    fn a_task_does_not_end_before_its_collections_of_an_earlier_window() {
        let mut tracker = TaskTracker::new(10);
        assert_eq!(tracker.ended_in(&of(&[(100, JS)], 200), &[collection(150, 30)]), []);
        // The thread waits from about 175 on, as its event loop tells afterwards.
        assert_eq!(spans(&tracker.ended_in(&of(&[(175, IDLE)], 310), &[])), [(99, 180, true)]);
    }
}
