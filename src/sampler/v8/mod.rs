//! V8's own sampling profiler, the fast source.
//!
//! The rules that keep it safe:
//! - a [`Profiler`] never leaves its isolate's thread (it is not `Send`);
//! - a [`V8Profile`] profile is read-only. V8 holds its nodes, and through them their names, until
//!   it is deleted, so any thread may read it; any thread may delete it too, but only when the
//!   [`gate`] is open. V8 can still change one thing in it, of which [`details`] takes care;
//! - a [`Waker`] reaches its environment under a lock, and is closed under the same lock before the
//!   environment goes.
#![allow(unsafe_code)]

mod details;
mod gate;
mod stall;
mod symbols;

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uint};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use napi::{Env, sys as napi_sys};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::base::error::Error;
use crate::profile::frame::CallFrame;
use crate::profile::window::{Sample, Window, WindowNode};
use details::ProfileDetails;
use gate::DeletionGate;

pub(crate) use stall::StallDetector;
pub(crate) use symbols::Callback;

/// Samples that V8 keeps of a thread that cannot be reached, about 20 MB: a launcher may wait for
/// its child for hours. Dropping more loses nothing, for the last one lasts until the next window's
/// first.
const MOST_SAMPLES: c_uint = 500_000;

/// V8 keeps every title that it ever saw, so there are two; a string of one character needs no
/// room on the heap.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Title {
    Odd,
    Even,
}

/// A running `v8::CpuProfiler` of the current isolate.
pub(crate) struct Profiler {
    api: &'static symbols::Api,
    isolate: *mut symbols::Isolate,
    raw: NonNull<symbols::CpuProfiler>,
    env: napi_sys::napi_env,
    gate: Arc<DeletionGate>,
    /// The title of the profile that runs.
    title: Cell<Title>,
}

impl Profiler {
    /// For the isolate of `env`, on whose thread this is.
    ///
    /// With eager logging V8 logs every compiled function now, and takes its log down when the
    /// profiler is disposed of: not at the last stop, which a process that exits need not do, and
    /// so a later start is a cheap one.
    pub(crate) fn new(env: &Env) -> Result<Self, Error> {
        let api = api()?;
        // SAFETY: any thread.
        let isolate = unsafe { (api.isolate_try_get_current)() };
        if isolate.is_null() {
            return Err(Error::Unavailable("there is no V8 isolate on it".into()));
        }
        // SAFETY: the isolate's own thread, inside a call from JavaScript: the isolate is alive.
        let raw =
            unsafe { (api.profiler_new)(isolate, symbols::DEBUG_NAMING, symbols::EAGER_LOGGING) };
        let raw =
            NonNull::new(raw).ok_or_else(|| Error::Unavailable("V8 gave no profiler".into()))?;
        // SAFETY: the isolate's thread.
        let gate = unsafe { DeletionGate::watch(api, isolate) };
        Ok(Self { api, isolate, raw, env: env.raw(), gate, title: Cell::new(Title::Odd) })
    }

    /// Starts to sample. Nothing is sampled so far.
    pub(crate) fn start(&self, interval_us: u32) -> Result<(), Error> {
        // SAFETY: the isolate's thread; V8 demands that no profile runs.
        unsafe {
            (self.api.profiler_set_sampling_interval)(self.raw.as_ptr(), interval_us as c_int)
        };
        self.start_profile(self.title.get())
    }

    /// Gives what was sampled since the start or the last rotation, and samples on.
    ///
    /// The next profile starts before this one stops: with none running V8 would take its sampling
    /// thread down. For a moment samples go to both.
    pub(crate) fn rotate(&self) -> Result<V8Profile, Error> {
        let old = self.title.get();
        let new = if old == Title::Odd { Title::Even } else { Title::Odd };
        self.start_profile(new)?;
        self.title.set(new);
        self.stop_profile(old)
            .ok_or_else(|| Error::Unavailable("V8 lost the profile that ran".into()))
    }

