//! Finds the places that compile texts: the calls of `eval`, `new Function` and `vm` without a file name.
//!
//! V8 calls the handler of new code where the stack must not be read: nothing may be allocated there. So the handler
//! notes the text, and asks V8 for an interrupt. V8 runs the interrupt at the next function that is entered, which is
//! the text itself where the text runs at once, or the function of `node:vm` that runs it. The function below on the
//! stack has compiled it. Where neither is on top of the stack, the place stays unknown.

use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use napi::{Env, sys as napi_sys};

use super::maps::{latin1, length};
use super::notes::{CompiledText, ScriptNotes};
use crate::sampler::v8::reach::{RunningFunction, innermost_functions};
use crate::sampler::v8::symbols::{Isolate, Local, LocalGetter, exported, get_local};
use cpu_prof_core::base::system;
use cpu_prof_core::profile::frame::VM_TEXT;

type Interrupt = extern "C" fn(*mut Isolate, *mut c_void);

exported! {
    /// V8's functions for texts.
    TextApi
    name:
        c"_ZN2v813UnboundScript13GetScriptNameEv"
        c"?GetScriptName@UnboundScript@v8@@QEAA?AV?$Local@VValue@v8@@@2@XZ"
        fn(Local, *mut Local) -> Local;
    request_interrupt:
        c"_ZN2v87Isolate16RequestInterruptEPFvPS0_PvES2_"
        c"?RequestInterrupt@Isolate@v8@@QEAAXP6AXPEAV12@PEAX@Z1@Z"
        fn(*mut Isolate, Interrupt, *mut c_void);
}

/// The functions of a stack that are looked at: between a text and the function that compiled it, there are few of
/// Node's own.
const MAX_FUNCTIONS: i32 = 16;
/// The most texts that wait for one interrupt.
const MAX_WAITING: usize = 64;
/// The time that reading stacks may take: this long, and beyond it one part in so many of the thread's life.
const FREE_US: i64 = 5_000;
const SHARE: i64 = 200;

/// The search of one thread.
struct TextSearch {
    api: &'static TextApi,
    isolate: *mut Isolate,
    env: napi_sys::napi_env,
    notes: Arc<ScriptNotes>,
    /// Ids of the texts that wait for the interrupt.
    waiting: Vec<u32>,
    /// CLOCK_MONOTONIC at the beginning, microseconds.
    since_us: i64,
    /// Time that reading stacks has taken, microseconds.
    spent_us: i64,
}

thread_local! {
    static SEARCH: RefCell<Option<TextSearch>> = const { RefCell::new(None) };
}

/// Lets the places that compile texts be found on the calling thread, where V8 exports what is needed.
pub(super) fn begin(env: napi_sys::napi_env, isolate: *mut Isolate, notes: Arc<ScriptNotes>) {
    // On Windows, no stack can be read.
    let Some(api) = TextApi::find().ok().filter(|_| !system::IS_WINDOWS) else { return };
    let (waiting, since_us) = (Vec::new(), system::now_us());
    SEARCH.set(Some(TextSearch { api, isolate, env, notes, waiting, since_us, spent_us: 0 }));
}

/// Looks for no more places on the calling thread.
pub(super) fn end() {
    SEARCH.take();
}

/// Lets the place that compiles a new script be found, if the script is a text without a name.
///
/// # Safety
/// `script` is a handle of a `v8::UnboundScript` of the calling thread's isolate, in a scope of handles.
pub(super) unsafe fn compiled(script: Local, script_id: u32) {
    // The thread may be ending.
    let _ = SEARCH.try_with(|search| {
        let Ok(mut search) = search.try_borrow_mut() else { return };
        let Some(search) = search.as_mut() else { return };
        if search.waiting.len() >= MAX_WAITING || !search.may_read() {
            return;
        }
        // SAFETY: the caller promises the handle.
        let is_text = unsafe {
            let name = get_local(search.api.name as LocalGetter<Local>, script);
            is_no_name(search.env, name.cast())
        };
        if !is_text {
            return;
        }
        search.waiting.push(script_id);
        if search.waiting.len() == 1 {
            // SAFETY: any thread may ask for an interrupt, while the isolate is alive.
            unsafe {
                (search.api.request_interrupt)(search.isolate, on_interrupt, ptr::null_mut())
            };
        }
    });
}

/// Returns whether the name of a script is that of a text without a name.
///
/// # Safety
/// `name` has the bits of a `v8::Local` of the environment's isolate, or is null.
unsafe fn is_no_name(env: napi_sys::napi_env, name: napi_sys::napi_value) -> bool {
    // SAFETY: the caller promises the value.
    unsafe {
        match length(env, name) {
            None | Some(0) => true,
            Some(length) if length == VM_TEXT.len() => {
                latin1(env, name, length).is_some_and(|text| text == VM_TEXT.as_bytes())
            }
            Some(_) => false,
        }
    }
}

