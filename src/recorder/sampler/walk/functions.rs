//! The functions that samples have: their names and places in scripts, by V8's public functions.
//!
//! A function is known by its `SharedFunctionInfo`, which all its closures share, and which only major collections
//! move. A handle keeps it until it is forgotten.

use std::ffi::c_int;
use std::ptr;
use std::sync::Arc;

use napi::{Env, sys as napi_sys};
use rustc_hash::FxHashMap;

use super::symbols::{Optional, WalkApi};
use crate::sampler::v8::symbols::{Isolate, Local, get_local};
use crate::sampler::v8::{ScriptHandler, text_of};
use cpu_prof_core::base::system::checked_memory::read_word;
use cpu_prof_core::profile::frame::{CallFrame, FrameOrigin};
use cpu_prof_core::profile::position::SourcePosition;

/// URL of functions of WebAssembly, as in V8's profiles, but without the name of the module, which V8 does not say with
/// the code.
const WASM_URL: &str = "wasm://wasm";

/// The most names of scripts that are remembered.
const MAX_SCRIPTS: usize = 10_000;

/// V8's functions, and the thread whose handles they make.
#[derive(Clone, Copy)]
pub(super) struct Handles {
    pub api: &'static WalkApi,
    pub optional: Optional,
    pub isolate: *mut Isolate,
    pub env: napi_sys::napi_env,
}

/// A function. Its handle is given up with [`Function::dispose`].
#[derive(Debug)]
pub(super) struct Function {
    /// A global handle of the `SharedFunctionInfo`.
    shared: *mut u64,
    /// One of a closure, until the function is named; null if none was seen.
    closure: *mut u64,
    /// None as long as nobody has asked V8.
    pub frame: Option<Arc<CallFrame>>,
}

impl Function {
    /// Returns a function by its `SharedFunctionInfo`, and a closure of it, if one was seen.
    ///
    /// # Safety
    /// This is the isolate's thread, and the objects are of its heap.
    pub(super) unsafe fn new(handles: &Handles, shared: u64, closure: Option<u64>) -> Self {
        // SAFETY: the caller promises the objects.
        let globalize = |object| unsafe { handles.optional.globalize(handles.isolate, object) };
        let closure = closure.map_or(ptr::null_mut(), globalize);
        Self { shared: globalize(shared), closure, frame: None }
    }

    /// Returns a function of WebAssembly.
    pub(super) fn of_wasm(name: String) -> Self {
        let frame =
            CallFrame { function_name: name, url: WASM_URL.to_owned(), ..CallFrame::unknown() };
        Self { shared: ptr::null_mut(), closure: ptr::null_mut(), frame: Some(Arc::new(frame)) }
    }

    /// Returns its `SharedFunctionInfo`; none if it has none.
    pub(super) fn shared(&self) -> Option<u64> {
        read_word(self.shared as u64)
    }

    /// Keeps the frame, and gives up the closure.
    pub(super) fn set_frame(&mut self, frame: Arc<CallFrame>, handles: &Handles) {
        self.frame = Some(frame);
        handles.dispose(std::mem::replace(&mut self.closure, ptr::null_mut()));
    }

    /// Gives up the handle.
    pub(super) fn dispose(self, handles: &Handles) {
        handles.dispose(self.shared);
        handles.dispose(self.closure);
    }

    /// Returns the handle.
    pub(super) fn handle(&self) -> SharedHandle {
        SharedHandle { shared: self.shared, closure: self.closure }
    }
}

/// The handles of a function, which are valid until the function is disposed of.
#[derive(Debug, Clone, Copy)]
pub(super) struct SharedHandle {
    shared: *mut u64,
    /// Null if there is none.
    closure: *mut u64,
}

/// The names of scripts by their ids.
pub(super) type ScriptNames = FxHashMap<c_int, Arc<str>>;

impl Handles {
    fn dispose(&self, handle: *mut u64) {
        if !handle.is_null() {
            // SAFETY: the handle was made by V8, and is not used again.
            unsafe { (self.api.dispose_global)(handle) };
        }
    }

    /// Returns the frame of a function. Runs in a scope of handles.
    ///
    /// # Safety
    /// This is the isolate's thread, in a context, where the heap may grow.
    pub(super) unsafe fn frame(
        &self,
        function: SharedHandle,
        names: &mut ScriptNames,
    ) -> CallFrame {
        let env = Env::from_raw(self.env);
        let shared: Local = function.shared.cast();
        // SAFETY: the caller promises the thread. The handle is one of a `SharedFunctionInfo`, as those of
        // `v8::UnboundScript` are. A closure that nobody calls has the name that the text gives its function.
        unsafe {
            // V8 makes no closures of its own functions. What is inlined is a function of a script.
            let seen: Local = function.closure.cast();
            let is_in_script = seen.is_null() || (self.api.function_script_id)(seen) > 0;
            let closure = if is_in_script { get_local(self.api.bind, shared) } else { seen };
            let script_id = (self.api.function_script_id)(closure);
            let in_script = script_id > 0;
            let function_name = text_of(&env, get_local(self.api.debug_name, closure));
            let url = match names.get(&script_id) {
                _ if !in_script => Arc::from(""),
                Some(name) => Arc::clone(name),
                None => {
                    let name = text_of(&env, get_local(self.api.script_name, shared));
                    let name: Arc<str> = match name.is_empty() {
                        true => text_of(&env, get_local(self.api.source_url, shared)).into(),
                        false => name.into(),
                    };
                    if names.len() >= MAX_SCRIPTS {
                        names.clear();
                    }
                    names.insert(script_id, Arc::clone(&name));
                    ScriptHandler::note_existing(shared);
                    name
                }
            };
            let position = |number: unsafe extern "C" fn(Local) -> c_int| match in_script {
                true => number(closure),
                false => -1,
            };
            CallFrame {
                function_name,
                url: url.as_ref().to_owned(),
                script_id: u32::try_from(script_id).unwrap_or(0),
                line: position(self.api.function_line),
                column: position(self.api.function_column),
                origin: FrameOrigin::Executed,
                package: None,
                compiler: None,
            }
        }
    }

    /// Returns the line and column of an offset in the text of a function's script.
    ///
    /// # Safety
    /// As for `frame`.
    pub(super) unsafe fn position(&self, function: SharedHandle, offset: u32) -> SourcePosition {
        let Ok(offset) = c_int::try_from(offset) else { return SourcePosition::default() };
        let shared: Local = function.shared.cast();
        // V8 counts from 0, and returns -1 for an offset outside of the text.
        let from_1 = |number: c_int| u32::try_from(number).map_or(0, |number| number + 1);
        // SAFETY: the caller promises the thread, and the handle is one of a `SharedFunctionInfo`.
        let (line, column) = unsafe {
            let column = self.optional.column_of.map(|column_of| column_of(shared, offset));
            ((self.api.line_of)(shared, offset), column.unwrap_or(-1))
        };
        SourcePosition { line: from_1(line), column: from_1(column) }
    }
}
