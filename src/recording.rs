//! One thread's recording: start, rotate, stop, cleanup. Everything here runs on that thread.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use chrono::{SecondsFormat, Utc};
use napi::Env;
use napi::bindgen_prelude::{JsObjectValue, Object, ObjectRef};

use crate::call_tree::CallTree;
use crate::error::Error;
use crate::filename::Fields;
use crate::output::Output;
use crate::process::Process;
use crate::program::Program;
use crate::signals;
use crate::source::v8::{Finished, Profiler, Pulse, Waker};
use crate::system;
use crate::trace::thread::{ThreadInfo, ThreadTrace};
use crate::writer::{Link, Taken, Track, complain};

const EXTENSION: &str = ".trace.json";

thread_local! {
    /// V8's side of the recording never leaves its thread, and callbacks find it without a pointer
    /// that could outlive it.
    static RECORDING: RefCell<Option<Recording>> = const { RefCell::new(None) };
}

struct Recording {
    process: &'static Process,
    profiler: Profiler,
    link: Arc<Link>,
    is_main: bool,
    /// How often V8's sampling got stuck.
    restarts: Cell<u32>,
    /// Until a worker's script is known.
    script: RefCell<Option<ScriptToCome>>,
}

/// Starts recording this thread. Does nothing if it is recorded already.
/// `argv` is `process.argv`, where Node puts a worker's script after the preload.
pub fn start(
    env: &Env,
    thread_id: u32,
    argv: Object<'_>,
    program: impl FnOnce() -> Program,
) -> Result<(), Error> {
    if is_recording() {
        return Ok(());
    }
    let process = Process::get_or_start(program, on_wake)?;
    let config = &process.config;
    let waker = Waker::new()?;

    // The file comes before the sampling: a profile that has nowhere to go is not worth its cost.
    let start_us = system::now_us();
    let info = ThreadInfo {
        program: process.program.clone(),
        thread_id,
        node_modules: process.node_modules,
        interval_us: config.interval_us,
        started: Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true),
    };
    let trace = ThreadTrace::new(info, start_us);
    let output = open_output(process, &trace, thread_id)?;

    let profiler = Profiler::start(env, config.interval_us)?;
    let link = Arc::new(Link::new(waker));
    // The main thread's isolate goes with the process, which frees its memory faster than V8 can.
    let ending = if thread_id == 0 { Ending::Process } else { Ending::Thread };
    if ending == Ending::Process {
        link.waker.at_exit(on_exit);
    }
    let hooked = env.add_env_cleanup_hook((), move |()| drop(catch_unwind(|| finish(ending))));
    if hooked.is_err() {
        link.waker.close();
        let left = profiler.stop().into_iter().collect();
        profiler.dispose(left);
        return Err(Error::Unavailable("its end cannot be watched".into()));
    }
    let script = RefCell::new((thread_id != 0).then(|| ScriptToCome::new(env, argv)).flatten());
    let track = Track {
        link: Arc::clone(&link),
        output,
        trace,
        tree: CallTree::new(config.max_nodes),
        pulse: Pulse::new(config.interval_us),
        read: Vec::new(),
    };
    let is_main = thread_id == 0;
    RECORDING.set(Some(Recording {
        process,
        profiler,
        link,
        is_main,
        restarts: Cell::new(0),
        script,
    }));
    process.writer.open(track);
    if is_main {
        signals::arm();
    }
    Ok(())
}

/// Whether this thread is being recorded.
pub fn is_recording() -> bool {
    RECORDING.with_borrow(Option::is_some)
}

/// Names this thread, a worker, by the script that it runs.
pub fn name_worker(file: String) {
    RECORDING.with_borrow(|recording| {
        if let Some(recording) = recording {
            recording.name_worker(file);
        }
    });
}

fn open_output(process: &Process, trace: &ThreadTrace, thread_id: u32) -> Result<Output, Error> {
    let started = Utc::now().with_timezone(&process.time_zone);
    let names = |attempt: u32| {
        let sequence = process.next_sequence();
        let fields = Fields { started, pid: process.program.pid, thread_id, sequence };
        process.config.name.expand(&fields, attempt > 0)
    };
    Output::create(&process.config.dir, EXTENSION, names, &trace.head())
}

/// The writer wants this thread's window.
extern "C" fn on_wake(_: *mut c_void) {
    // Unwinding into C++ would end the process.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let failed = RECORDING.with_borrow(|recording| {
            recording.as_ref().is_some_and(|recording| recording.rotate().is_err())
        });
        if failed {
            finish(Ending::Thread);
        }
    }));
}

/// The `exit` listeners have run.
extern "C" fn on_exit(_: *mut c_void) {
    let _ = catch_unwind(|| finish(Ending::Process));
}

/// What ends with a recording.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The whole process: what V8 holds goes with it.
    Process,
    /// At most the thread: what V8 holds must be given back.
    Thread,
}

fn finish(ending: Ending) {
    if let Some(recording) = RECORDING.take() {
        recording.finish(ending);
    }
}

impl Recording {
    /// Gives the writer what was sampled so far, and samples on.
    fn rotate(&self) -> Result<(), Error> {
        if self.link.failed.load(Ordering::Relaxed) {
            return Err(Error::Unavailable("its trace cannot be written".into()));
        }
        // A worker that is busy from its first line on has told nobody what it runs.
        let script = self.script.borrow().as_ref().and_then(ScriptToCome::get);
        if let Some(file) = script {
            self.name_worker(file);
        }
        let before = Instant::now();
        let is_stuck = self.link.is_stuck.swap(false, Ordering::Relaxed);
        self.restarts.set(self.restarts.get() + u32::from(is_stuck));
        let profile = if is_stuck { self.profiler.restart() } else { self.profiler.rotate() };
        let taken = self.taken(profile.inspect_err(complain)?, before);
        self.process.writer.window(&self.link, taken);
        if self.is_main {
            signals::arm();
        }
        Ok(())
    }

    fn taken(&self, profile: Finished, since: Instant) -> Taken {
        Taken { profile, pause: since.elapsed(), restarts: self.restarts.get() }
    }

    fn name_worker(&self, file: String) {
        if let Some(script) = self.script.take() {
            script.forget();
            self.process.writer.rename(&self.link, file);
        }
    }

    fn finish(self, ending: Ending) {
        self.link.waker.close();
        let before = Instant::now();
        let last = self.profiler.stop();
        let stopped = last.is_some();
        let last = last.map(|profile| self.taken(profile, before));
        let left = self.process.writer.close(&self.link, last);
        // What may still be in use, by V8's thread or by the writer, is leaked.
        if let (Some(left), true, Ending::Thread) = (left, stopped, ending) {
            self.profiler.dispose(left);
        }
    }
}

/// `process.argv` of a worker, before Node has put its script there.
struct ScriptToCome {
    env: Env,
    argv: ObjectRef<false>,
    length: u32,
}

impl ScriptToCome {
    fn new(env: &Env, argv: Object<'_>) -> Option<Self> {
        let length = argv.get_array_length().ok()?;
        let argv = argv.create_ref().ok()?;
        Some(Self { env: *env, argv, length })
    }

    fn forget(self) {
        // A reference that stays until the environment ends is the worst that can come of it.
        let _ = self.argv.unref(&self.env);
    }

    /// Reading an element of an array runs no JavaScript.
    fn get(&self) -> Option<String> {
        let script = self.env.run_in_scope(|| {
            let argv = self.argv.get_value(&self.env)?;
            let come = argv.get_array_length()? > self.length;
            if come { argv.get_element::<Option<String>>(1) } else { Ok(None) }
        });
        script.ok().flatten()
    }
}
