//! The addon of lakes and of servers of profiles.

// napi's macros leave the exports out of a test build, so all that only they use looks dead there.
// The library build reports dead code.
#![cfg_attr(test, allow(dead_code))]

mod exports;
mod slices;
mod tables;
