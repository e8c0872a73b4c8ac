//! Runs code on a Node thread at the next moment when JavaScript may run there.

use std::ffi::c_void;
use std::ptr;

use napi::{Env, sys as napi_sys};

use crate::sampler::v8::symbols::{self, Callback, Isolate, exported};

exported! {
    /// V8's function that adds a microtask.
    MicrotaskApi
    enqueue:
        c"_ZN2v87Isolate16EnqueueMicrotaskEPFvPvES1_"
        c"?EnqueueMicrotask@Isolate@v8@@QEAAXP6AXPEAX@Z0@Z"
        fn(*mut Isolate, Callback, *mut c_void);
}

/// Requests that `callback` runs as a microtask of the calling thread: when the running JavaScript has
/// ended, or with the next event of an idle thread. May be called in an interrupt.
pub(crate) fn run_soon(callback: Callback) {
    let Ok(api) = MicrotaskApi::find() else { return };
    let Some(isolate) = symbols::api().ok().and_then(symbols::current_isolate) else { return };
    // SAFETY: this is the isolate's thread. The callback gets no data, and stays: the addon is pinned.
    unsafe { (api.enqueue)(isolate, callback, ptr::null_mut()) };
}

/// A function of JavaScript that is kept until its environment ends, which frees the function.
#[derive(Clone, Copy)]
pub(crate) struct KeptFunction(napi_sys::napi_ref);

impl KeptFunction {
    /// Keeps a function; none if Node refuses.
    pub(crate) fn keep(env: &Env, function: napi_sys::napi_value) -> Option<Self> {
        let mut kept = ptr::null_mut();
        // SAFETY: this is the environment's thread, and the caller has the value from JavaScript.
        let status = unsafe { napi_sys::napi_create_reference(env.raw(), function, 1, &mut kept) };
        (status == napi_sys::Status::napi_ok).then_some(Self(kept))
    }

    /// Calls the function without arguments, where JavaScript may run. The function throws nothing, but
    /// the thread can be terminated meanwhile. Node would keep that as an exception, which `napi` looks
    /// for at the end of the environment, where it has no handle scope.
    pub(crate) fn call(self, env: &Env) {
        let mut scope = ptr::null_mut();
        // SAFETY: this is the environment's thread, and the environment is alive, with the reference. A
        // call that fails leaves the result null, and the next call then fails too.
        unsafe {
            if napi_sys::napi_open_handle_scope(env.raw(), &mut scope) != napi_sys::Status::napi_ok
            {
                return;
            }
            let (mut function, mut this) = (ptr::null_mut(), ptr::null_mut());
            napi_sys::napi_get_reference_value(env.raw(), self.0, &mut function);
            napi_sys::napi_get_undefined(env.raw(), &mut this);
            let (arguments, result) = (ptr::null(), ptr::null_mut());
            napi_sys::napi_call_function(env.raw(), this, function, 0, arguments, result);
            let (mut is_pending, mut exception) = (false, ptr::null_mut());
            napi_sys::napi_is_exception_pending(env.raw(), &mut is_pending);
            if is_pending {
                napi_sys::napi_get_and_clear_last_exception(env.raw(), &mut exception);
            }
            napi_sys::napi_close_handle_scope(env.raw(), scope);
        }
    }
}
