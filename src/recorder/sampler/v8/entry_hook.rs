//! Calls a function whenever an isolate is about to run JavaScript.

use std::ffi::c_void;

use super::symbols::{self, Isolate, exported};

/// A function that V8 calls on the isolate's thread before each entry into JavaScript.
pub(crate) type EntryCallback = extern "C" fn(*mut c_void);

exported! {
    /// V8's functions that add and remove a callback. V8 passes an isolate to the callback, which takes
    /// any pointer.
    EntryApi
    add:
        c"_ZN2v87Isolate28AddBeforeCallEnteredCallbackEPFvPS0_E"
        c"?AddBeforeCallEnteredCallback@Isolate@v8@@QEAAXP6AXPEAV12@@Z@Z"
        fn(*mut Isolate, EntryCallback);
    remove:
        c"_ZN2v87Isolate31RemoveBeforeCallEnteredCallbackEPFvPS0_E"
        c"?RemoveBeforeCallEnteredCallback@Isolate@v8@@QEAAXP6AXPEAV12@@Z@Z"
        fn(*mut Isolate, EntryCallback);
}

/// A callback of one isolate. An `EntryHook` never leaves the isolate's thread (it is not `Send`),
/// and is removed in the environment's cleanup hook at the latest.
pub(crate) struct EntryHook {
    api: &'static EntryApi,
    isolate: *mut Isolate,
    callback: EntryCallback,
}

impl EntryHook {
    /// Returns whether this process exports the functions that are needed.
    pub(crate) fn is_available() -> bool {
        EntryApi::find().is_ok()
    }

    /// Adds a callback to the isolate of the calling thread. Returns None if that is not possible.
    /// Must not be called in a callback of this kind.
    pub(crate) fn add(callback: EntryCallback) -> Option<Self> {
        let api = EntryApi::find().ok()?;
        let isolate = symbols::current_isolate(symbols::api().ok()?)?;
        // SAFETY: this is the isolate's own thread, and V8 is not running through its callbacks.
        unsafe { (api.add)(isolate, callback) };
        Some(Self { api, isolate, callback })
    }

    /// Removes the callback. Must not be called in a callback of this kind.
    pub(crate) fn remove(self) {
        // SAFETY: this is the isolate's own thread, the isolate is alive, and V8 is not running
        // through its callbacks.
        unsafe { (self.api.remove)(self.isolate, self.callback) };
    }
}
