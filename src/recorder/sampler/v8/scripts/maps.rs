//! Reads the source map that stands in a script.

use std::ffi::c_char;
use std::ptr;

use napi::sys as napi_sys;

/// The start of a URL that holds a map.
const DATA: &[u8] = b"data:";
/// Maps larger than this are left out: bytes.
const MAX_BYTES: usize = 64 << 20;

/// Reads a string that holds a map. Any other value is no map. The string is one of the parser's, which is
/// flat, so that V8 allocates nothing.
///
/// # Safety
/// `value` has the bits of a `v8::Local` of the environment's isolate, or is null.
pub(super) unsafe fn read_map(
    env: napi_sys::napi_env,
    value: napi_sys::napi_value,
) -> Option<String> {
    // SAFETY: the caller promises the value.
    let copy = |characters| unsafe { latin1(env, value, characters) };
    // SAFETY: the same.
    let length = unsafe { length(env, value) }.filter(|length| *length <= MAX_BYTES)?;
    copy(DATA.len()).filter(|start| start == DATA)?;
    // Text outside of ASCII has other bytes in UTF-8.
    String::from_utf8(copy(length)?).ok()
}

/// Returns the count of a string's characters; none for another value.
///
/// # Safety
/// As for [`read_map`].
pub(super) unsafe fn length(env: napi_sys::napi_env, value: napi_sys::napi_value) -> Option<usize> {
    // SAFETY: the caller promises the value.
    unsafe { read(env, value, ptr::null_mut(), 0) }
}

/// Returns the first characters of a string, in Latin-1.
///
/// # Safety
/// As for [`read_map`].
pub(super) unsafe fn latin1(
    env: napi_sys::napi_env,
    value: napi_sys::napi_value,
    characters: usize,
) -> Option<Vec<u8>> {
    // The function appends a NUL.
    let mut text = vec![0_u8; characters + 1];
    // SAFETY: the caller promises the value, and the buffer has as many bytes.
    let written = unsafe { read(env, value, text.as_mut_ptr().cast(), text.len()) }?;
    text.truncate(written);
    Some(text)
}

/// Copies a string, and returns the count of characters that are written; of all if there is no buffer.
///
/// # Safety
/// As for [`read_map`]; the buffer has `bytes`.
unsafe fn read(
    env: napi_sys::napi_env,
    value: napi_sys::napi_value,
    buffer: *mut c_char,
    bytes: usize,
) -> Option<usize> {
    if value.is_null() {
        return None;
    }
    let mut length = 0;
    // SAFETY: the caller promises a value of this environment, and the buffer.
    let status =
        unsafe { napi_sys::napi_get_value_string_latin1(env, value, buffer, bytes, &mut length) };
    (status == napi_sys::Status::napi_ok).then_some(length)
}
