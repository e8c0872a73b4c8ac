//! Why a run took its wall time.

mod activity;
pub mod chain;
pub mod share;