    /// As [`Profiler::rotate`], the other way round: V8 takes its sampling thread down, and makes a
    /// new one. About a millisecond, and some of the time is not sampled.
    pub(crate) fn restart(&self) -> Result<V8Profile, Error> {
        let old = self.stop();
        self.start_profile(self.title.get())?;
        old.ok_or_else(|| Error::Unavailable("V8 lost the profile that ran".into()))
    }

    /// Stops sampling, and gives what was sampled since the start or the last rotation.
    pub(crate) fn stop(&self) -> Option<V8Profile> {
        self.stop_profile(self.title.get())
    }

    /// Frees profiles that were read, while nothing is sampled.
    pub(crate) fn delete(&self, read: Vec<V8Profile>) {
        for profile in read {
            self.gate.locked(|| {
                // SAFETY: the isolate's thread; the profile is given away here. With no profile
                // running V8 has no other thread that could drop a code entry.
                unsafe { (self.api.profile_delete)(profile.raw.as_ptr()) }
            });
        }
    }

    /// Frees a stopped profiler, with the profiles that are left of it: none may be in use elsewhere.
    pub(crate) fn dispose(self, left: Vec<V8Profile>) {
        drop(left);
        // SAFETY: the isolate's thread; `self` is gone after this, and V8 deletes what is left.
        unsafe {
            self.gate.unwatch(self.api, self.isolate);
            (self.api.profiler_dispose)(self.raw.as_ptr());
        }
    }

    fn start_profile(&self, title: Title) -> Result<(), Error> {
        let status = self.with_title(title, |title| {
            // SAFETY: the isolate's thread (`self` is not `Send`), in the title's handle scope.
            unsafe {
                (self.api.profiler_start)(
                    self.raw.as_ptr(),
                    title,
                    symbols::LEAF_NODE_LINE_NUMBERS,
                    true,
                    MOST_SAMPLES,
                )
            }
        });
        match status {
            Some(symbols::STARTED) => Ok(()),
            _ => Err(Error::Unavailable(format!("V8 did not start to sample (status {status:?})"))),
        }
    }

    fn stop_profile(&self, title: Title) -> Option<V8Profile> {
        let raw = self.with_title(title, |title| {
            self.gate.locked(|| {
                // SAFETY: the isolate's thread, in the title's handle scope.
                unsafe { (self.api.profiler_stop)(self.raw.as_ptr(), title) }
            })
        })?;
        NonNull::new(raw).map(|raw| V8Profile { api: self.api, raw, gate: Arc::clone(&self.gate) })
    }

    /// Calls `f` with a title as a `v8::Local<v8::String>`.
    fn with_title<T>(&self, title: Title, f: impl FnOnce(symbols::Local) -> T) -> Option<T> {
        let text = match title {
            Title::Odd => c"1",
            Title::Even => c"2",
        };
        // SAFETY: the environment's thread, and its environment: whoever holds a profiler gives it
        // up in the environment's cleanup at the latest. A `napi_value` is the bits of a `Local`.
        unsafe {
            let mut scope = ptr::null_mut();
            if napi_sys::napi_open_handle_scope(self.env, &mut scope) != napi_sys::Status::napi_ok {
                return None;
            }
            let mut string = ptr::null_mut();
            let made = napi_sys::napi_create_string_latin1(self.env, text.as_ptr(), 1, &mut string);
            let result = (made == napi_sys::Status::napi_ok).then(|| f(string.cast()));
            napi_sys::napi_close_handle_scope(self.env, scope);
            result
        }
    }
}

/// A profile that V8 no longer adds to.
pub(crate) struct V8Profile {
    api: &'static symbols::Api,
    raw: NonNull<symbols::CpuProfile>,
    gate: Arc<DeletionGate>,
}

// SAFETY: a finished profile does not change but in what `details` takes care of, and reading it
// touches nothing else: see the module's rules.
unsafe impl Send for V8Profile {}

