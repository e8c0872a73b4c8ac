//! Files into sessions.

pub(crate) mod count;
pub(crate) mod group;
pub(crate) mod living;
pub(crate) mod load;
pub(crate) mod sniff;
