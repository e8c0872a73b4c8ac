//! The armed threads, and the start and the stop of all of them.
//!
//! A thread starts and stops its own recording: it is asked to by its waker, in busy code or in an idle
//! loop. A thread that is blocked in native code follows when it returns.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::recording::{
    ProcessRecording, ProcessStart, Refusal, RunningRecording, StoppedProcess, unix_ms,
};
use crate::record::files::totals::RecordingTotals;
use crate::record::link::recording_link::next_recording_id;
use crate::sampler::best_source;
use crate::sampler::v8::{Callback, Waker};
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::settings::config::Config;
use cpu_prof_core::base::settings::environment::GivenSettings;
use cpu_prof_core::base::settings::values::Source;
use cpu_prof_core::base::system;
use cpu_prof_core::profile::program::Program;
use parking_lot::{Condvar, Mutex, MutexGuard};

/// Time for which a start or a stop waits for threads. Those that are in native code for longer follow
/// later.
const TIMEOUT: Duration = Duration::from_secs(1);

/// What an armed process is, and does.
pub(crate) struct ArmedState {
    /// Program of the first armed thread.
    pub program: Program,
    /// Settings of the first armed thread.
    pub config: Config,
    /// Time of the arming, Unix milliseconds.
    pub since_ms: u64,
    /// Number of armed threads.
    pub threads: usize,
    /// The recording that runs.
    pub recording: Option<RunningRecording>,
    /// The last recording that has ended.
    pub last: Option<StoppedProcess>,
}

/// What the first armed thread tells of its process.
pub(crate) struct ArmedProcess {
    /// Program.
    pub program: Program,
    /// Settings.
    pub config: Config,
    /// What the settings were read from.
    pub given: GivenSettings,
}

/// How a thread is reached.
pub(crate) struct ArmedThread {
    /// Reaches the thread's environment.
    pub waker: Waker,
    /// Starts the thread's recording.
    pub start: Callback,
    /// Stops the thread's recording.
    pub stop: Callback,
}

/// A request that a thread takes part in.
pub(crate) struct Join {
    /// Id of the recording of all threads.
    pub id: u32,
    /// The request.
    pub request: Arc<ProcessStart>,
}

static ARMED: Mutex<Option<Armed>> = Mutex::new(None);
/// Told when a thread has started or stopped.
static CHANGED: Condvar = Condvar::new();

struct Armed {
    process: ArmedProcess,
    since_ms: u64,
    /// Threads by their numbers.
    threads: HashMap<u32, ArmedThread>,
    last_thread: u32,
    recording: Option<ProcessRecording>,
    last: Option<StoppedProcess>,
}

/// Returns whether a thread of this process is armed, or was.
pub(crate) fn is_armed() -> bool {
    ARMED.lock().is_some()
}

/// Adds a thread, and returns its number. `process` is what the first thread tells.
pub(crate) fn add(thread: ArmedThread, process: Option<ArmedProcess>) -> Option<u32> {
    let mut armed = ARMED.lock();
    if armed.is_none() {
        let process = process?;
        *armed = Some(Armed {
            process,
            since_ms: unix_ms(),
            threads: HashMap::new(),
            last_thread: 0,
            recording: None,
            last: None,
        });
    }
    let armed = armed.as_mut()?;
    armed.last_thread += 1;
    armed.threads.insert(armed.last_thread, thread);
    Some(armed.last_thread)
}

/// Removes a thread, whose environment ends.
pub(crate) fn remove(thread: u32) {
    if let Some(armed) = &mut *ARMED.lock() {
        armed.threads.remove(&thread);
        if let Some(recording) = &mut armed.recording {
            recording.has_answered(thread);
            CHANGED.notify_all();
        }
    }
}

/// Returns what the process is and does; none if it is not armed.
pub(crate) fn state() -> Option<ArmedState> {
    let armed = ARMED.lock();
    let armed = armed.as_ref()?;
    Some(ArmedState {
        program: armed.process.program.clone(),
        config: armed.process.config.clone(),
        since_ms: armed.since_ms,
        threads: armed.threads.len(),
        recording: armed.recording.as_ref().map(ProcessRecording::describe),
        last: armed.last.clone(),
    })
}

