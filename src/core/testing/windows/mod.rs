//! Windows for tests.

pub mod any;
pub mod made;
