//! What the exports of all addons share: work on other threads, errors for JavaScript, and the selection.

pub mod selection;
pub mod work;
