//! A `v8::CpuProfiler`: starts, rotates and stops the sampling of one isolate, on its own thread.
//!
//! A rotation has two steps. The next profile starts, and some time later the old profile stops. V8
//! processes a sample up to an interval after it was taken: an old profile that stops at once would
//! miss its last sample, which the next profile refuses as too old.

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_uint};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use napi::{Env, sys as napi_sys};

use super::gate::DeletionGate;
use super::raw_profile::V8Profile;
use super::scripts::{ScriptHandler, ScriptNotes};
use super::symbols;
use cpu_prof_core::base::error::Error;

/// Samples that V8 keeps of a thread that cannot be reached (about 20 MB): a launcher may wait for
/// its child for hours. Dropping the rest loses nothing, because the last sample that is kept lasts
/// until the first sample of the next window.
const MAX_SAMPLES: c_uint = 500_000;

/// Titles of the profiles, in turn. V8 keeps every title until the profiler is disposed of, so there
/// are two; a string of one character needs no room on the heap.
const TITLES: [&CStr; 2] = [c"1", c"2"];

/// A `v8::CpuProfiler` of the current isolate.
pub(crate) struct Profiler {
    api: &'static symbols::Api,
    isolate: *mut symbols::Isolate,
    raw: NonNull<symbols::CpuProfiler>,
    env: napi_sys::napi_env,
    gate: Arc<DeletionGate>,
    /// Notes on the scripts that are compiled while the profiler exists.
    pub scripts: Arc<ScriptNotes>,
    script_handler: Option<ScriptHandler>,
    /// Index into `TITLES` of the running profile; during a rotation, of the older one.
    title: Cell<usize>,
    /// Whether the next profile runs, too.
    is_rotating: Cell<bool>,
}

/// A stopped profile, and the profile that ran beside it.
pub(crate) struct Rotated {
    /// The profile.
    pub profile: V8Profile,
    /// A second profile that ran at the end, and repeats samples of the first.
    pub surplus: Option<V8Profile>,
}

impl Profiler {
    /// Creates a profiler for the isolate of `env`. Must be called on the isolate's thread.
    /// `has_scripts` tells that the program has code already whose source maps are wanted.
    ///
    /// With eager logging V8 logs every compiled function now and removes its log when the profiler
    /// is disposed of, not at the last stop. So later starts are cheap, and a process that exits
    /// skips the removal.
    pub(crate) fn new(env: &Env, has_scripts: bool) -> Result<Self, Error> {
        let api = symbols::api()?;
        let isolate = symbols::current_isolate(api)
            .ok_or_else(|| Error::Unavailable("the thread has no V8 isolate".into()))?;
        let scripts: Arc<ScriptNotes> = Arc::default();
        let script_handler = ScriptHandler::new(env, Arc::clone(&scripts));
        if has_scripts && let Some(script_handler) = &script_handler {
            // Before the profiler: V8 also tells its built-in code, which a profiler would take for
            // functions of the program.
            script_handler.take_existing();
        }
        // SAFETY: this is the isolate's own thread, inside a call from JavaScript, so the isolate is
        // alive.
        let raw =
            unsafe { (api.profiler_new)(isolate, symbols::DEBUG_NAMING, symbols::EAGER_LOGGING) };
        let Some(raw) = NonNull::new(raw) else {
            if let Some(script_handler) = script_handler {
                script_handler.remove();
            }
            return Err(Error::Unavailable("V8 did not create a profiler".into()));
        };
        if let Some(script_handler) = &script_handler {
            // After the profiler, for which V8 tells all functions to every listener.
            script_handler.listen();
        }
        // SAFETY: this is the isolate's thread.
        let gate = unsafe { DeletionGate::watch(api, isolate) };
        let (title, is_rotating) = (Cell::new(0), Cell::new(false));
        let env = env.raw();
        Ok(Self { api, isolate, raw, env, gate, scripts, script_handler, title, is_rotating })
    }

    /// Starts sampling. No profile may be running.
    pub(crate) fn start(&self, interval_us: u32) -> Result<(), Error> {
        self.set_interval(interval_us);
        self.resume()
    }

    /// Sets the time between two samples, microseconds. No profile may be running.
    pub(crate) fn set_interval(&self, interval_us: u32) {
        // SAFETY: this is the isolate's thread. V8 requires that no profile is running.
        unsafe {
            (self.api.profiler_set_sampling_interval)(self.raw.as_ptr(), interval_us as c_int)
        };
    }

    /// Returns whether a rotation has begun and not ended.
    pub(crate) fn is_rotating(&self) -> bool {
        self.is_rotating.get()
    }

    /// Begins a rotation: starts the next profile. V8 adds a sample of its own to both profiles.
    pub(crate) fn begin_rotation(&self) -> Result<(), Error> {
        self.start_profile(1 - self.title.get())?;
        self.is_rotating.set(true);
        Ok(())
    }

