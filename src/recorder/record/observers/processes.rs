//! How the process ends.

use super::observer::{FoundEvents, Halves, Moment, Observer, Start, WriterObserver};
use crate::record::link::pending_exit::pending_exit;
use cpu_prof_core::base::settings::categories::Category;

/// The observer of the end.
pub(super) const OBSERVER: Observer =
    Observer { categories: &[Category::Processes], is_always_on: false, begin };

fn begin(start: &Start<'_>) -> Halves {
    if start.thread.link.thread.is_main { Halves::on_writer(Ending) } else { Halves::default() }
}

/// The end of the process.
struct Ending;

impl WriterObserver for Ending {
    fn end(&mut self, is_over: bool, _: &Moment<'_>, found: &mut FoundEvents) {
        if is_over {
            found.ending = pending_exit();
        }
    }
}
