//! What was found of this process's V8, and proven on functions that run: all isolates are alike.

use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::ptr;
use std::sync::OnceLock;

use napi::{Env, sys as napi_sys};

use super::frames::NativeFrame;
use super::isolate::{ExitLook, IsolateSlots};
use super::layout::Layout;
use super::memory::HeapMemory;
use super::objects::HeapObjects;
use super::symbols::WalkApi;
use crate::sampler::v8::FrameFinder;
use crate::sampler::v8::symbols::{self, Isolate};
use cpu_prof_core::base::system::checked_memory::{read_word, read_words};
use cpu_prof_core::base::system::sampling_signal::HAS_TIMERS;

/// What a walk needs to know.
pub(super) struct Proven {
    pub api: &'static WalkApi,
    pub layout: Layout,
    pub slots: IsolateSlots,
    /// Where frames by which JavaScript calls C++ have the function that C++ implements, as far as that was found.
    pub natives: Vec<NativeFrame>,
}

static PROVEN: OnceLock<Option<Proven>> = OnceLock::new();

thread_local! {
    /// What the inner one of two calls has found.
    static INNER: RefCell<Option<ExitLook>> = const { RefCell::new(None) };
    /// Frames of functions that C++ implements, the innermost first, each with the words above it.
    static NATIVES: Cell<[Option<SeenFrame>; 2]> = const { Cell::new([None; 2]) };
}

/// A frame by which JavaScript has called C++.
#[derive(Debug, Clone, Copy)]
struct SeenFrame {
    /// Type of the frame.
    kind: u64,
    /// The words from the frame pointer on.
    words: [u64; NATIVE_WORDS],
}

/// Words above the pointer of a frame, its arguments among them, that are looked through.
const NATIVE_WORDS: usize = 16;

/// Returns what was proven; none if nothing was.
pub(super) fn proven() -> Option<&'static Proven> {
    PROVEN.get()?.as_ref()
}

/// Finds and proves all that a walk needs, once for the process. JavaScript must have called the calling function.
/// `calling` is a function of JavaScript that calls its first argument: within `JSON.stringify` if the second is true.
pub(crate) fn prove(env: &Env, calling: napi_sys::napi_value) {
    PROVEN.get_or_init(|| {
        HAS_TIMERS.then_some(())?;
        let outer = look()?;
        let scope = HandleScope::open(env.raw())?;
        let look_within = scope.function(on_look)?;
        scope.call(calling, &[look_within])?;
        let inner = INNER.take()?;
        let api = WalkApi::find().ok()?;
        let layout = Layout::find(api)?;
        let slots = outer.slots(&inner)?;
        let memory = HeapMemory::default();
        let objects = HeapObjects { layout: &layout, memory: &memory };
        let pointers = [calling, look_within].map(pointer_of);
        objects.shared_of_functions(&pointers).into_iter().collect::<Option<Vec<_>>>()?;
        let mut proven = Proven { api, layout, slots, natives: Vec::new() };
        proven.natives = natives(&scope, &proven, calling).unwrap_or_default();
        Some(proven)
    });
}

/// Finds where frames have the function that C++ implements, by a function of this addon and by `JSON.stringify`.
fn natives(
    scope: &HandleScope,
    proven: &Proven,
    calling: napi_sys::napi_value,
) -> Option<Vec<NativeFrame>> {
    SLOTS.set(Some((proven.slots, proven.layout.frames.entries)));
    let own = scope.function(on_native)?;
    let built_in = scope.property(scope.property(scope.global()?, c"JSON")?, c"stringify")?;
    NATIVES.set([None; 2]);
    // The addresses must be the same before and after: a collection moves functions.
    let pointers = [own, built_in].map(pointer_of);
    scope.call(calling, &[own, scope.yes()?])?;
    (pointers == [own, built_in].map(pointer_of)).then_some(())?;
    let found = NATIVES.get().into_iter().zip(pointers).filter_map(|(seen, pointer)| {
        let SeenFrame { kind, words } = seen?;
        // The caller's own frame, which follows, can have the function, too.
        let index = (2..NATIVE_WORDS).find(|index| words.get(*index) == Some(&pointer))?;
        Some(NativeFrame { kind, function: 8 * index as i64 })
    });
    let mut found: Vec<NativeFrame> = found.collect();
    found.dedup();
    Some(found)
}

thread_local! {
    /// What [`on_native`] follows frames with.
    static SLOTS: Cell<Option<(IsolateSlots, [u64; 2])>> = const { Cell::new(None) };
}

/// Is called by JavaScript that was called by [`prove`].
extern "C" fn on_look(
    _: napi_sys::napi_env,
    _: napi_sys::napi_callback_info,
) -> napi_sys::napi_value {
    let look = std::panic::catch_unwind(look).ok().flatten();
    INNER.set(look);
    ptr::null_mut()
}