    /// Ends a rotation: stops the old profile, and returns it.
    pub(crate) fn end_rotation(&self) -> Result<V8Profile, Error> {
        let old = self.title.get();
        self.title.set(1 - old);
        self.is_rotating.set(false);
        self.stop_profile(old).ok_or_else(lost_profile)
    }

    /// Stops all profiles and starts one, so that V8 starts another sampling thread. Takes about a
    /// millisecond, some of which is not sampled.
    pub(crate) fn restart(&self) -> Result<Rotated, Error> {
        let old = self.stop();
        self.resume()?;
        old.ok_or_else(lost_profile)
    }

    /// Stops sampling until [`Profiler::resume`], and returns the samples since the last rotation. No
    /// rotation may have begun.
    pub(crate) fn suspend(&self) -> Result<V8Profile, Error> {
        self.stop().map(|stopped| stopped.profile).ok_or_else(lost_profile)
    }

    /// Starts sampling again, with the same interval.
    pub(crate) fn resume(&self) -> Result<(), Error> {
        self.start_profile(self.title.get())?;
        self.gate.set_profiling(true);
        Ok(())
    }

    /// Stops sampling, and returns the samples since the start or the last rotation.
    pub(crate) fn stop(&self) -> Option<Rotated> {
        let title = self.title.get();
        // The newer profile goes first. The last one to stop misses no sample, since V8 then waits
        // until every sample is processed.
        let surplus = self.is_rotating.take().then(|| self.stop_profile(1 - title)).flatten();
        self.gate.set_profiling(false);
        let profile = self.stop_profile(title)?;
        Some(Rotated { profile, surplus })
    }

    /// Lets no other thread delete a profile from now on, because the isolate may end.
    pub(crate) fn forbid_deletion(&self) {
        self.gate.close();
    }

    /// Deletes profiles that were read. No profile may be running.
    pub(crate) fn delete(&self, profiles: Vec<V8Profile>) {
        for profile in profiles {
            self.gate.locked(|| {
                // SAFETY: this is the isolate's thread, and the profile is not used again. With no
                // profile running V8 has no other thread that could drop a code entry.
                unsafe { profile.delete() }
            });
        }
    }

    /// Destroys a stopped profiler and its profiles, which no other thread may be reading.
    pub(crate) fn dispose(self) {
        if let Some(script_handler) = self.script_handler {
            script_handler.remove();
        }
        // SAFETY: this is the isolate's thread, and `self` is not used again. V8 deletes the
        // profiles that are left.
        unsafe {
            self.gate.unwatch(self.api, self.isolate);
            (self.api.profiler_dispose)(self.raw.as_ptr());
        }
    }

    fn start_profile(&self, title: usize) -> Result<(), Error> {
        let status = self.with_title(title, |title| {
            // SAFETY: this is the isolate's thread (`self` is not `Send`), inside the handle scope
            // of the title.
            unsafe {
                (self.api.profiler_start)(
                    self.raw.as_ptr(),
                    title,
                    symbols::LEAF_NODE_LINE_NUMBERS,
                    true,
                    MAX_SAMPLES,
                )
            }
        });
        match status {
            Some(symbols::STARTED) => Ok(()),
            _ => Err(Error::Unavailable(format!("V8 did not start sampling (status {status:?})"))),
        }
    }

    fn stop_profile(&self, title: usize) -> Option<V8Profile> {
        let raw = self.with_title(title, |title| {
            self.gate.locked(|| {
                // SAFETY: this is the isolate's thread, inside the handle scope of the title.
                unsafe { (self.api.profiler_stop)(self.raw.as_ptr(), title) }
            })
        })?;
        NonNull::new(raw).map(|raw| V8Profile::new(self.api, raw, Arc::clone(&self.gate)))
    }

    /// Calls `f` with a title as a `v8::Local<v8::String>`.
    fn with_title<T>(&self, title: usize, f: impl FnOnce(symbols::Local) -> T) -> Option<T> {
        // SAFETY: this is the environment's thread, and the environment is alive: a profiler is
        // given up in the environment's cleanup hook at the latest. A `napi_value` has the bits of a
        // `v8::Local`.
        unsafe {
            let mut scope = ptr::null_mut();
            if napi_sys::napi_open_handle_scope(self.env, &mut scope) != napi_sys::Status::napi_ok {
                return None;
            }
            let mut string = ptr::null_mut();
            let status = napi_sys::napi_create_string_latin1(
                self.env,
                TITLES[title].as_ptr(),
                1,
                &mut string,
            );
            let result = (status == napi_sys::Status::napi_ok).then(|| f(string.cast()));
            napi_sys::napi_close_handle_scope(self.env, scope);
            result
        }
    }
}

fn lost_profile() -> Error {
    Error::Unavailable("V8 did not return the profile that was running".into())
}
