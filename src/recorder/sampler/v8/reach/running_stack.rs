//! The functions that a thread is in.
//!
//! V8's profiler does not know the code of a loop that V8 has optimized while the loop ran (on-stack
//! replacement) before the profiler started. A recording that starts in such a loop has its samples in
//! the caller. A stack trace names the function, and it names who compiles a text.

use std::ffi::c_int;
use std::ptr;

use napi::{Env, sys as napi_sys};

use crate::sampler::v8::symbols::{self, Isolate, Local, current_isolate, exported};
use cpu_prof_core::base::system::IS_WINDOWS;
use cpu_prof_core::profile::frame::CallFrame;

/// A function on a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunningFunction {
    /// Name; empty for an anonymous function.
    pub name: String,
    /// Name of the script.
    pub url: String,
    /// V8's id of the script.
    pub script_id: u32,
    /// Line that is running, from 1.
    pub line: u32,
    /// Column that is running, from 1.
    pub column: u32,
}

impl RunningFunction {
    /// Returns the function as a frame, at the place that is running: a stack trace has no other.
    pub(crate) fn frame(&self) -> CallFrame {
        let from_0 = |number: u32| i32::try_from(number).map_or(-1, |number| number - 1);
        CallFrame {
            function_name: self.name.clone(),
            url: self.url.clone(),
            script_id: self.script_id,
            line: from_0(self.line),
            column: from_0(self.column),
            ..CallFrame::root()
        }
    }
}

/// The most functions of a stack that is read. A deeper stack is not read: its reading takes time.
const MAX_FUNCTIONS: c_int = 128;
/// All of `v8::StackTrace::StackTraceOptions`.
const OPTIONS: c_int = 511;

exported! {
    /// The functions that a stack trace needs.
    StackApi
    current_stack_trace:
        c"_ZN2v810StackTrace17CurrentStackTraceEPNS_7IsolateEiNS0_17StackTraceOptionsE"
        c"?CurrentStackTrace@StackTrace@v8@@SA?AV?$Local@VStackTrace@v8@@@2@PEAVIsolate@2@HW4StackTraceOptions@12@@Z"
        fn(*mut Isolate, c_int, c_int) -> Local;
    frame_count:
        c"_ZNK2v810StackTrace13GetFrameCountEv"
        c"?GetFrameCount@StackTrace@v8@@QEBAHXZ"
        fn(Local) -> c_int;
    frame:
        c"_ZNK2v810StackTrace8GetFrameEPNS_7IsolateEj"
        c"?GetFrame@StackTrace@v8@@QEBA?AV?$Local@VStackFrame@v8@@@2@PEAVIsolate@2@I@Z"
        fn(Local, *mut Isolate, u32) -> Local;
    location:
        c"_ZNK2v810StackFrame11GetLocationEv"
        c"?GetLocation@StackFrame@v8@@QEBA?AVLocation@2@XZ"
        fn(Local) -> u64;
    script_id:
        c"_ZNK2v810StackFrame11GetScriptIdEv"
        c"?GetScriptId@StackFrame@v8@@QEBAHXZ"
        fn(Local) -> c_int;
    script_name:
        c"_ZNK2v810StackFrame13GetScriptNameEv"
        c"?GetScriptName@StackFrame@v8@@QEBA?AV?$Local@VString@v8@@@2@XZ"
        fn(Local) -> Local;
    function_name:
        c"_ZNK2v810StackFrame15GetFunctionNameEv"
        c"?GetFunctionName@StackFrame@v8@@QEBA?AV?$Local@VString@v8@@@2@XZ"
        fn(Local) -> Local;
}

/// Returns the functions that the calling thread is in, the outermost first; none if they are too many or
/// this Node does not tell. Runs no JavaScript.
pub(crate) fn running_functions(env: &Env) -> Vec<RunningFunction> {
    let mut functions = innermost_functions(env, MAX_FUNCTIONS);
    if functions.len() >= MAX_FUNCTIONS as usize {
        functions.clear();
    }
    functions.reverse();
    functions
}

/// Returns at most `count` of the functions that the calling thread is in, the innermost first; none if this Node
/// does not tell. Runs no JavaScript.
pub(crate) fn innermost_functions(env: &Env, count: c_int) -> Vec<RunningFunction> {
    // On Windows these functions return their results in another way.
    if IS_WINDOWS {
        return Vec::new();
    }
    let (Ok(stack), Ok(api)) = (StackApi::find(), symbols::api()) else { return Vec::new() };
    let Some(isolate) = current_isolate(api) else { return Vec::new() };
    let read = || {
        // SAFETY: this is the isolate's own thread, and the caller's scope holds the handles.
        unsafe {
            let trace = (stack.current_stack_trace)(isolate, count, OPTIONS);
            let count = if trace.is_null() { 0 } else { (stack.frame_count)(trace) };
            let function = |index| {
                let frame = (stack.frame)(trace, isolate, index);
                // A `v8::Location` is two numbers of 32 bits: line and column, from 0.
                let location = (stack.location)(frame);
                RunningFunction {
                    name: text_of(env, (stack.function_name)(frame)),
                    url: text_of(env, (stack.script_name)(frame)),
                    script_id: u32::try_from((stack.script_id)(frame)).unwrap_or(0),
                    line: (location as u32).wrapping_add(1),
                    column: ((location >> 32) as u32).wrapping_add(1),
                }
            };
            (0..u32::try_from(count).unwrap_or(0)).map(function).collect()
        }
    };
    env.run_in_scope(|| Ok(read())).unwrap_or_default()
}

/// Returns the text of a `v8::String`; empty for none, and for one that is too long.
pub(crate) fn text_of(env: &Env, string: Local) -> String {
    const MAX_BYTES: usize = 4096;
    if string.is_null() {
        return String::new();
    }
    let mut bytes = vec![0; MAX_BYTES];
    let mut length = 0;
    // SAFETY: the environment is alive, and a `napi_value` is a `v8::Local`. The call writes at most as
    // many bytes as it is told, and fails for a value that is no string.
    let status = unsafe {
        let value = string.cast();
        napi_sys::napi_get_value_string_utf8(
            env.raw(),
            value,
            ptr::from_mut(&mut bytes[0]).cast(),
            MAX_BYTES,
            &mut length,
        )
    };
    let is_whole = status == napi_sys::Status::napi_ok && length + 1 < MAX_BYTES;
    bytes.truncate(if is_whole { length } else { 0 });
    String::from_utf8(bytes).unwrap_or_default()
}
