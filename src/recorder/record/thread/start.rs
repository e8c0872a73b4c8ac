//! Starts the recording of the calling thread.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use chrono::{SecondsFormat, Utc};
use napi::Env;

use super::exit_hooks::{self, InterruptedRecording};
use super::next_window::NextWindow;
use super::reading::ThreadReading;
use super::recording::{
    ENDED_EARLY, IDLE_PROFILER, RECORDING, RecordingOrigin, StoppedRecording, ThreadRecording,
    ThreadWaiting,
};
use super::rotation::{on_entry, on_window_request};
use super::sampling::ThreadSampler;
use crate::record::files::complete_segment::CompleteSegment;
use crate::record::files::output_files::OutputFiles;
use crate::record::link::recording_link::RecordingLink;
use crate::record::observers::list;
use crate::record::observers::observer::{ObservedThread, Start};
use crate::record::output::recording_writer::RecordingWriter;
use crate::record::process::armed;
use crate::record::process::host::HostProcess;
use crate::record::process::signals;
use crate::record::window::idle::{IdleTimes, WaitCounters};
use crate::record::writer::event_loop::RecordingMessage;
use crate::sampler::best_source;
use crate::sampler::v8::{EntryHook, EventLoop, FrameFinder, Profiler, Waker, running_functions};
use crate::sampler::walk::Walker;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::settings::config::Config;
use cpu_prof_core::base::settings::name_pattern::FileNames;
use cpu_prof_core::base::settings::start::StartReason;
use cpu_prof_core::base::settings::values::{IgnoreList, Source};
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::base::system;
use cpu_prof_core::base::system::cpu_times::MeasuredThread;
use cpu_prof_core::format::trace::write::thread::{Segment, ThreadInfo};
use cpu_prof_core::profile::program::Program;

/// A request to record the calling thread.
pub(crate) struct StartRequest<'a> {
    /// Environment of the thread.
    pub env: &'a Env,
    /// Node's thread id, 0 for the main thread.
    pub thread_id: u32,
    /// Settings.
    pub config: &'a Config,
    /// Whether the program has code already whose source maps are wanted.
    pub has_scripts: bool,
    /// Id of the recording that covers this worker, or of the one of all threads.
    pub parent: Option<u32>,
    /// Why the recording of all threads started, if this is a part of it.
    pub reason: Option<StartReason>,
    /// Waker of the thread's environment, if the thread has one.
    pub waker: Option<Waker>,
    /// Segments of the recording that this one continues.
    pub earlier: Vec<CompleteSegment>,
}

impl<'a> StartRequest<'a> {
    /// Returns a request without a parent and earlier segments, for a thread without code so far.
    pub(crate) fn of_thread(env: &'a Env, thread_id: u32, config: &'a Config) -> Self {
        Self {
            env,
            thread_id,
            config,
            has_scripts: false,
            parent: None,
            reason: None,
            waker: None,
            earlier: Vec::new(),
        }
    }
}

/// The inspector's task.
pub(crate) struct InspectorPlan {
    /// Time between two samples, microseconds.
    pub interval_us: u32,
    /// Time between two windows, milliseconds.
    pub flush_ms: u32,
    /// Whether the user set the time between two windows.
    pub is_fixed: bool,
}

/// Starts recording this thread, which must not be recorded already. `program` is called for the
/// first recording of a process, `start_inspector` if the inspector is the source.
pub(crate) fn start(
    request: StartRequest<'_>,
    program: impl FnOnce() -> Program,
    start_inspector: impl FnOnce(InspectorPlan) -> Result<(), Error>,
) -> Result<(), Error> {
    let StartRequest { env, thread_id, config, has_scripts, parent, reason, waker, earlier } =
        request;
    let source = config.source.unwrap_or_else(best_source);
    let process = HostProcess::get_or_start(program, on_window_request, config.push_slice)?;
    let event_loop = EventLoop::quieten(env);
    let waker = match (source, waker) {
        (Source::Inspector, _) => None,
        (_, Some(waker)) => Some(waker.again(event_loop.as_ref())?),
        (_, None) => Some(Waker::new(event_loop.as_ref())?),
    };
    exit_hooks::watch(env, waker.as_ref(), thread_id, on_survival)?;
    // The file comes before the sampling: a profile that cannot be written is not worth its cost.
    let start_us = system::now_us();
    let frames = FrameFinder::of_this_thread();
    let names = process.file_names(config, thread_id);
    let info = ThreadInfo {
        finds_leaves: frames.is_some(),
        start: reason.clone(),
        ..thread_info(process, config, thread_id, &names)
    };
    let files = OutputFiles::create(config, names.clone(), info.clone(), start_us, earlier)?;
    // What starts in code knows where the program is.
    let began_in = reason.as_ref().map(|_| running_functions(env)).unwrap_or_default();
    let sampler = match start_sampler(env, config, source, has_scripts, start_inspector) {
        Ok(sampler) => sampler,
        Err(error) => {
            files.discard();
            return Err(error);
        }
    };
    let source = sampler.source();
    let thread = ObservedThread {
        link: Arc::new(RecordingLink::new(parent, waker, thread_id == 0)),
        pid: process.program.pid,
        tid: thread_id,
        start_us,
        ask_writer,
        spans: Arc::default(),
    };
    let (observers, on_writer) = list::begin(&Start {
        config,
        source,
        thread: &thread,
        is_idle_known: event_loop.is_some(),
        scripts: sampler.scripts(),
        names: &names,
        info: &info,
    });
    let idle = event_loop
        .as_ref()
        .map(|event_loop| WaitCounters { loop_us: event_loop.waited_us(), slept_us: None })
        .map(|counters| IdleTimes::new(config.interval_us, start_us, counters));
    let entry_hook = match source {
        Source::Inspector => None,
        Source::V8 | Source::Walk => EntryHook::add(on_entry),
    };
    let link = Arc::clone(&thread.link);
    let part = parent.filter(|_| reason.is_some()).map(|of| (of, link.id, files.paths()));
    let output = RecordingWriter::new(link, config, source, files, idle, on_writer);
    let own = match &sampler {
        ThreadSampler::Walk(walker) => Some(walker.sampling()),
        _ => None,
    };
    ENDED_EARLY.take();
    RECORDING.set(Some(ThreadRecording {
        process,
        thread,
        config: config.clone(),
        sampler: RefCell::new(sampler),
        waits: ThreadWaiting { event_loop, entry_hook, last_activity: Cell::default() },
        reading: ThreadReading::new(frames, own),
        next_window: NextWindow { began_in: Cell::new(began_in), ..NextWindow::default() },
        observers,
        origin: RecordingOrigin { reason, earlier: None },
    }));
    RECORDING.with_borrow(|recording| recording.iter().for_each(ThreadRecording::begin_reading));
    process.writer.open(output);
    if thread_id == 0 {
        signals::arm();
    }
    // Last: who is told that the thread is recorded may end the process at once.
    if let Some((of, recording, files)) = part {
        armed::joined(of, recording, files);
    }
    Ok(())
}

