//! Events as we write them.

pub mod core_wait;
pub mod event;
pub mod event_args;
pub mod events;
pub mod met_condition;
pub mod process_span;
pub mod request;
pub mod side_event;
pub mod thread;
pub mod thread_names;
pub mod timing;
pub mod unrecorded;
