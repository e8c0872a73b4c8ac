//! What TypeScript's compiler works on. JavaScript observes the compiler (`lib/observed/typescript.js`), and adds spans
//! to the program's own events.

use super::observer::{Halves, Observer};
use cpu_prof_core::base::settings::categories::Category;

/// The observer of the compiler.
pub(super) const OBSERVER: Observer = Observer {
    categories: &[Category::TypeScript],
    is_always_on: false,
    begin: |_| Halves::default(),
};