/// Asks the writer thread to write what waits of a recording.
fn ask_writer(link: &RecordingLink) {
    if let Some(process) = HostProcess::get() {
        process.writer.tell(link, RecordingMessage::Events);
    }
}

fn thread_info(
    process: &HostProcess,
    config: &Config,
    thread_id: u32,
    names: &FileNames,
) -> ThreadInfo {
    let segment = Segment::first_of(names.sequence());
    ThreadInfo {
        program: process.program.clone(),
        thread_id,
        os_thread_id: system::thread_id(),
        node_modules: process.program.node_modules(config.ignore_list),
        shows_bare: config.ignore_list != IgnoreList::Keep,
        interval_us: config.interval_us,
        finds_leaves: false,
        started: Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true),
        cpu: Some(MeasuredThread::this(thread_id == 0).times()),
        segment: config.history.is_limited().then_some(segment),
        recording_label: config.label.clone(),
        start: None,
    }
}

/// Starts the source of the samples.
fn start_sampler(
    env: &Env,
    config: &Config,
    source: Source,
    has_scripts: bool,
    start_inspector: impl FnOnce(InspectorPlan) -> Result<(), Error>,
) -> Result<ThreadSampler, Error> {
    match source {
        Source::V8 => start_profiler(env, config.interval_us, has_scripts).map(ThreadSampler::V8),
        Source::Walk => match start_walk(env, config.interval_us) {
            Ok(walker) => Ok(ThreadSampler::Walk(walker)),
            Err(error) => {
                warn_once(&error);
                start_sampler(env, config, Source::V8, has_scripts, start_inspector)
            }
        },
        Source::Inspector => {
            let plan = InspectorPlan {
                interval_us: config.interval_us,
                flush_ms: config.flush_interval(source).as_millis() as u32,
                is_fixed: config.flush_interval.is_some(),
            };
            start_inspector(plan).map(|()| ThreadSampler::Inspector)
        }
    }
}

fn start_walk(env: &Env, interval_us: u32) -> Result<Walker, Error> {
    let walker = Walker::new(env, interval_us)?;
    match walker.start() {
        Ok(()) => Ok(walker),
        Err(error) => {
            walker.dispose();
            Err(error)
        }
    }
}

fn start_profiler(env: &Env, interval_us: u32, has_scripts: bool) -> Result<Profiler, Error> {
    let profiler = match IDLE_PROFILER.take() {
        Some(profiler) => profiler,
        None => Profiler::new(env, has_scripts)?,
    };
    match profiler.start(interval_us) {
        Ok(()) => Ok(profiler),
        Err(error) => {
            IDLE_PROFILER.set(Some(profiler));
            Err(error)
        }
    }
}

/// Starts a second recording that continues the first one, because the process has survived.
pub(super) extern "C" fn on_survival(_: *mut c_void) {
    // Unwinding into C++ would end the process.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let Some(interrupted) = exit_hooks::take_interrupted() else { return };
        let InterruptedRecording { env, config, part_of, mut stopped } = interrupted;
        let (parent, reason) = part_of.unzip();
        if parent.is_some_and(|id| !armed::begin_again(id)) {
            return;
        }
        // The limits of the history hold for both recordings together.
        let earlier = stopped.as_mut().map(StoppedRecording::take_segments).unwrap_or_default();
        let request =
            StartRequest { earlier, parent, reason, ..StartRequest::of_thread(&env, 0, &config) };
        let no_inspector =
            |_| Err(Error::Unavailable("the inspector cannot resume a recording".into()));
        if let Err(error) = start(request, Program::default, no_inspector) {
            if let Some(id) = parent {
                armed::end_start(id, Some(&error));
            }
            return warn_once(&error);
        }
        RECORDING.with_borrow_mut(|recording| {
            if let Some(recording) = recording {
                recording.origin.earlier = stopped;
            }
        });
    }));
}
