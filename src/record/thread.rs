//! One thread's recordings: start, rotate, stop. Everything here runs on that thread.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use chrono::{SecondsFormat, Utc};
use napi::Env;
use parking_lot::Mutex;

use crate::base::config::{Config, Source};
use crate::base::error::Error;
use crate::base::name_pattern::{FileNames, NameFields};
use crate::base::stderr::warn_once;
use crate::base::system;
use crate::format::trace::thread::ThreadInfo;
use crate::profile::call_tree::CallTree;
use crate::profile::program::Program;
use crate::record::process::{HostProcess, next_sequence};
use crate::record::sink::{
    CpuProfileFile, RecordingLink, RecordingSink, RecordingTotals, TakenWindow, TraceFile,
};
use crate::record::worker_script::PendingScript;
use crate::record::{lifecycle, signals};
use crate::sampler::inspector;
use crate::sampler::source::{RawWindow, best_source};
use crate::sampler::v8::{self, Profiler, StallDetector, Waker};

/// The recordings that cover their workers.
static COVERS: Mutex<BTreeMap<u32, Config>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// V8's side of a recording never leaves its thread, and callbacks find it without a pointer
    /// that could outlive it.
    pub(super) static RECORDING: RefCell<Option<ThreadRecording>> = const { RefCell::new(None) };
    /// The last recording's profiler: to make one takes longer than all else at a start.
    pub(super) static IDLE_PROFILER: RefCell<Option<Profiler>> = const { RefCell::new(None) };
    /// A recording that came to its end before it was stopped.
    static ENDED: RefCell<Option<StoppedRecording>> = const { RefCell::new(None) };
}

pub(super) struct ThreadRecording {
    process: &'static HostProcess,
    sampler: Sampler,
    link: Arc<RecordingLink>,
    pub(super) env: Env,
    id: u32,
    /// The recording that covers this worker.
    parent: Option<u32>,
    pub(super) config: Config,
    thread_id: u32,
    start_us: i64,
    is_named: Cell<bool>,
    /// Until a worker's script is known.
    script: RefCell<Option<PendingScript>>,
    /// What there was before the program sent itself a signal that it survived.
    pub(super) earlier: Option<StoppedRecording>,
}

enum Sampler {
    V8(Profiler),
    /// JavaScript's.
    Inspector,
}

/// What the inspector is to do.
pub(crate) struct InspectorPlan {
    /// Between two samples.
    pub interval_us: u32,
    /// Between two windows, milliseconds.
    pub flush_ms: u32,
    /// Whether that is what the user wants.
    pub is_fixed: bool,
}

/// What the inspector is to do after a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextStep {
    /// Sample on.
    On,
    /// Nothing: the recording is over.
    GiveUp,
    /// Stop before it starts the next time.
    Restart,
}

/// A recording that has come to its end.
pub(crate) struct StoppedRecording {
    /// What there is in its files.
    pub written: RecordingTotals,
    /// From its start to its end, microseconds.
    pub duration_us: i64,
    /// Node's thread id.
    pub thread_id: u32,
    /// Where the samples came from.
    pub source: Source,
}

/// Starts recording this thread, which must not be recorded already. `start_inspector` is for a
/// thread that is not sampled from here.
pub(crate) fn start(
    env: &Env,
    thread_id: u32,
    config: &Config,
    program: impl FnOnce() -> Program,
    script: Option<PendingScript>,
    parent: Option<u32>,
    start_inspector: impl FnOnce(InspectorPlan) -> Result<(), Error>,
) -> Result<(), Error> {
    let source = config.source.unwrap_or_else(best_source);
    let flush_interval = config.flush_interval(source);
    let process = HostProcess::get_or_start(program, on_wake)?;
    let waker = match source {
        Source::V8 => Some(Waker::new()?),
        Source::Inspector => None,
    };
    lifecycle::watch(env, waker.as_ref(), thread_id)?;

    // The file comes before the sampling: a profile that has nowhere to go is not worth its cost.
    let start_us = system::now_us();
    let info = ThreadInfo {
        program: process.program.clone(),
        thread_id,
        node_modules: process.program.node_modules(config.ignore_list),
        interval_us: config.interval_us,
        started: Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true),
    };
    let (trace, cpuprofile) = open_files(process, config, info, start_us)?;

    let started = match source {
        Source::V8 => start_v8(env, config.interval_us).map(Sampler::V8),
        Source::Inspector => start_inspector(InspectorPlan {
            interval_us: config.interval_us,
            flush_ms: flush_interval.as_millis() as u32,
            is_fixed: config.flush_interval.is_some(),
        })
        .map(|()| Sampler::Inspector),
    };
    let sampler = match started {
        Ok(sampler) => sampler,
        Err(error) => {
            if let Some(trace) = trace {
                trace.discard();
            }
            return Err(error);
        }
    };
    let link = Arc::new(RecordingLink::new(waker));
    static LAST_ID: AtomicU32 = AtomicU32::new(0);
    let id = LAST_ID.fetch_add(1, Ordering::Relaxed);
    let track = RecordingSink {
        id,
        parent,
        link: Arc::clone(&link),
        flush_interval,
        written: RecordingTotals::default(),
        // A `.cpuprofile` has each path once.
        tree: CallTree::new(if cpuprofile.is_some() { usize::MAX } else { config.max_nodes }),
        trace,
        cpuprofile,
        pulse: StallDetector::new(config.interval_us),
        restarts: 0,
        read: Vec::new(),
        taken_until_us: (source == Source::Inspector).then_some(i64::MIN),
    };
    let (script, config) = (RefCell::new(script), config.clone());
    let recording = ThreadRecording {
        process,
        sampler,
        link,
        env: *env,
        id,
        parent,
        config,
        thread_id,
        start_us,
        is_named: Cell::new(thread_id == 0),
        script,
        earlier: None,
    };
    ENDED.take();
    RECORDING.set(Some(recording));
    process.writer.open(track);
    if thread_id == 0 {
        signals::arm();
    }
    Ok(())
}