impl V8Profile {
    /// Copies it out, without lines and deopts. Any thread.
    pub(crate) fn read(&self) -> Window {
        self.copy(None)
    }

    /// Copies it out, with lines and deopts. Any thread.
    pub(crate) fn read_details(&self) -> Window {
        self.copy(Some(ProfileDetails::new(self.api)))
    }

    fn copy(&self, details: Option<ProfileDetails>) -> Window {
        let api = self.api;
        let profile = self.raw.as_ptr().cast_const();
        let frames = FxHashMap::default();
        let mut reader = ProfileReader { api, window: Window::default(), frames, details };
        // SAFETY: the profile is finished, and not deleted: it would be given away for that.
        unsafe {
            let index_of = reader.nodes((api.profile_root)(profile));
            let count = (api.profile_samples)(profile);
            reader.window.samples.reserve(count.max(0) as usize);
            for i in 0..count {
                let node = (api.profile_sample)(profile, i);
                let time_us = (api.profile_sample_time)(profile, i);
                let index = (!node.is_null())
                    .then(|| index_of.get((api.node_id)(node) as usize).copied())
                    .flatten();
                if let Some(node) = index {
                    reader.window.samples.push(Sample { time_us, node });
                }
            }
            if let Some(details) = &reader.details {
                reader.window.deopts = details.deopts();
            }
            reader.window.start_us = (api.profile_start_time)(profile);
            reader.window.end_us = (api.profile_end_time)(profile);
        }
        let mut window = reader.window;
        // V8 adds a sample of its own at each start, which can overtake one from its signal.
        window.samples.sort_by_key(|sample| sample.time_us);
        window
    }

    /// Frees profiles of one running profiler that have been read, if that is safe now; else they
    /// stay for another time. Any thread. `newest_us` is the youngest sample's time in any of them.
    pub(crate) fn delete_if_safe(profiles: &mut Vec<V8Profile>, newest_us: i64) {
        // One at a time: a garbage collection that is about to begin waits for no more than one.
        while let Some(profile) = profiles.pop() {
            let deleted = profile.gate.if_quiet(newest_us, || {
                // SAFETY: the profile is given away here, by the rules of the gate.
                unsafe { (profile.api.profile_delete)(profile.raw.as_ptr()) }
            });
            if !deleted {
                return profiles.push(profile);
            }
        }
    }
}

struct ProfileReader {
    api: &'static symbols::Api,
    window: Window,
    /// V8 keeps each name once, so that equal names have equal addresses within a profile.
    frames: FxHashMap<(usize, usize, c_int, c_int, c_int), u32>,
    details: Option<ProfileDetails>,
}

impl ProfileReader {
    /// Reads the tree, parents first, without recursion: a stack can be 255 frames deep.
    /// Returns each node's index by its id in V8's tree.
    ///
    /// # Safety
    /// `root` is the root of a finished profile that is not deleted meanwhile.
    unsafe fn nodes(&mut self, root: *const symbols::CpuProfileNode) -> Vec<u32> {
        let api = self.api;
        let mut index_of = Vec::new();
        let mut pending = vec![(root, 0)];
        while let Some((node, parent)) = pending.pop() {
            if node.is_null() {
                continue;
            }
            let index = self.window.nodes.len() as u32;
            // SAFETY: as the caller promises; children of a node are nodes of the same tree.
            unsafe {
                let frame = self.frame(node);
                self.window.nodes.push(WindowNode { parent, frame });
                let id = (api.node_id)(node) as usize;
                if id >= index_of.len() {
                    index_of.resize(id + 1, 0);
                }
                index_of[id] = index;
                if let Some(details) = &mut self.details {
                    details.add(node, index, &mut self.window.lines);
                }
                for i in (0..(api.node_children)(node)).rev() {
                    pending.push(((api.node_child)(node, i), index));
                }
            }
        }
        index_of
    }

