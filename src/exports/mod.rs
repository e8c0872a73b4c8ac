//! The functions that JavaScript calls.

pub(crate) mod offline;
pub(crate) mod record;
pub(crate) mod settings;
