//! Finds where an isolate keeps the current frame of the asynchronous context.
//!
//! V8 tells the frame, and not the field with it. So the isolate's memory is searched for the frame, in two
//! contexts: one field has both.

use std::ffi::{c_int, c_void};
use std::ptr;

use napi::Env;
use napi::bindgen_prelude::{JsValue, Object};
use napi::sys as napi_sys;

use super::super::symbols::{self, Isolate, Local, LocalGetter, exported, get_local};
use super::frame::{FrameReader, is_object};
use cpu_prof_core::base::system::{exported as variable, sampling_signal::read_memory};

/// The part of an isolate that is searched, bytes.
const SEARCHED: usize = 64 << 10;

exported! {
    /// The functions of V8 that are needed. Node has them from 22 on.
    LabelApi
    frame:
        c"_ZN2v87Isolate36GetContinuationPreservedEmbedderDataEv"
        c"?GetContinuationPreservedEmbedderData@Isolate@v8@@QEAA?AV?$Local@VValue@v8@@@2@XZ"
        fn(*mut Isolate, *mut Local) -> Local;
    set_frame:
        c"_ZN2v87Isolate36SetContinuationPreservedEmbedderDataENS_5LocalINS_5ValueEEE"
        c"?SetContinuationPreservedEmbedderData@Isolate@v8@@QEAAXV?$Local@VValue@v8@@@2@@Z"
        fn(*mut Isolate, Local);
    identity_hash:
        c"_ZN2v86Object15GetIdentityHashEv"
        c"?GetIdentityHash@Object@v8@@QEAAHXZ"
        fn(Local) -> c_int;
    globalize_reference:
        c"_ZN2v812api_internal18GlobalizeReferenceEPNS_8internal7IsolateEm"
        c"?GlobalizeReference@api_internal@v8@@YAPEA_KPEAVIsolate@internal@2@_K@Z"
        fn(*mut Isolate, u64) -> *mut u64;
}

/// The fields that can be the one with the frame.
#[derive(Debug)]
pub(crate) struct SlotSearch {
    /// Offsets in the isolate, bytes.
    offsets: Vec<usize>,
}

impl SlotSearch {
    /// Looks for the current frame. Returns None if there is no frame: this Node has none, or was told to
    /// do without.
    pub(crate) fn begin(env: &Env) -> Option<Self> {
        let (isolate, frame) = current_frame(env)?;
        let mut bytes = vec![0; SEARCHED];
        // An isolate is larger than the part. If it were not, memory behind it might not be there.
        while !read_memory(isolate as usize, &mut bytes) {
            bytes.truncate(bytes.len() / 2);
            if bytes.is_empty() {
                break;
            }
        }
        let words = bytes.chunks_exact(8).enumerate();
        let offsets = words.filter(|(_, word)| **word == frame.to_ne_bytes());
        Some(Self { offsets: offsets.map(|(index, _)| index * 8).collect() })
    }

    /// Looks again in another context. Returns how the value of `storage` is read from now on; none if the
    /// field is not certain.
    pub(super) fn end(self, env: &Env, storage: &Object<'_>) -> Option<FrameReader> {
        let Self { mut offsets } = self;
        let again = Self::begin(env)?;
        offsets.retain(|offset| again.offsets.contains(offset));
        let [offset] = offsets[..] else { return None };
        let api = LabelApi::find().ok()?;
        let (isolate, _) = current_frame(env)?;
        let storage: Local = storage.raw().cast();
        // SAFETY: this is the isolate's thread, in a call from JavaScript, so the storage's handle is alive
        // and points to the object. The variables are numbers that V8 exports for debuggers.
        unsafe {
            let hash = (api.identity_hash)(storage);
            let key = (api.globalize_reference)(isolate, *storage.cast::<u64>());
            let map_type = number(c"v8dbg_type_JSMap__JS_MAP_TYPE")?;
            let type_offset = number(c"v8dbg_class_Map__instance_type__uint16_t")?;
            let slot = isolate.cast::<u8>().add(offset).cast::<u64>().cast_const();
            let hash = u32::try_from(hash).ok()?;
            let map_type = u16::try_from(map_type).ok()?;
            let type_offset = u64::try_from(type_offset).ok().filter(|offset| *offset < 64)?;
            let key = ptr::NonNull::new(key)?.as_ptr().cast_const();
            Some(FrameReader { isolate, slot, key, hash, map_type, type_offset })
        }
    }
}