/// Is called by a built-in function that C++ implements.
extern "C" fn on_native(
    _: napi_sys::napi_env,
    _: napi_sys::napi_callback_info,
) -> napi_sys::napi_value {
    let seen = std::panic::catch_unwind(|| {
        let (slots, entries) = SLOTS.take()?;
        let isolate = symbols::current_isolate(symbols::api().ok()?)?;
        // SAFETY: this is the isolate's thread.
        let innermost = unsafe { slots.exit_frame(isolate) };
        let mut frame = innermost;
        for _ in 0..MAX_FRAMES {
            let kind = read_word(frame.checked_sub(8)?)?;
            if kind & 1 == 0 && entries.contains(&(kind >> 1)) {
                let outer = read_word(frame.wrapping_add_signed(slots.entry_link))?;
                return Some([SeenFrame::at(innermost), SeenFrame::at(outer)]);
            }
            frame = read_word(frame).filter(|caller| *caller > frame)?;
        }
        None
    });
    NATIVES.set(seen.ok().flatten().unwrap_or_default());
    ptr::null_mut()
}

/// The most frames between two frames of entry.
const MAX_FRAMES: usize = 64;

impl SeenFrame {
    fn at(frame: u64) -> Option<Self> {
        let kind = read_word(frame.checked_sub(8)?).filter(|kind| kind & 1 == 0)? >> 1;
        let mut words = [0; NATIVE_WORDS];
        read_words(frame, &mut words).then_some(Self { kind, words })
    }
}

/// Returns the address of the object that a value is.
fn pointer_of(value: napi_sys::napi_value) -> u64 {
    // SAFETY: a value of Node-API is the address of a pointer to its object, in an open scope.
    unsafe { value.cast::<u64>().read() }
}

fn look() -> Option<ExitLook> {
    let api = WalkApi::find().ok()?;
    let layout = Layout::find(api)?;
    let isolate: *mut Isolate = symbols::current_isolate(symbols::api().ok()?)?;
    let finder = FrameFinder::of_this_thread()?;
    ExitLook::from_here(isolate, &layout.frames, finder.code(), finder.stack_end())
}

/// A scope of values.
struct HandleScope {
    env: napi_sys::napi_env,
    scope: napi_sys::napi_handle_scope,
}

impl HandleScope {
    fn open(env: napi_sys::napi_env) -> Option<Self> {
        let mut scope = ptr::null_mut();
        // SAFETY: this is the environment's thread, within a call from JavaScript.
        let status = unsafe { napi_sys::napi_open_handle_scope(env, &mut scope) };
        (status == napi_sys::Status::napi_ok).then_some(Self { env, scope })
    }

    /// Returns the value that a function of Node-API makes; none if it fails.
    fn value(
        &self,
        make: impl FnOnce(&mut napi_sys::napi_value) -> napi_sys::napi_status,
    ) -> Option<napi_sys::napi_value> {
        let mut value = ptr::null_mut();
        let is_made = make(&mut value) == napi_sys::Status::napi_ok && !value.is_null();
        self.forget_error();
        is_made.then_some(value)
    }

    /// Does not pass on what a function or a getter of the program has thrown.
    fn forget_error(&self) {
        let (mut is_pending, mut error) = (false, ptr::null_mut());
        // SAFETY: this is the environment's thread, and the scope is open.
        unsafe {
            napi_sys::napi_is_exception_pending(self.env, &mut is_pending);
            if is_pending {
                napi_sys::napi_get_and_clear_last_exception(self.env, &mut error);
            }
        }
    }

    fn function(
        &self,
        call: extern "C" fn(
            napi_sys::napi_env,
            napi_sys::napi_callback_info,
        ) -> napi_sys::napi_value,
    ) -> Option<napi_sys::napi_value> {
        // SAFETY: this is the environment's thread, and the scope is open.
        self.value(|value| unsafe {
            napi_sys::napi_create_function(
                self.env,
                ptr::null(),
                0,
                Some(call),
                ptr::null_mut(),
                value,
            )
        })
    }

    fn global(&self) -> Option<napi_sys::napi_value> {
        // SAFETY: the same.
        self.value(|value| unsafe { napi_sys::napi_get_global(self.env, value) })
    }

    fn property(&self, object: napi_sys::napi_value, name: &CStr) -> Option<napi_sys::napi_value> {
        // SAFETY: the same.
        self.value(|value| unsafe {
            napi_sys::napi_get_named_property(self.env, object, name.as_ptr(), value)
        })
    }

    /// Returns `true`.
    fn yes(&self) -> Option<napi_sys::napi_value> {
        // SAFETY: the same.
        self.value(|value| unsafe { napi_sys::napi_get_boolean(self.env, true, value) })
    }

    fn call(
        &self,
        function: napi_sys::napi_value,
        arguments: &[napi_sys::napi_value],
    ) -> Option<()> {
        let global = self.global()?;
        let mut result = ptr::null_mut();
        // SAFETY: the same. The arguments are as many as is said.
        let status = unsafe {
            let (count, first) = (arguments.len(), arguments.as_ptr());
            napi_sys::napi_call_function(self.env, global, function, count, first, &mut result)
        };
        self.forget_error();
        (status == napi_sys::Status::napi_ok).then_some(())
    }
}

impl Drop for HandleScope {
    fn drop(&mut self) {
        // SAFETY: the scope was opened here, and no value in it is used again.
        unsafe { napi_sys::napi_close_handle_scope(self.env, self.scope) };
    }
}
