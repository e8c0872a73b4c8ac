//! Moves files to other machines: into lakes, and to servers of profiles. It knows nothing of profiles.

mod http_client;
pub mod lake;
mod layout;
mod live;
pub mod push;
pub mod store;
