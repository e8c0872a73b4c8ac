//! Why a run took its wall time.

mod activity;
pub(crate) mod chain;
pub(crate) mod share;
