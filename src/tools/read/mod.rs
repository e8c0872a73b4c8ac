//! Files into sessions.

pub mod ancestry;
mod corrections;
pub mod file;
pub mod filter;
pub mod group;
pub mod headers;
pub mod label_filter;
pub mod load;
pub mod load_error;
pub mod pprof;
pub mod read_error;
pub mod replay;
pub mod runs;
pub mod selection;
pub mod slice;
pub mod sniff;
pub mod time_line;
pub mod unrecorded;
