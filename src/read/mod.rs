//! Files into sessions.

pub mod load;
pub mod sniff;
