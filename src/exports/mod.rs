//! The functions that JavaScript calls.

pub(crate) mod events;
pub(crate) mod offline;
pub(crate) mod record;
pub(crate) mod settings;