/// Reads the settings of a recording. `options` take precedence over those of the process.
pub(crate) fn settings_with(options: &HashMap<String, String>) -> Result<Config, Error> {
    let armed = ARMED.lock();
    let armed =
        armed.as_ref().ok_or_else(|| Error::Unavailable("the process is not armed".into()))?;
    armed.process.given.read_with(options)
}

/// Starts recording all armed threads, and returns the id of their recording. Returns once each has started
/// or failed; those that do not answer in time follow. Not for the writer thread, for which a thread that ends
/// meanwhile would wait.
pub(crate) fn start_all(request: ProcessStart) -> Result<u32, Refusal> {
    let id = request_start(request)?;
    let mut guard = ARMED.lock();
    wait_while(&mut guard, |armed| recording_of(armed, id).is_some_and(|each| each.is_starting()));
    let Some(armed) = &mut *guard else { return Ok(id) };
    let has_failed = |each: &mut ProcessRecording| each.id == id && each.failure().is_some();
    let Some(failed) = armed.recording.take_if(has_failed) else { return Ok(id) };
    CHANGED.notify_all();
    Err(Refusal::Unavailable(failed.failure().unwrap_or_default().to_owned()))
}

/// Waits until a recording of all threads is over, and returns the last that has ended.
pub(crate) fn wait_until_over(id: u32) -> Option<StoppedProcess> {
    let mut guard = ARMED.lock();
    while guard.as_ref().is_some_and(|armed| recording_of(armed, id).is_some()) {
        wait_while(&mut guard, |armed| recording_of(armed, id).is_some());
    }
    guard.as_ref()?.last.clone()
}

/// Asks all armed threads to start, and returns the id of their recording without waiting for them.
pub(crate) fn request_start(request: ProcessStart) -> Result<u32, Refusal> {
    let mut guard = ARMED.lock();
    let Some(armed) = &mut *guard else { return Err(Refusal::Idle) };
    if let Some(recording) = &armed.recording {
        return Err(Refusal::Busy(recording.describe()));
    }
    let id = next_recording_id();
    let for_ = request.for_;
    let asked = armed.threads.keys().copied().collect();
    armed.recording = Some(ProcessRecording::new(id, request, asked));
    for thread in armed.threads.values() {
        thread.waker.wake(thread.start);
    }
    drop(guard);
    if let Some(time) = for_ {
        stop_after(id, time)?;
    }
    Ok(id)
}

/// Stops the recording of all threads, and returns when its files are complete, except those of threads
/// that do not answer in time. Not for the writer thread, which writes these files.
pub(crate) fn stop_all() -> Result<StoppedProcess, Refusal> {
    let guard = ARMED.lock();
    let id = guard.as_ref().and_then(|armed| Some(armed.recording.as_ref()?.id));
    id.and_then(|id| stop(guard, id)).ok_or(Refusal::Idle)
}

/// Stops a recording, unless it is being stopped, and waits for its end.
fn stop(mut guard: MutexGuard<'_, Option<Armed>>, id: u32) -> Option<StoppedProcess> {
    let armed = guard.as_mut()?;
    let recording = armed.recording.as_mut().filter(|recording| recording.id == id)?;
    if !std::mem::replace(&mut recording.is_stopping, true) {
        for thread in armed.threads.values() {
            thread.waker.wake(thread.stop);
        }
    }
    end_if_over(armed);
    wait_while(&mut guard, |armed| recording_of(armed, id).is_some());
    let armed = guard.as_mut()?;
    if let Some(unreached) = armed.recording.take_if(|recording| recording.id == id) {
        armed.last = Some(unreached.into_stopped());
        CHANGED.notify_all();
    }
    armed.last.clone()
}

