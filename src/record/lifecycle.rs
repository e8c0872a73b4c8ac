//! The end of a thread, or of the process, ends what is under way on it.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::Env;
use napi::bindgen_prelude::{JsObjectValue, JsValue, Object, Unknown};

use super::thread::{
    IDLE_PROFILER, RECORDING, StoppedRecording, ThreadRecording, is_recording, start,
};
use crate::base::config::Config;
use crate::base::error::Error;
use crate::base::stderr::warn_once;
use crate::profile::program::Program;
use crate::record::signals;
use crate::sampler::v8::Waker;

thread_local! {
    /// Whether we are told of the thread's end.
    static IS_WATCHED: Cell<bool> = const { Cell::new(false) };
    /// Whether we are told of the process's end.
    static IS_EXIT_WATCHED: Cell<bool> = const { Cell::new(false) };
    /// What to go on with if the process does not end after all.
    static INTERRUPTED: RefCell<Option<Interrupted>> = const { RefCell::new(None) };
}

/// A recording of the main thread that was brought to its end with the process.
struct Interrupted {
    env: Env,
    config: Config,
    stopped: Option<StoppedRecording>,
}

/// What ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The whole process: what V8 holds goes with it.
    Process,
    /// The thread alone: what V8 holds must be given back.
    Thread,
}

/// Has what is under way on this thread brought to its end with it.
pub(crate) fn watch(env: &Env, waker: Option<&Waker>, thread_id: u32) -> Result<(), Error> {
    // The main thread's isolate goes with the process, which frees its memory faster than V8 can.
    let ending = if thread_id == 0 { Ending::Process } else { Ending::Thread };
    if !IS_WATCHED.get() {
        env.add_env_cleanup_hook((), move |()| drop(catch_unwind(|| end(ending))))
            .map_err(|_| Error::Unavailable("its end cannot be watched".into()))?;
        IS_WATCHED.set(true);
    }
    if let (Ending::Process, Some(waker)) = (ending, waker)
        && !IS_EXIT_WATCHED.replace(true)
    {
        waker.at_exit(on_exit);
    }
    Ok(())
}

/// The `exit` listeners have run, or the process is about to send a signal to itself, which most
/// likely ends it.
extern "C" fn on_exit(_: *mut c_void) {
    let _ = catch_unwind(|| {
        let what = RECORDING.with_borrow(|recording| {
            let recording = recording.as_ref()?;
            Some((recording.env, recording.config.clone()))
        });
        let stopped = end(Ending::Process);
        if let Some((env, config)) = what.filter(|(env, _)| !is_exiting(env))
            && let Ok(waker) = Waker::new()
        {
            INTERRUPTED.set(Some(Interrupted { env, config, stopped }));
            waker.wake(on_survival);
        }
    });
}

/// Whether the program has come to its end by Node's own account.
fn is_exiting(env: &Env) -> bool {
    let exiting = env.run_in_scope(|| {
        let process: Object<'_> = env.get_global()?.get_named_property("process")?;
        process.get_named_property::<Unknown<'_>>("_exiting")?.coerce_to_bool()
    });
    exiting.unwrap_or(true)
}

/// The process lives: a second recording goes on where the first one ended.
extern "C" fn on_survival(_: *mut c_void) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let Some(Interrupted { env, config, stopped }) = INTERRUPTED.take() else { return };
        if is_recording() || signals::is_leaving() {
            return;
        }
        // Node has forgotten whom to call at the exit.
        IS_EXIT_WATCHED.set(false);
        let inspector = |_| Err(Error::Unavailable("the inspector is no source here".into()));
        if let Err(error) = start(&env, 0, &config, Program::default, None, None, inspector) {
            return warn_once(&error);
        }
        RECORDING.with_borrow_mut(|recording| {
            if let Some(recording) = recording {
                recording.earlier = stopped;
            }
        });
    }));
}

fn end(ending: Ending) -> Option<StoppedRecording> {
    let (stopped, finished) = RECORDING.take().map(ThreadRecording::finish).unzip();
    let finished = finished.flatten();
    let idle = || IDLE_PROFILER.take().map(|profiler| (profiler, Vec::new()));
    match ending {
        Ending::Thread => {
            if let Some((profiler, left)) = finished.or_else(idle) {
                profiler.dispose(left);
            }
        }
        Ending::Process => {
            if let Some((profiler, _)) = finished {
                IDLE_PROFILER.set(Some(profiler));
            }
        }
    }
    stopped
}
