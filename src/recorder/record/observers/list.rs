//! The list of all observers.

use super::observer::{Halves, Observer, Start};
use super::on_thread::ThreadObservers;
use super::on_writer::WriterObservers;

/// All observers. They observe, and their events stand in the file, in this order.
static OBSERVERS: &[Observer] = &[
    super::labels::OBSERVER,
    // Takes V8's stacks, which the native ones extend.
    super::scripts::OBSERVER,
    super::user_events::OBSERVER,
    super::timings::OBSERVER,
    super::typescript::OBSERVER,
    super::http::OBSERVER,
    super::gc::OBSERVER,
    // Needs the collections that are drawn.
    super::event_loop::OBSERVER,
    super::core_waits::OBSERVER,
    super::native::OBSERVER,
    super::memory::OBSERVER,
    super::processes::OBSERVER,
];

/// Begins to observe the calling thread, whose sampling has just started.
pub(crate) fn begin(start: &Start<'_>) -> (ThreadObservers, WriterObservers) {
    let is_wanted = |observer: &&Observer| {
        let mut categories = observer.categories.iter();
        observer.is_always_on || categories.any(|category| start.wants(*category))
    };
    let (mut on_thread, mut on_writer) = (Vec::new(), Vec::new());
    for observer in OBSERVERS.iter().filter(is_wanted) {
        let Halves { thread, writer } = (observer.begin)(start);
        on_thread.extend(thread);
        on_writer.extend(writer);
    }
    (ThreadObservers::new(on_thread), WriterObservers::new(on_writer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::base::settings::categories::Category;

    #[test]
    fn each_category_has_an_observer() {
        for (category, word) in Category::ALL {
            let has = |observer: &Observer| observer.categories.contains(category);
            assert!(OBSERVERS.iter().any(has), "{word}");
        }
    }
}
