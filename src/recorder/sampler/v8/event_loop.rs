//! The event loop of a Node environment: how long the loop waits for events, and whether V8's
//! sampling signal ends the waiting.

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use napi::{Env, sys as napi_sys};

use cpu_prof_core::base::system::{SAMPLING_SIGNAL, exported};

/// `UV_LOOP_BLOCK_SIGNAL`
const BLOCK_SIGNAL: c_int = 0;
/// `UV_METRICS_IDLE_TIME`
const METRICS_IDLE_TIME: c_int = 1;

/// `uv_loop_configure`, which takes further arguments for some options.
type Configure = unsafe extern "C" fn(*mut c_void, c_int, ...) -> c_int;
/// `uv_metrics_idle_time`: nanoseconds since the loop's start.
type IdleTime = unsafe extern "C" fn(*mut c_void) -> u64;
/// `uv_metrics_info`, from libuv 1.45 and so from Node 20 on.
type MetricsInfo = unsafe extern "C" fn(*mut c_void, *mut Metrics) -> c_int;
/// `uv_now`: milliseconds.
type LoopTime = unsafe extern "C" fn(*mut c_void) -> u64;
/// `uv_default_loop`
type DefaultLoop = unsafe extern "C" fn() -> *mut c_void;

/// `uv_metrics_t`
#[repr(C)]
struct Metrics {
    loop_count: u64,
    events: u64,
    events_waiting: u64,
    reserved: [*mut u64; 13],
}

/// What an event loop has done up to a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoopProgress {
    /// Time that the loop has waited for events, microseconds.
    pub waited_us: i64,
    /// A number that changes when the loop turns.
    pub turns: u64,
    /// Whether the loop has turned at all.
    pub has_begun: bool,
}

/// A loop whose sampling signal is blocked while the loop waits.
///
/// V8 signals the thread at each interval. Unblocked, the signal ends the wait, so an idle thread wakes a
/// thousand times a second, and `performance.eventLoopUtilization()` reads 1. Blocked, one signal stays
/// pending, and V8 takes its sample when the wait ends. On Windows V8 stops the thread for the time of a
/// sample, and no wait ends.
///
/// An `EventLoop` never leaves its thread (it is not `Send`), and is given up in the environment's
/// cleanup hook at the latest.
pub(crate) struct EventLoop(RawLoop, PhantomData<*mut c_void>);

/// The loop as other threads see it.
#[derive(Clone, Copy)]
pub(super) struct RawLoop {
    raw: NonNull<c_void>,
    idle_time: IdleTime,
    turns: Turns,
}

/// How the turns of a loop are told apart.
#[derive(Clone, Copy)]
enum Turns {
    /// By their count.
    Count(MetricsInfo),
    /// By the time at which the loop began its turn. A program that sets a timer renews this time, so
    /// a stall in which timers are set does not show.
    Time(LoopTime),
}

// SAFETY: other threads only read the idle time, for which libuv has a lock, and one aligned number
// of 64 bits, of which a reader sees the old or the new value.
unsafe impl Send for RawLoop {}

/// Returns whether the thread of `env` is Node's main thread, which has the default loop. Returns false
/// if this Node does not tell.
pub(crate) fn is_main_thread(env: &Env) -> bool {
    let Some(default_loop) = exported(c"uv_default_loop") else { return false };
    // SAFETY: the function is one of libuv's stable API with this type. Node has created the loop.
    let default_loop = unsafe {
        let default_loop = std::mem::transmute::<*mut c_void, DefaultLoop>(default_loop);
        default_loop()
    };
    raw_loop(env).is_some_and(|raw| raw.as_ptr() == default_loop)
}

fn raw_loop(env: &Env) -> Option<NonNull<c_void>> {
    let mut raw: *mut napi_sys::uv_loop_s = ptr::null_mut();
    // SAFETY: the environment is alive, and the caller is on its thread.
    let status = unsafe { napi_sys::napi_get_uv_event_loop(env.raw(), &mut raw) };
    let is_ok = status == napi_sys::Status::napi_ok;
    is_ok.then(|| NonNull::new(raw.cast::<c_void>())).flatten()
}

impl EventLoop {
    /// Blocks the sampling signal while the loop of `env` waits, and returns the loop. Returns None
    /// if this Node does not offer that. libuv cannot unblock the signal again.
    pub(crate) fn quieten(env: &Env) -> Option<Self> {
        let configure = exported(c"uv_loop_configure")?;
        let event_loop = Self::untouched(env)?;
        let raw = event_loop.0.raw.as_ptr();
        // SAFETY: this is a function of libuv's stable API with this type. The caller is on the
        // environment's thread, and the environment owns the loop.
        unsafe {
            let configure = std::mem::transmute::<*mut c_void, Configure>(configure);
            let is_blocked =
                SAMPLING_SIGNAL.is_none_or(|signal| configure(raw, BLOCK_SIGNAL, signal) == 0);
            let is_quiet = is_blocked && configure(raw, METRICS_IDLE_TIME) == 0;
            is_quiet.then_some(event_loop)
        }
    }

    /// Returns the loop of `env` as it is. Node has it count the time of its waits.
    pub(crate) fn untouched(env: &Env) -> Option<Self> {
        let idle_time = exported(c"uv_metrics_idle_time")?;
        // SAFETY: these are functions of libuv's stable API with these types.
        let (idle_time, turns) = unsafe {
            let turns = match exported(c"uv_metrics_info") {
                Some(info) => Turns::Count(std::mem::transmute::<*mut c_void, MetricsInfo>(info)),
                None => {
                    let time = exported(c"uv_now")?;
                    Turns::Time(std::mem::transmute::<*mut c_void, LoopTime>(time))
                }
            };
            (std::mem::transmute::<*mut c_void, IdleTime>(idle_time), turns)
        };
        Some(Self(RawLoop { raw: raw_loop(env)?, idle_time, turns }, PhantomData))
    }

    /// Returns the time that the loop has waited for events, up to now: microseconds.
    pub(crate) fn waited_us(&self) -> i64 {
        // SAFETY: this is the loop's own thread, and `self` is given up before the loop ends.
        unsafe { self.0.waited_us() }
    }

    /// Returns the loop for other threads.
    pub(super) fn shared(&self) -> RawLoop {
        self.0
    }
}

impl RawLoop {
    /// Returns the time that the loop has waited for events, up to now: microseconds.
    ///
    /// # Safety
    /// The loop's environment is alive.
    pub(super) unsafe fn waited_us(&self) -> i64 {
        // SAFETY: the caller promises a live loop. Any thread may call the function.
        let ns = unsafe { (self.idle_time)(self.raw.as_ptr()) };
        i64::try_from(ns / 1000).unwrap_or(i64::MAX)
    }

    /// Returns what the loop has done, up to now.
    ///
    /// # Safety
    /// The loop's environment is alive.
    pub(super) unsafe fn progress(&self) -> LoopProgress {
        let raw = self.raw.as_ptr();
        // SAFETY: the caller promises a live loop. Both functions only read it, and the struct is as
        // large as libuv's.
        unsafe {
            let waited_us = self.waited_us();
            let (turns, has_begun) = match self.turns {
                Turns::Count(info) => {
                    let mut metrics: Metrics = std::mem::zeroed();
                    info(raw, &mut metrics);
                    (metrics.loop_count, metrics.loop_count > 0)
                }
                Turns::Time(time) => (time(raw), waited_us > 0),
            };
            LoopProgress { waited_us, turns, has_begun }
        }
    }
}