/// Returns the current frame, for JavaScript; none if there is none.
pub(super) fn frame_object<'env>(env: &'env Env) -> Option<Object<'env>> {
    let (isolate, _) = current_frame(env)?;
    let api = LabelApi::find().ok()?;
    // SAFETY: this is the isolate's thread, in a call from JavaScript, whose scope has the handle.
    let frame = unsafe { get_local(api.frame as LocalGetter<*mut Isolate>, isolate) };
    Some(Object::from_raw(env.raw(), frame.cast()))
}

/// Returns whether there is no current frame.
pub(super) fn is_outside(reader: &FrameReader, env: &Env) -> bool {
    let mut undefined = ptr::null_mut();
    // SAFETY: this is the isolate's thread, in a call from JavaScript, so the handle is alive and points to a
    // word.
    unsafe {
        let status = napi_sys::napi_get_undefined(env.raw(), &mut undefined);
        status == napi_sys::Status::napi_ok
            && reader.slot.read_volatile() == undefined.cast::<u64>().read()
    }
}

/// Makes a frame the current one if there is none. Returns whether it is.
pub(super) fn enter(reader: &FrameReader, env: &Env, frame: &Object<'_>) -> bool {
    let Ok(api) = LabelApi::find() else { return false };
    let is_outside = is_outside(reader, env);
    if is_outside {
        // SAFETY: as above. JavaScript gives a frame that was current before.
        unsafe { (api.set_frame)(reader.isolate, frame.raw().cast()) };
    }
    is_outside
}

/// Returns whether the field still has the frame that V8 tells. Runs no JavaScript, so it may run in an
/// interrupt.
pub(super) fn is_current(reader: &FrameReader, env: napi_sys::napi_env) -> bool {
    // SAFETY: this is the isolate's thread, and the field is a part of the isolate.
    current_word(env).is_some_and(|(_, word)| unsafe { reader.slot.read_volatile() } == word)
}

/// Returns the isolate of the calling thread and the pointer to the current frame.
fn current_frame(env: &Env) -> Option<(*mut Isolate, u64)> {
    current_word(env.raw()).filter(|(_, word)| is_object(*word) && !is_undefined(env, *word))
}

/// Returns the isolate of the calling thread and what V8 keeps for the asynchronous context.
fn current_word(env: napi_sys::napi_env) -> Option<(*mut Isolate, u64)> {
    let api = LabelApi::find().ok()?;
    let isolate = symbols::current_isolate(symbols::api().ok()?)?;
    // SAFETY: this is the thread of the environment, which is alive. V8 returns a handle of the scope.
    let word = unsafe {
        let mut scope = ptr::null_mut();
        if napi_sys::napi_open_handle_scope(env, &mut scope) != napi_sys::Status::napi_ok {
            return None;
        }
        let getter: LocalGetter<*mut Isolate> = api.frame;
        let word = word_of(get_local(getter, isolate));
        napi_sys::napi_close_handle_scope(env, scope);
        word?
    };
    Some((isolate, word))
}

/// Returns whether a word is V8's `undefined`.
fn is_undefined(env: &Env, word: u64) -> bool {
    let mut undefined = ptr::null_mut();
    // SAFETY: this is the thread of the environment, in a call from JavaScript.
    let status = unsafe { napi_sys::napi_get_undefined(env.raw(), &mut undefined) };
    status == napi_sys::Status::napi_ok && word_of(undefined.cast()) == Some(word)
}

/// Returns the word that a handle points to.
fn word_of(handle: *mut c_void) -> Option<u64> {
    let mut bytes = [0; 8];
    read_memory(handle as usize, &mut bytes).then(|| u64::from_ne_bytes(bytes))
}

/// Returns a number that V8 exports for debuggers.
fn number(name: &std::ffi::CStr) -> Option<i32> {
    // SAFETY: V8's variables of these names are of the type `int`.
    variable(name).map(|address| unsafe { address.cast::<c_int>().read() })
}