    /// # Safety
    /// As for `nodes`.
    unsafe fn frame(&mut self, node: *const symbols::CpuProfileNode) -> u32 {
        let api = self.api;
        // SAFETY: as the caller promises.
        let (name, url, script_id, line, column) = unsafe {
            (
                (api.node_function_name)(node),
                (api.node_resource_name)(node),
                (api.node_script_id)(node),
                (api.node_line)(node),
                (api.node_column)(node),
            )
        };
        let frames = &mut self.window.frames;
        *self.frames.entry((name as usize, url as usize, script_id, line, column)).or_insert_with(
            || {
                frames.push(CallFrame {
                    // SAFETY: V8's strings end in a NUL and live as long as the profile.
                    function_name: unsafe { text(name) },
                    // SAFETY: the same.
                    url: unsafe { text(url) },
                    script_id: script_id.max(0) as u32,
                    // V8 counts from 1 and writes 0 where there is no place.
                    line: line - 1,
                    column: column - 1,
                });
                frames.len() as u32 - 1
            },
        )
    }
}

/// # Safety
/// `string` is null, or ends in a NUL and is not freed meanwhile.
unsafe fn text(string: *const c_char) -> String {
    if string.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}

/// Reaches a Node environment from other threads, as long as it lives.
pub(crate) struct Waker {
    api: &'static symbols::Api,
    environment: Mutex<Option<EnvironmentPtr>>,
}

struct EnvironmentPtr(NonNull<symbols::Environment>);

// SAFETY: other threads only pass it to `node::RequestInterrupt`, which is made for that.
unsafe impl Send for EnvironmentPtr {}

impl Waker {
    /// For the environment of the current context. It has to be closed before the environment is
    /// gone.
    pub(crate) fn new() -> Result<Self, Error> {
        let api = api()?;
        // SAFETY: the isolate's own thread, inside a call from JavaScript and so inside of a
        // context and a handle scope.
        let environment = unsafe {
            let isolate = (api.isolate_try_get_current)();
            if isolate.is_null() {
                ptr::null_mut()
            } else {
                (api.get_current_environment)((api.isolate_get_current_context)(isolate))
            }
        };
        let environment = NonNull::new(environment)
            .ok_or_else(|| Error::Unavailable("it has no Node environment".into()))?;
        Ok(Self { api, environment: Mutex::new(Some(EnvironmentPtr(environment))) })
    }

    /// Has `callback` run on the environment's thread: by V8's interrupt in busy code, by a wake-up
    /// of an idle loop, whichever comes first. The loop is not kept alive.
    /// False if the environment is gone.
    pub(crate) fn wake(&self, callback: Callback) -> bool {
        let environment = self.environment.lock();
        let Some(EnvironmentPtr(raw)) = &*environment else { return false };
        // SAFETY: any thread; the environment cannot go while the lock is held.
        unsafe { (self.api.request_interrupt)(raw.as_ptr(), callback, ptr::null_mut()) };
        true
    }

    /// Has `callback` run after the `exit` listeners, also at `process.exit()`.
    /// To be called on the environment's thread.
    pub(crate) fn at_exit(&self, callback: Callback) {
        if let Some(EnvironmentPtr(raw)) = &*self.environment.lock() {
            // SAFETY: the environment is alive while the lock is held.
            unsafe { (self.api.at_exit)(raw.as_ptr(), callback, ptr::null_mut()) }
        }
    }

    /// Never reaches for the environment again, once this has returned.
    pub(crate) fn close(&self) {
        *self.environment.lock() = None;
    }
}

/// Whether this process exports all that is needed.
pub(crate) fn is_available() -> bool {
    symbols::api().is_ok()
}

fn api() -> Result<&'static symbols::Api, Error> {
    symbols::api().map_err(|symbol| {
        Error::Unavailable(format!(
            "this Node.js does not export V8's profiler (no symbol {symbol})"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_v8_is_told_so() {
        let error = Waker::new().err().unwrap();
        assert!(!error.is_wrong_setting());
        let line = error.line();
        assert!(line.contains("does not export V8's profiler (no symbol _ZN"), "{line}");
    }
}