fn start_v8(env: &Env, interval_us: u32) -> Result<Profiler, Error> {
    let profiler = match IDLE_PROFILER.take() {
        Some(profiler) => profiler,
        None => Profiler::new(env)?,
    };
    match profiler.start(interval_us) {
        Ok(()) => Ok(profiler),
        Err(error) => {
            IDLE_PROFILER.set(Some(profiler));
            Err(error)
        }
    }
}

/// Whether this thread is being recorded.
pub(crate) fn is_recording() -> bool {
    RECORDING.with_borrow(Option::is_some)
}

/// Whether this thread is a worker that is recorded only for its parent's sake.
pub(crate) fn is_covered() -> bool {
    RECORDING.with_borrow(|recording| recording.as_ref().is_some_and(|r| r.parent.is_some()))
}

/// From now on this thread's recording covers the workers that are recorded for its sake: they
/// come with the number that this gives.
pub(crate) fn cover_workers() -> Option<u32> {
    RECORDING.with_borrow(|recording| {
        let recording = recording.as_ref()?;
        COVERS.lock().insert(recording.id, recording.config.clone());
        Some(recording.id)
    })
}

/// The settings of a recording that covers its workers, as long as it runs.
pub(crate) fn covering(parent: u32) -> Option<Config> {
    COVERS.lock().get(&parent).cloned()
}

/// Stops recording this thread. Its files are complete by then. None if it is not recorded.
pub(crate) fn stop() -> Option<StoppedRecording> {
    match RECORDING.take() {
        Some(recording) => {
            let (stopped, profiler) = recording.finish();
            if let Some((profiler, left)) = profiler {
                profiler.delete(left);
                IDLE_PROFILER.set(Some(profiler));
            }
            Some(stopped)
        }
        None => ENDED.take(),
    }
}

/// Stops as [`stop`] does, and keeps what there is to be told of it.
pub(crate) fn end_early() {
    if let Some(stopped) = stop() {
        ENDED.set(Some(stopped));
    }
}

/// Takes a window of the inspector's over, which JavaScript began to take at `since_us`.
pub(crate) fn window(json: String, since_us: i64) -> NextStep {
    let next = RECORDING.with_borrow(|recording| {
        recording.as_ref().map_or(NextStep::GiveUp, |recording| recording.window(json, since_us))
    });
    if next == NextStep::GiveUp {
        end_early();
    }
    next
}

/// Names this thread, a worker, by the script that it runs.
pub(crate) fn name_worker(file: String) {
    RECORDING.with_borrow(|recording| {
        if let Some(recording) = recording {
            recording.name_worker(file);
        }
    });
}

/// The writer wants this thread's window.
extern "C" fn on_wake(_: *mut c_void) {
    // Unwinding into C++ would end the process.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let is_over = RECORDING.with_borrow(|recording| {
            recording
                .as_ref()
                .is_some_and(|recording| recording.is_over() || recording.rotate().is_err())
        });
        if is_over {
            end_early();
        }
    }));
}

