//! The client of HTTP, and why a request of it failed, without words about who is asked.

pub(crate) mod agent;
pub(crate) mod net_failure;
