//! Files into sessions.

pub(crate) mod load;
pub(crate) mod sniff;
