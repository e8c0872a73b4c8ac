//! The handler that V8 calls for each new piece of compiled code, with its script: it takes the source map that stands
//! in the code, which often stands in no file, because a transpiler made it in memory.

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use napi::{Env, sys as napi_sys};
use rustc_hash::FxHashSet;

use super::maps::read_map;
use super::notes::{ScriptMap, ScriptNotes};
use super::texts;
use crate::sampler::v8::symbols::{self, Isolate, Local, exported};
use cpu_prof_core::base::system;

/// `v8::JitCodeEvent`, as far as it is read.
#[repr(C)]
pub(crate) struct JitCodeEvent {
    kind: c_int,
    code_type: c_int,
    code_start: *const c_void,
    code_len: usize,
    script: Local,
    user_data: *mut c_void,
    wasm_source: *const c_void,
    /// The name of new code: a pointer, and its length in bytes.
    name: *const c_char,
    name_len: usize,
}

/// `JitCodeEvent::CODE_ADDED`
const CODE_ADDED: c_int = 0;
/// `JitCodeEvent::JIT_CODE`, the last kind of code that JavaScript becomes.
const JIT_CODE: c_int = 1;
/// `JitCodeEvent::WASM_CODE`
const WASM_CODE: c_int = 2;
/// `kJitCodeEventDefault`
const NEW_CODE: c_int = 0;
/// `kJitCodeEventEnumExisting`
const ALL_CODE: c_int = 1;

type Handler = extern "C" fn(*const JitCodeEvent);

exported! {
    /// V8's functions for the handler.
    HandlerApi
    set_handler:
        c"_ZN2v87Isolate22SetJitCodeEventHandlerENS_19JitCodeEventOptionsEPFvPKNS_12JitCodeEventEE"
        c"?SetJitCodeEventHandler@Isolate@v8@@QEAAXW4JitCodeEventOptions@2@P6AXPEBUJitCodeEvent@2@@Z@Z"
        fn(*mut Isolate, c_int, Option<Handler>);
    script_id:
        c"_ZNK2v813UnboundScript5GetIdEv"
        c"?GetId@UnboundScript@v8@@QEBAHXZ"
        fn(Local) -> c_int;
    map_url:
        c"_ZN2v813UnboundScript19GetSourceMappingURLEv"
        c"?GetSourceMappingURL@UnboundScript@v8@@QEAA?AV?$Local@VValue@v8@@@2@XZ"
        fn(Local, *mut Local) -> Local;
}

/// The handler of one isolate. A `ScriptHandler` never leaves the isolate's thread (it is not
/// `Send`), and is removed in the environment's cleanup hook at the latest.
pub(crate) struct ScriptHandler {
    api: &'static HandlerApi,
    isolate: *mut Isolate,
}

/// The most scripts that are remembered: a program can compile new code as long as it runs.
const MAX_SEEN: usize = 100_000;

/// What the handler of this thread needs.
struct HandlerState {
    api: &'static HandlerApi,
    env: napi_sys::napi_env,
    last: c_int,
    seen: FxHashSet<c_int>,
    notes: Arc<ScriptNotes>,
}

thread_local! {
    static STATE: RefCell<Option<HandlerState>> = const { RefCell::new(None) };
}

impl ScriptHandler {
    /// Returns a handler for the calling thread, which adds to `notes`. Returns None if this process does not
    /// export what is needed.
    pub(crate) fn new(env: &Env, notes: Arc<ScriptNotes>) -> Option<Self> {
        let api = HandlerApi::find().ok()?;
        let isolate = symbols::current_isolate(symbols::api().ok()?)?;
        let (env, last, seen) = (env.raw(), -1, FxHashSet::default());
        STATE.set(Some(HandlerState { api, env, last, seen, notes }));
        Some(Self { api, isolate })
    }

    /// Notes the scripts so far. Who compiled a text of these is not known any more.
    pub(crate) fn take_existing(&self) {
        self.set(ALL_CODE, Some(on_code));
        self.set(NEW_CODE, None);
    }

