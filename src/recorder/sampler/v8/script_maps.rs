//! Takes the source maps that stand in code itself, when V8 compiles the code.
//!
//! Such code often stands in no file: a transpiler made it in memory. V8 tells each new piece of
//! compiled code to one handler of the isolate, with the script.

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use napi::{Env, sys as napi_sys};
use parking_lot::Mutex;
use rustc_hash::FxHashSet;

use super::symbols::{self, Isolate, Local, exported};
use cpu_prof_core::base::system;

/// A map of a script.
#[derive(Debug)]
pub(crate) struct ScriptMap {
    /// V8's id of the script.
    pub script_id: u32,
    /// The `data:` URL of the map.
    pub url: String,
}

/// Maps on their way to the writer thread.
#[derive(Debug, Default)]
pub(crate) struct ScriptMaps(Mutex<Vec<ScriptMap>>);

impl ScriptMaps {
    /// Adds maps.
    pub(crate) fn add(&self, maps: impl IntoIterator<Item = ScriptMap>) {
        self.0.lock().extend(maps);
    }

    /// Takes the maps of the scripts that were compiled since the last call.
    pub(crate) fn take(&self) -> Vec<ScriptMap> {
        std::mem::take(&mut self.0.lock())
    }
}

/// `v8::JitCodeEvent`, as far as it is read.
#[repr(C)]
pub(super) struct JitCodeEvent {
    kind: c_int,
    code_type: c_int,
    code_start: *const c_void,
    code_len: usize,
    script: Local,
}

/// `JitCodeEvent::CODE_ADDED`
const CODE_ADDED: c_int = 0;
/// `JitCodeEvent::JIT_CODE`, the last kind of code that JavaScript becomes.
const JIT_CODE: c_int = 1;
/// `kJitCodeEventDefault`
const NEW_CODE: c_int = 0;
/// `kJitCodeEventEnumExisting`
const ALL_CODE: c_int = 1;

/// The start of a URL that holds a map.
const DATA: &[u8] = b"data:";
/// Maps larger than this are left out: bytes.
const MAX_BYTES: usize = 64 << 20;

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

/// The handler of one isolate. A `ScriptMapHandler` never leaves the isolate's thread (it is not
/// `Send`), and is removed in the environment's cleanup hook at the latest.
pub(super) struct ScriptMapHandler {
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
    maps: Arc<ScriptMaps>,
}

thread_local! {
    static STATE: RefCell<Option<HandlerState>> = const { RefCell::new(None) };
}

impl ScriptMapHandler {
    /// Returns a handler for the calling thread. Returns None if this process does not export what is
    /// needed.
    pub(super) fn new(env: &Env, maps: Arc<ScriptMaps>) -> Option<Self> {
        let api = HandlerApi::find().ok()?;
        let isolate = symbols::current_isolate(symbols::api().ok()?)?;
        let (env, last, seen) = (env.raw(), -1, FxHashSet::default());
        STATE.set(Some(HandlerState { api, env, last, seen, maps }));
        Some(Self { api, isolate })
    }

    /// Takes the maps of the scripts so far.
    pub(super) fn take_existing(&self) {
        self.set(ALL_CODE, Some(on_code));
        self.set(NEW_CODE, None);
    }

    /// Takes the maps of all scripts from now on.
    pub(super) fn listen(&self) {
        self.set(NEW_CODE, Some(on_code));
    }

    /// Removes the handler.
    pub(super) fn remove(self) {
        self.set(NEW_CODE, None);
        STATE.take();
    }

    fn set(&self, scope: c_int, handler: Option<Handler>) {
        // SAFETY: this is the isolate's own thread, inside a call from JavaScript or in the
        // environment's cleanup hook, and the isolate is alive.
        unsafe { (self.api.set_handler)(self.isolate, scope, handler) };
    }
}

/// Takes no more maps on this thread, because its environment ends.
pub(crate) fn forget_environment() {
    STATE.take();
}

impl HandlerState {
    /// Takes the map of a script that is seen for the first time.
    fn script(&mut self, script: Local) {
        // SAFETY: V8 passes a handle of the script, which lives during this call.
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
        // The writer thread, which a forked child does not have, may have held the lock.
        if let Some(url) = self.map_url(script).filter(|_| !system::is_forked()) {
            self.maps.add([ScriptMap { script_id, url }]);
        }
    }

    fn map_url(&self, script: Local) -> Option<String> {
        let mut scope = ptr::null_mut();
        // SAFETY: this is the environment's thread, and the environment is alive: the handler is
        // removed in the environment's cleanup hook at the latest.
        unsafe {
            if napi_sys::napi_open_handle_scope(self.env, &mut scope) != napi_sys::Status::napi_ok {
                return None;
            }
            let url = self.read(symbols::get_local(self.api.map_url, script).cast());
            napi_sys::napi_close_handle_scope(self.env, scope);
            url
        }
    }

    /// Reads a string that holds a map. Any other value is no map. The string is one of the parser's,
    /// which is flat, so that V8 allocates nothing.
    ///
    /// # Safety
    /// `value` has the bits of a `v8::Local` of this isolate, or is null.
    unsafe fn read(&self, value: napi_sys::napi_value) -> Option<String> {
        const OK: napi_sys::napi_status = napi_sys::Status::napi_ok;
        if value.is_null() {
            return None;
        }
        // Returns the count of characters that are written; of all if there is no buffer.
        let read = |buffer: *mut c_char, bytes: usize| {
            let mut length = 0;
            // SAFETY: the caller promises a value of this environment, and the buffer has `bytes`.
            let status = unsafe {
                napi_sys::napi_get_value_string_latin1(self.env, value, buffer, bytes, &mut length)
            };
            (status == OK).then_some(length)
        };
        let copy = |characters: usize| {
            // The function appends a NUL.
            let mut text = vec![0_u8; characters + 1];
            let written = read(text.as_mut_ptr().cast(), text.len())?;
            text.truncate(written);
            Some(text)
        };
        let length = read(ptr::null_mut(), 0).filter(|length| *length <= MAX_BYTES)?;
        copy(DATA.len()).filter(|start| start == DATA)?;
        // Text outside of ASCII has other bytes in UTF-8.
        String::from_utf8(copy(length)?).ok()
    }
}

/// Is called by V8 for each piece of compiled code, while no garbage may be collected.
extern "C" fn on_code(event: *const JitCodeEvent) {
    // SAFETY: V8 passes an event that lives during this call.
    let JitCodeEvent { kind, code_type, script, .. } = unsafe { &*event };
    if *kind != CODE_ADDED || *code_type > JIT_CODE || script.is_null() {
        return;
    }
    // Unwinding into C++ would end the process.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // The thread may be ending.
        let _ = STATE.try_with(|state| {
            if let Ok(mut state) = state.try_borrow_mut()
                && let Some(state) = state.as_mut()
            {
                state.script(*script);
            }
        });
    }));
}
