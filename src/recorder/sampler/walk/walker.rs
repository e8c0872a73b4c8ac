//! The walk of one isolate's thread: starts, pauses and stops its timer, and returns its windows.

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use napi::Env;
use rustc_hash::{FxHashMap, FxHashSet};

use super::collector::{CollectedStacks, Collector};
use super::functions::{Handles, ScriptNames};
use super::proof;
use super::stopped::WalkedThread;
use super::symbols::Optional;
use super::window::{WalkWindow, innermost_places};
use crate::sampler::v8::symbols::{self, Isolate};
use crate::sampler::v8::{FrameFinder, OwnSampling, ScriptHandler, ScriptNotes, around_sample};
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::system;
use cpu_prof_core::base::system::sampling_signal::{HAS_TIMERS, SamplingTimer};
use cpu_prof_core::base::system::stopped_thread::own_stack_start;

/// `GCType::kGCTypeAll`
const ALL: c_int = 0b1_1111;
/// `GCType::kGCTypeMarkSweepCompact`
const MAJOR: c_int = 1 << 2;

/// The walk of the calling thread. It never leaves the thread (it is not `Send`), and is given up in the environment's
/// cleanup hook at the latest.
pub(crate) struct Walker {
    /// V8's callbacks and the signal handler have its address.
    inner: Box<Inner>,
    /// Notes on the scripts that are compiled, or sampled.
    pub scripts: Arc<ScriptNotes>,
    script_handler: Option<ScriptHandler>,
}

struct Inner {
    thread: WalkedThread,
    handles: Handles,
    collector: RefCell<Collector>,
    names: RefCell<ScriptNames>,
    /// Start of the next window: CLOCK_MONOTONIC, microseconds.
    start_us: Cell<i64>,
}

impl Walker {
    /// Creates the walk of the thread of `env`, which does not run yet. The error says why there is none.
    pub(crate) fn new(env: &Env, interval_us: u32) -> Result<Self, Error> {
        let unavailable = |text: &str| Error::NoWalk(text.to_owned());
        if !HAS_TIMERS {
            return Err(unavailable("it needs Linux on x64, with glibc"));
        }
        let proven = proof::proven()
            .ok_or_else(|| unavailable("what V8 has on the stack is not as expected"))?;
        let api = symbols::api()?;
        let isolate = symbols::current_isolate(api)
            .ok_or_else(|| unavailable("the thread has no V8 isolate"))?;
        let finder = FrameFinder::of_this_thread()
            .ok_or_else(|| unavailable("V8's code is not where it was expected"))?;
        let optional = Optional::find().ok_or_else(|| unavailable("V8 makes no handles"))?;
        let of_v8 = api.profiler_start as *const () as usize;
        let timer = SamplingTimer::of_this_thread(of_v8, interval_us, around_sample)
            .map_err(|error| Error::NoWalk(error.to_string()))?;
        let stack_start = own_stack_start(finder.stack_end())
            .ok_or_else(|| unavailable("the system does not say where the thread's stack is"))?;
        let thread = WalkedThread::new(proven, isolate, finder, stack_start, timer);
        let scripts: Arc<ScriptNotes> = Arc::default();
        let script_handler = ScriptHandler::new(env, Arc::clone(&scripts));
        if let Some(script_handler) = &script_handler {
            script_handler.listen();
        }
        let wasm = Arc::clone(&scripts.wasm);
        let inner = Box::new(Inner {
            thread,
            handles: Handles { api: proven.api, optional, isolate, env: env.raw() },
            collector: RefCell::new(Collector::new(wasm)),
            names: RefCell::default(),
            start_us: Cell::new(0),
        });
        let data = (&raw const *inner).cast_mut().cast::<c_void>();
        // SAFETY: this is the isolate's own thread. The callbacks are removed before the data is dropped.
        unsafe {
            (api.add_gc_prologue_callback)(isolate, before_collection, data, ALL);
            (api.add_gc_epilogue_callback)(isolate, after_collection, data, ALL);
        }
        Ok(Self { inner, scripts, script_handler })
    }

    /// Returns what takes the samples in the signal handler, as long as this value is there.
    pub(crate) fn sampling(&self) -> OwnSampling {
        self.inner.thread.sampling()
    }

    /// Starts sampling, or starts it again.
    pub(crate) fn start(&self) -> Result<(), Error> {
        self.inner.start_us.set(system::now_us());
        self.inner
            .thread
            .start()
            .map_err(|error| Error::NoWalk(format!("its timer does not run: {error}")))
    }

    /// Stops sampling until the next start. Returns the last window.
    pub(crate) fn pause(&self) -> WalkWindow {
        self.inner.thread.pause();
        self.window()
    }