/// The files of the formats that are wanted, under one name.
fn open_files(
    process: &HostProcess,
    config: &Config,
    info: ThreadInfo,
    start_us: i64,
) -> Result<(Option<TraceFile>, Option<CpuProfileFile>), Error> {
    let started = Utc::now().with_timezone(&process.time_zone);
    let (pid, thread_id, sequence) = (info.program.pid, info.thread_id, next_sequence());
    let fields = NameFields { started, pid, thread_id, sequence };
    let mut names = FileNames::new(config.name.clone(), fields, next_sequence);
    let mut trace = None;
    if config.formats.trace {
        trace = Some(TraceFile::create(&config.dir, &mut names, info, start_us)?);
    }
    let cpuprofile =
        config.formats.cpuprofile.then(|| CpuProfileFile::new(&config.dir, names, start_us));
    Ok((trace, cpuprofile))
}

impl ThreadRecording {
    /// Gives the writer what was sampled so far, and samples on.
    fn rotate(&self) -> Result<(), Error> {
        self.begin_window()?;
        let Sampler::V8(profiler) = &self.sampler else { return Ok(()) };
        let before = Instant::now();
        let is_stuck = self.take_restart_request();
        let profile = if is_stuck { profiler.restart() } else { profiler.rotate() };
        self.hand_over(RawWindow::V8(profile.inspect_err(warn_once)?), before.elapsed());
        Ok(())
    }

    /// As [`ThreadRecording::rotate`], of what JavaScript has taken already.
    fn window(&self, json: String, since_us: i64) -> NextStep {
        if self.begin_window().is_err() {
            return NextStep::GiveUp;
        }
        let pause_us = u64::try_from(system::now_us() - since_us).unwrap_or(0);
        let profile = RawWindow::Inspector(inspector::InspectorProfile::new(json));
        self.hand_over(profile, Duration::from_micros(pause_us));
        match (self.is_over(), self.take_restart_request()) {
            (true, _) => NextStep::GiveUp,
            (false, true) => NextStep::Restart,
            (false, false) => NextStep::On,
        }
    }

    fn begin_window(&self) -> Result<(), Error> {
        if self.link.failed.load(Ordering::Relaxed) {
            return Err(Error::Unavailable("its trace cannot be written".into()));
        }
        // A worker that is busy from its first line on has told nobody what it runs.
        let script = self.script.borrow().as_ref().and_then(PendingScript::get);
        if let Some(file) = script {
            self.name_worker(file);
        }
        Ok(())
    }

    /// Whether the recording that covers this worker has been stopped.
    fn is_over(&self) -> bool {
        self.link.is_over.load(Ordering::Relaxed)
    }

    /// Whether V8 has to be stopped and started again, as it will be.
    fn take_restart_request(&self) -> bool {
        self.link.is_stuck.swap(false, Ordering::Relaxed)
    }

    fn hand_over(&self, profile: RawWindow, pause: Duration) {
        self.process.writer.window(&self.link, TakenWindow { profile, pause });
        if self.thread_id == 0 {
            signals::arm();
        }
    }

    fn name_worker(&self, file: String) {
        if let Some(script) = self.script.take() {
            script.forget();
        }
        if !self.is_named.replace(true) {
            self.process.writer.rename(&self.link, file);
        }
    }

    /// Stops, and waits for the files. Of the profiler there is nothing left to be used, nor to be
    /// freed, if V8's thread or the writer may still be at it.
    pub(super) fn finish(self) -> (StoppedRecording, Option<(Profiler, Vec<v8::V8Profile>)>) {
        const PATIENCE: Duration = Duration::from_millis(250);
        if COVERS.lock().remove(&self.id).is_some() {
            self.process.writer.stop_workers(self.id, PATIENCE);
        }
        self.link.close();
        let before = Instant::now();
        let last = match &self.sampler {
            Sampler::V8(profiler) => profiler.stop(),
            // JavaScript gave it already, if it could.
            Sampler::Inspector => None,
        };
        let has_stopped = last.is_some();
        let last = last.map(|profile| TakenWindow {
            profile: RawWindow::V8(profile),
            pause: before.elapsed(),
        });
        let duration_us = system::now_us() - self.start_us;
        let closed = self.process.writer.close(&self.link, last);
        if let Some(script) = self.script.take() {
            script.forget();
        }
        let (written, left) = closed.map(|closed| (closed.written, closed.left)).unzip();
        let written = written.unwrap_or_default();
        let thread_id = self.thread_id;
        let (source, profiler) = match self.sampler {
            Sampler::V8(profiler) => (Source::V8, Some(profiler)),
            Sampler::Inspector => (Source::Inspector, None),
        };
        let mut stopped = StoppedRecording { written, duration_us, thread_id, source };
        if let Some(mut earlier) = self.earlier {
            earlier.written.add(stopped.written);
            stopped.written = earlier.written;
            stopped.duration_us += earlier.duration_us;
        }
        (stopped, profiler.zip(left.filter(|_| has_stopped)))
    }
}
