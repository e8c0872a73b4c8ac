//! V8's own sampling profiler, the fast source.
//!
//! Safety rules:
//! - A [`Profiler`] never leaves its isolate's thread (it is not `Send`).
//! - A [`V8Profile`] is finished and read-only. V8 holds its nodes, and through them their names,
//!   until the profile is deleted, so any thread may read it. Any thread may delete it too, but only
//!   when the [`gate`] is open. V8 can still change one thing in it, which [`details`] handles.
//! - A [`Waker`] uses its environment under a lock, and is closed under the same lock before the
//!   environment is destroyed.
#![allow(unsafe_code)]

mod deletion;
mod details;
mod entry_hook;
mod event_loop;
mod gate;
mod heap;
mod labels;
mod profiler;
mod raw_profile;
mod reach;
mod request_notes;
mod scripts;
mod signal;
mod stacks;
mod stall;
pub(crate) mod symbols;

pub(crate) use self::deletion::DeletionQueue;
pub(crate) use self::entry_hook::EntryHook;
pub(crate) use self::event_loop::{EventLoop, LoopProgress, is_main_thread};
pub(crate) use self::heap::{CollectionLog, Heap};
#[cfg(test)]
pub(crate) use self::labels::LabelRecord;
pub(crate) use self::labels::{LabelRing, LabelSource, SlotSearch};
pub(crate) use self::profiler::{Profiler, Rotated};
pub(crate) use self::raw_profile::V8Profile;
pub(crate) use self::reach::text_of;
pub(crate) use self::reach::{
    KeptFunction, RunningFunction, Waker, WorkerFunction, offer_to_workers, run_soon,
    running_functions,
};
pub(crate) use self::request_notes::{NotedRequest, RequestNotes};
pub(crate) use self::scripts::{CompiledText, ScriptMap, ScriptNotes, forget_environment};
pub(crate) use self::scripts::{ScriptHandler, WasmCode};
pub(crate) use self::signal::{CodeKind, V8Code, around_sample};
pub(crate) use self::signal::{FrameFinder, OwnSampling, SignalReading, is_read_here};
pub(crate) use self::stacks::{CopiedStack, JavaScriptCode, StackRing};
pub(crate) use self::stall::StallDetector;
pub(crate) use self::symbols::{Callback, is_available};