    /// Returns the samples since the last window. Runs in V8's interrupts: no JavaScript runs.
    pub(crate) fn window(&self) -> WalkWindow {
        let inner = &*self.inner;
        let Inner { thread, handles, collector, start_us, .. } = inner;
        // SAFETY: this is the thread, and no collection is under way.
        unsafe { collector.borrow_mut().take(thread, handles) };
        let end_us = system::now_us();
        let CollectedStacks { samples, frames } = std::mem::take(&mut collector.borrow_mut().next);
        let mut window = WalkWindow {
            samples,
            frames,
            start_us: start_us.replace(end_us),
            end_us,
            compared: collector.borrow().oracle.compared,
            lost: thread.ring.take_lost(),
            ..WalkWindow::default()
        };
        for frame in &window.frames {
            if !window.places.contains_key(frame)
                && let Some(places) = collector.borrow().frames.get(*frame as usize)
            {
                window.places.insert(*frame, Arc::clone(places));
            }
        }
        let env = Env::from_raw(handles.env);
        let named = env.run_in_scope(|| {
            // SAFETY: this is the isolate's thread, within a call of V8, and so in a context.
            unsafe { name(inner, &mut window) };
            Ok(())
        });
        // A program that is ending has no scope: its functions stay without a name.
        drop(named);
        collector.borrow_mut().give_up_stale(handles);
        window
    }

    /// Returns whether V8's own code finds other stacks.
    pub(crate) fn is_wrong(&self) -> bool {
        self.inner.collector.borrow().oracle.is_wrong()
    }

    /// Returns the environment of the thread.
    pub(crate) fn env(&self) -> Env {
        Env::from_raw(self.inner.handles.env)
    }

    /// Ends the walk.
    pub(crate) fn dispose(self) {
        let Self { inner, script_handler, .. } = self;
        inner.thread.pause();
        script_handler.into_iter().for_each(ScriptHandler::remove);
        let Ok(api) = symbols::api() else { return };
        let data = (&raw const *inner).cast_mut().cast::<c_void>();
        // SAFETY: this is the isolate's own thread, and the isolate is alive.
        unsafe {
            (api.remove_gc_prologue_callback)(inner.thread.isolate, before_collection, data);
            (api.remove_gc_epilogue_callback)(inner.thread.isolate, after_collection, data);
        }
        let mut collector = inner.collector.borrow_mut();
        std::mem::take(&mut collector.functions)
            .into_iter()
            .for_each(|function| function.dispose(&inner.handles));
    }
}

/// Names the functions of a window, and finds the lines of its samples. V8 may collect garbage meanwhile, so nothing
/// is borrowed while V8 runs.
///
/// # Safety
/// This is the isolate's thread, in a context, within a scope of handles.
unsafe fn name(inner: &Inner, window: &mut WalkWindow) {
    let Inner { handles, collector, names, .. } = inner;
    let handle_of = |index: u32| {
        let collector = collector.borrow();
        collector
            .functions
            .get(index as usize)
            .map(|function| (function.handle(), function.frame.clone()))
    };
    let mut names = names.borrow_mut();
    let functions: FxHashSet<u32> = window
        .places
        .values()
        .flat_map(|places| places.iter())
        .map(|place| place.function)
        .collect();
    for index in functions {
        let Some((handle, known)) = handle_of(index) else { continue };
        let frame = match known {
            Some(frame) => frame,
            None => {
                // SAFETY: the caller promises the thread, the context and the scope.
                let frame = Arc::new(unsafe { handles.frame(handle, &mut names) });
                if let Some(function) = collector.borrow_mut().functions.get_mut(index as usize) {
                    function.set_frame(Arc::clone(&frame), handles);
                }
                frame
            }
        };
        window.functions.insert(index, frame);
    }
    let mut positions = FxHashMap::default();
    let mut stack: Vec<(u32, u32)> = Vec::new();
    for sample in &window.samples {
        if sample.kept + sample.to - sample.from == 0 {
            continue;
        }
        stack.truncate(sample.kept);
        let new = window.frames.get(sample.from..sample.to).unwrap_or_default();
        stack.extend(new.iter().map(|frame| (*frame, 0)));
        let Some((frame, _)) = stack.last() else { continue };
        for place in innermost_places(*frame, &stack, &window.places).into_iter().flatten() {
            if let Some(offset) = place.offset
                && !positions.contains_key(&place)
                && let Some((handle, _)) = handle_of(place.function)
            {
                // SAFETY: the same.
                positions.insert(place, unsafe { handles.position(handle, offset) });
            }
        }
    }
    window.positions = positions;
}

/// Takes the samples before a collection moves what they point to.
extern "C" fn before_collection(_: *mut Isolate, kind: c_int, _: c_int, data: *mut c_void) {
    if system::is_forked() {
        return;
    }
    // SAFETY: V8 passes the pointer that it was given, which is valid until the callback is removed.
    let Inner { thread, handles, collector, .. } = unsafe { &*data.cast_const().cast::<Inner>() };
    thread.collections.fetch_add(1, Ordering::Relaxed);
    // Unwinding into C++ would end the process.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        if let Ok(mut collector) = collector.try_borrow_mut() {
            // SAFETY: this is the thread, and the collection has not begun.
            unsafe { collector.take(thread, handles) };
            collector.forget(kind & MAJOR != 0);
        }
    }));
}

extern "C" fn after_collection(_: *mut Isolate, _: c_int, _: c_int, data: *mut c_void) {
    if system::is_forked() {
        return;
    }
    // SAFETY: the same.
    let Inner { thread, .. } = unsafe { &*data.cast_const().cast::<Inner>() };
    let _ = thread
        .collections
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| count.checked_sub(1));
}
