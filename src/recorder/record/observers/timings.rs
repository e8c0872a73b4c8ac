//! User timings. JavaScript observes them (`lib/observed/timings.js`), and adds marks and spans to the program's own
//! events.

use super::observer::{Halves, Observer};
use cpu_prof_core::base::settings::categories::Category;

/// The observer of user timings.
pub(super) const OBSERVER: Observer = Observer {
    categories: &[Category::Timings],
    is_always_on: false,
    begin: |_| Halves::default(),
};
