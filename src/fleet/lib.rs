//! Moves files to other machines: the addon of the commands about lakes and of `push`. It knows nothing of profiles.

// napi's macros leave the exports out of a test build, so all that only they use looks dead there.
// The library build reports dead code.
#![cfg_attr(test, allow(dead_code))]

mod exports;
mod http_client;
mod lake;
mod layout;
mod live;
mod push;
mod store;
