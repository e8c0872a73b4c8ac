//! Calls a function whenever an isolate is about to run JavaScript.

use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::sync::OnceLock;

use super::symbols;

/// A function that V8 calls on the isolate's thread before each entry into JavaScript.
pub(crate) type EntryCallback = extern "C" fn(*mut c_void);

type ChangeCallbacks = unsafe extern "C" fn(*mut symbols::Isolate, EntryCallback);

/// V8's functions that add and remove a callback.
#[derive(Clone, Copy)]
struct EntryApi {
    add: ChangeCallbacks,
    remove: ChangeCallbacks,
}

/// A callback of one isolate. An `EntryHook` never leaves the isolate's thread (it is not `Send`),
/// and is removed in the environment's cleanup hook at the latest.
pub(crate) struct EntryHook {
    api: EntryApi,
    isolate: *mut symbols::Isolate,
    callback: EntryCallback,
    not_send: PhantomData<*mut c_void>,
}

impl EntryHook {
    /// Returns whether this process exports the functions that are needed.
    pub(crate) fn is_available() -> bool {
        EntryApi::find_once().is_some()
    }

    /// Adds a callback to the isolate of the calling thread. Returns None if that is not possible.
    /// Must not be called in a callback of this kind.
    pub(crate) fn add(callback: EntryCallback) -> Option<Self> {
        let api = EntryApi::find_once()?;
        let isolate_try_get_current = symbols::api().ok()?.isolate_try_get_current;
        // SAFETY: may be called on any thread.
        let isolate = unsafe { isolate_try_get_current() };
        if isolate.is_null() {
            return None;
        }
        // SAFETY: this is the isolate's own thread, and V8 is not running through its callbacks.
        unsafe { (api.add)(isolate, callback) };
        Some(Self { api, isolate, callback, not_send: PhantomData })
    }

    /// Removes the callback. Must not be called in a callback of this kind.
    pub(crate) fn remove(self) {
        // SAFETY: this is the isolate's own thread, the isolate is alive, and V8 is not running
        // through its callbacks.
        unsafe { (self.api.remove)(self.isolate, self.callback) };
    }
}

impl EntryApi {
    fn find_once() -> Option<Self> {
        static API: OnceLock<Option<EntryApi>> = OnceLock::new();
        *API.get_or_init(|| {
            Some(Self {
                add: find(c"_ZN2v87Isolate28AddBeforeCallEnteredCallbackEPFvPS0_E")?,
                remove: find(c"_ZN2v87Isolate31RemoveBeforeCallEnteredCallbackEPFvPS0_E")?,
            })
        })
    }
}

fn find(name: &CStr) -> Option<ChangeCallbacks> {
    let address = symbols::symbol(name)?;
    // SAFETY: the mangled name spells out the parameters of the C++ method, and this type repeats
    // them. V8 passes an isolate to the callback, which takes any pointer.
    Some(unsafe { std::mem::transmute::<*mut c_void, ChangeCallbacks>(address) })
}