    /// Notes all scripts from now on, and who compiles texts.
    pub(crate) fn listen(&self) {
        STATE.with_borrow(|state| {
            if let Some(HandlerState { env, notes, .. }) = state {
                texts::begin(*env, self.isolate, Arc::clone(notes));
            }
        });
        self.set(NEW_CODE, Some(on_code));
    }

    /// Notes the map of a script that was compiled before, if it is seen for the first time.
    ///
    /// # Safety
    /// `script` is a handle of a `v8::UnboundScript` of the calling thread's isolate, in a scope of handles.
    pub(crate) unsafe fn note_existing(script: Local) {
        STATE.with_borrow_mut(|state| {
            if let Some(state) = state {
                // SAFETY: the caller promises the handle.
                unsafe { state.script(script, false) };
            }
        });
    }

    /// Removes the handler.
    pub(crate) fn remove(self) {
        self.set(NEW_CODE, None);
        forget_environment();
    }

    fn set(&self, scope: c_int, handler: Option<Handler>) {
        // SAFETY: this is the isolate's own thread, inside a call from JavaScript or in the
        // environment's cleanup hook, and the isolate is alive.
        unsafe { (self.api.set_handler)(self.isolate, scope, handler) };
    }
}

/// Notes no more scripts on this thread, because its environment ends.
pub(crate) fn forget_environment() {
    STATE.take();
    texts::end();
}

impl HandlerState {
    /// Notes what is known of a script that is seen for the first time. `is_new` means that it was compiled just now.
    ///
    /// # Safety
    /// `script` is a handle of a `v8::UnboundScript` of the calling thread's isolate.
    unsafe fn script(&mut self, script: Local, is_new: bool) {
        // SAFETY: the caller promises the handle.
        let id = unsafe { (self.api.script_id)(script) };
        if id == self.last {
            return;
        }
        self.last = id;
        let Ok(script_id) = u32::try_from(id) else { return };
        // A script that is seen again costs one more look at its map.
        if self.seen.len() >= MAX_SEEN {
            self.seen.clear();
        }
        if !self.seen.insert(id) {
            return;
        }
        // The environment is alive: the handler is removed in its cleanup hook at the latest.
        let map = Env::from_raw(self.env).run_in_scope(|| {
            // SAFETY: the caller promises the handle, a scope is open, and the value is one of this environment.
            unsafe {
                if is_new {
                    texts::compiled(script, script_id);
                }
                let url = symbols::get_local(self.api.map_url, script);
                Ok(read_map(self.env, url.cast()))
            }
        });
        // The writer thread, which a forked child does not have, may have held the lock.
        if let Some(url) = map.ok().flatten().filter(|_| !system::is_forked()) {
            self.notes.add_maps([ScriptMap { script_id, url }]);
        }
    }
}

/// Is called by V8 for each piece of compiled code, while no garbage may be collected.
extern "C" fn on_code(event: *const JitCodeEvent) {
    // SAFETY: V8 passes an event that lives during this call.
    let JitCodeEvent { kind, code_type, code_start, code_len, script, name, name_len, .. } =
        unsafe { &*event };
    let is_script = *code_type <= JIT_CODE && !script.is_null();
    let is_wasm = *code_type == WASM_CODE && !name.is_null();
    if *kind != CODE_ADDED || !is_script && !is_wasm {
        return;
    }
    // Unwinding into C++ would end the process.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // The thread may be ending.
        let _ = STATE.try_with(|state| {
            if let Ok(mut state) = state.try_borrow_mut()
                && let Some(state) = state.as_mut()
            {
                if is_script {
                    // SAFETY: V8 passes a handle of the script, which lives during this call.
                    return unsafe { state.script(*script, true) };
                }
                // SAFETY: V8 passes a name of this length, which lives during this call.
                let name = unsafe { std::slice::from_raw_parts(name.cast::<u8>(), *name_len) };
                state.notes.wasm.add(*code_start as u64, *code_len as u64, name);
            }
        });
    }));
}