/// Stops a recording after a time, on a thread that lasts as long as the recording.
fn stop_after(id: u32, time: Duration) -> Result<(), Refusal> {
    const STACK_BYTES: usize = 128 << 10;
    let wait = move || {
        let deadline = Instant::now() + time;
        let mut guard = ARMED.lock();
        let runs = |armed: &mut Option<Armed>| {
            armed.as_ref().is_some_and(|armed| recording_of(armed, id).is_some())
        };
        if CHANGED.wait_while_until(&mut guard, runs, deadline).timed_out() {
            stop(guard, id);
        }
    };
    let spawned = system::with_signals_blocked(|| {
        let thread = std::thread::Builder::new().name("cpu-prof-timer".into());
        thread.stack_size(STACK_BYTES).spawn(wait)
    });
    spawned.map(drop).map_err(|error| {
        // A recording that does not end by itself could fill the disk.
        let _ = stop_all();
        Refusal::Unavailable(format!("the thread that ends the recording did not start: {error}"))
    })
}

/// Returns the program of the first armed thread.
pub(crate) fn program() -> Program {
    ARMED.lock().as_ref().map(|armed| armed.process.program.clone()).unwrap_or_default()
}

/// Returns the source of the recording of all threads; none if none runs.
pub(crate) fn requested_source() -> Option<Source> {
    let armed = ARMED.lock();
    let recording = armed.as_ref()?.recording.as_ref().filter(|each| !each.is_stopping)?;
    Some(recording.request.config.source.unwrap_or_else(best_source))
}

/// Begins to start a thread again whose process has survived. Returns whether the recording goes on.
pub(crate) fn begin_again(id: u32) -> bool {
    let mut goes_on = false;
    with_recording(id, |recording| {
        goes_on = !recording.is_stopping;
        if goes_on {
            recording.begin_start();
        }
    });
    goes_on
}

/// Begins to start a thread. Returns the request; none if there is none for this thread now.
pub(crate) fn begin_start(thread: u32) -> Option<Join> {
    let mut armed = ARMED.lock();
    let armed = armed.as_mut()?;
    let recording = armed.recording.as_mut().filter(|recording| !recording.is_stopping)?;
    recording.has_answered(thread);
    recording.begin_start();
    Some(Join { id: recording.id, request: Arc::clone(&recording.request) })
}

/// Ends the start of a thread that is not recorded. `failure` is the reason; none for a thread that records
/// itself.
pub(crate) fn end_start(id: u32, failure: Option<&Error>) {
    with_recording(id, |recording| recording.end_start(failure.map(Error::to_string)));
}

/// Notes that a thread is recorded from now on, in these files, by the id of its recording.
pub(crate) fn joined(id: u32, recording: u32, files: Vec<PathBuf>) {
    with_recording(id, |process| process.joined(recording, files));
}

/// Notes that the recording of a thread has ended.
pub(crate) fn left(id: u32, recording: u32, totals: &RecordingTotals) {
    with_recording(id, |process| process.left(recording, totals));
}

/// Returns whether a recording of all threads runs and is not being stopped.
pub(crate) fn is_running(id: u32) -> bool {
    let armed = ARMED.lock();
    let recording = armed.as_ref().and_then(|armed| recording_of(armed, id));
    recording.is_some_and(|recording| !recording.is_stopping)
}

fn recording_of(armed: &Armed, id: u32) -> Option<&ProcessRecording> {
    armed.recording.as_ref().filter(|recording| recording.id == id)
}

fn with_recording(id: u32, change: impl FnOnce(&mut ProcessRecording)) {
    let mut armed = ARMED.lock();
    let Some(armed) = &mut *armed else { return };
    if let Some(recording) = armed.recording.as_mut().filter(|recording| recording.id == id) {
        change(recording);
        end_if_over(armed);
        CHANGED.notify_all();
    }
}

fn end_if_over(armed: &mut Armed) {
    if let Some(over) = armed.recording.take_if(|recording| recording.is_over()) {
        armed.last = Some(over.into_stopped());
        CHANGED.notify_all();
    }
}

fn wait_while(guard: &mut MutexGuard<'_, Option<Armed>>, is_open: impl Fn(&Armed) -> bool) {
    let is_open = |armed: &mut Option<Armed>| armed.as_ref().is_some_and(&is_open);
    CHANGED.wait_while_for(guard, is_open, TIMEOUT);
}