impl TextSearch {
    fn may_read(&self) -> bool {
        self.spent_us < FREE_US + (system::now_us() - self.since_us) / SHARE
    }
}

/// Is called by V8 on the isolate's thread, where JavaScript stands still.
extern "C" fn on_interrupt(_: *mut Isolate, _: *mut c_void) {
    // Unwinding into C++ would end the process.
    let _ = catch_unwind(AssertUnwindSafe(find_waiting));
}

/// Finds the places of the texts that wait.
fn find_waiting() {
    let started_us = system::now_us();
    // V8 may call the handler of new code while it makes the stack trace.
    let waiting = SEARCH.try_with(|search| {
        let mut search = search.try_borrow_mut().ok()?;
        let search = search.as_mut()?;
        Some((search.env, std::mem::take(&mut search.waiting)))
    });
    let Ok(Some((env, waiting))) = waiting else { return };
    let stack = innermost_functions(&Env::from_raw(env), MAX_FUNCTIONS);
    let found = waiting.into_iter().filter_map(|script_id| {
        let compiler = compiler_of(script_id, &stack)?.clone();
        Some(CompiledText { script_id, compiler })
    });
    let found: Vec<CompiledText> = found.collect();
    let _ = SEARCH.try_with(|search| {
        let Ok(mut search) = search.try_borrow_mut() else { return };
        let Some(search) = search.as_mut() else { return };
        search.spent_us += system::now_us() - started_us;
        // The writer thread, which a forked child does not have, may have held the lock.
        if !found.is_empty() && !system::is_forked() {
            search.notes.add_texts(found);
        }
    });
}

/// Returns the function that compiled a text, from a stack whose first function is the innermost; none if that is not
/// certain.
fn compiler_of(script_id: u32, stack: &[RunningFunction]) -> Option<&RunningFunction> {
    let mut scripts = stack.iter().filter(|function| function.script_id != 0);
    let innermost = scripts.next()?;
    let is_vm = |function: &RunningFunction| {
        matches!(function.url.as_str(), "node:vm" | "node:internal/vm")
    };
    // `script.runInThisContext()` may be called by other code than the last `new vm.Script()`, and so may the next of
    // these; `vm.runInThisContext()` calls both.
    let mut is_other = || {
        let (is_next, runs) = (innermost.name == "Script", innermost.name.starts_with("runIn"));
        is_next || runs && !scripts.next().is_some_and(is_vm)
    };
    if innermost.script_id != script_id && (!is_vm(innermost) || is_other()) {
        return None;
    }
    let has_file = |function: &&RunningFunction| {
        !matches!(function.url.as_str(), "" | VM_TEXT) && !function.url.starts_with("node:")
    };
    stack.iter().find(has_file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(url: &str, script_id: u32) -> RunningFunction {
        RunningFunction { name: "f".into(), url: url.into(), script_id, line: 3, column: 5 }
    }

    #[test]
    fn the_caller_of_a_text_or_of_nodes_vm_has_compiled_it() {
        let (text, native, own) = (function("", 7), function("", 0), function("/r/a.js", 2));
        let (vm, timers) = (function("node:internal/vm", 3), function("node:internal/timers", 4));
        let evaluated = function(VM_TEXT, 9);
        let found = |stack: &[&RunningFunction]| {
            let stack: Vec<RunningFunction> = stack.iter().map(|part| (*part).clone()).collect();
            compiler_of(7, &stack).map(|compiler| compiler.url.clone())
        };
        let expected = Some("/r/a.js".to_owned());
        assert_eq!(found(&[&text, &own]), expected);
        assert_eq!(found(&[&native, &text, &native, &own, &timers]), expected);
        assert_eq!(found(&[&text, &evaluated, &timers, &own]), expected);
        assert_eq!(found(&[&vm, &own]), expected);
        let runs = RunningFunction { name: "runInThisContext".into(), ..function("node:vm", 4) };
        assert_eq!(found(&[&runs, &runs, &own]), expected);
        assert_eq!(found(&[&runs, &own]), None);
        let next = RunningFunction { name: "Script".into(), ..runs };
        assert_eq!(found(&[&next, &own]), None);
        // A text that did not run at once.
        assert_eq!(found(&[&own, &text]), None);
        assert_eq!(found(&[&evaluated, &own]), None);
        assert_eq!(found(&[&timers, &own]), None);
        assert_eq!(found(&[&text, &timers]), None);
        assert_eq!(found(&[&native]), None);
        assert_eq!(found(&[]), None);
    }
}
