//! The addon of the command line, of `merge()` and `report()`: the functions that JavaScript calls to work on
//! recordings.
//!
//! Arguments and results that are small and have a fixed form are values of napi, or objects with
//! `#[napi(object)]`. Trees and lists are JSON text, which JavaScript parses with `lib/json-result.js`. There are
//! no tuples, whose members would have no names.

// napi's macros leave the exports out of a test build, so all that only they use looks dead there.
// The library build reports dead code.
#![cfg_attr(test, allow(dead_code))]

mod check;
mod compare;
mod convert;
mod end;
mod files;
mod follow;
mod merge;
mod page;
mod report;
mod run;
