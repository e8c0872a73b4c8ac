//! The end of a Node process without Node's own end.

use std::ffi::{CStr, c_int, c_void};
use std::mem;

use super::exported;
use crate::base::system::turn::NextTurn;

/// Node's function that gives the terminal and the standard files back as they were at its start. Node calls
/// it at its own end, and before a signal ends the process.
const RESET_STDIO: &CStr = c"_ZN4node10ResetStdioEv";

type GiveLoop = unsafe extern "C" fn() -> *mut c_void;
type OfLoop = unsafe extern "C" fn(*const c_void) -> c_int;
type ResetStdio = unsafe extern "C" fn();

/// Returns when the calling thread's event loop turns next. Returns none where `end_now` is not possible, and on
/// a thread other than Node's main thread. `event_loop` is the loop of the calling thread.
pub fn next_turn(event_loop: *const c_void) -> Option<NextTurn> {
    exported(RESET_STDIO)?;
    let default_loop = exported(c"uv_default_loop")?;
    let (is_alive, timeout) = (exported(c"uv_loop_alive")?, exported(c"uv_backend_timeout")?);
    // SAFETY: these are functions of libuv's stable API with these types. Node has created the default loop,
    // which is read only if it is that of the calling thread.
    unsafe {
        let default_loop = mem::transmute::<*mut c_void, GiveLoop>(default_loop)();
        let is_alive = mem::transmute::<*mut c_void, OfLoop>(is_alive);
        let timeout = mem::transmute::<*mut c_void, OfLoop>(timeout);
        (event_loop == default_loop).then(|| {
            match (is_alive(default_loop), timeout(default_loop)) {
                (0, _) => NextTurn::Never,
                (_, 0) => NextTurn::AtOnce,
                _ => NextTurn::Later,
            }
        })
    }
}

/// Ends this process with an exit code, without what else Node does at its end. Does nothing where the standard
/// files cannot be given back.
pub fn end_now(code: c_int) {
    let Some(reset) = exported(RESET_STDIO) else { return };
    // SAFETY: Node's function has this type in all versions, and may be called at any time: Node does so in a
    // signal handler. `_exit` calls nothing of this process.
    unsafe {
        mem::transmute::<*mut c_void, ResetStdio>(reset)();
        libc::_exit(code)
    }
}
