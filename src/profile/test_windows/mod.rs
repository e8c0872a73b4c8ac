//! Windows for tests.

pub(crate) mod any;
pub(crate) mod made;
