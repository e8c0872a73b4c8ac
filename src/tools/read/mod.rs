//! Files into sessions.

pub(crate) mod ancestry;
mod corrections;
pub(crate) mod file;
pub(crate) mod filter;
pub(crate) mod group;
pub(crate) mod headers;
pub(crate) mod label_filter;
pub(crate) mod load;
pub(crate) mod load_error;
pub(crate) mod originals;
pub(crate) mod pprof;
pub(crate) mod read_error;
pub(crate) mod replay;
pub(crate) mod runs;
pub(crate) mod selection;
pub(crate) mod slice;
pub(crate) mod sniff;
pub(crate) mod symbols;
pub(crate) mod time_line;
pub(crate) mod unrecorded;
pub(crate) mod wall;
