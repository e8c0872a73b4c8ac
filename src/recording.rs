//! One thread's recording: start, rotate, stop, cleanup. Everything here runs on that thread.

use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use chrono::{Local, SecondsFormat, Utc};
use napi::Env;
use parking_lot::Mutex;

use crate::call_tree::CallTree;
use crate::error::Error;
use crate::filename::Fields;
use crate::output::Output;
use crate::process::Process;
use crate::program::Program;
use crate::source::v8::{self, Profiler, Waker};
use crate::trace::encode::Events;
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
}

/// Starts recording this thread. Does nothing if it is recorded already.
pub fn start(env: &Env, thread_id: u32, program: impl FnOnce() -> Program) -> Result<(), Error> {
    if is_recording() {
        return Ok(());
    }
    let process = Process::get_or_start(program, on_wake)?;
    let config = &process.config;
    let waker = Waker::new()?;

    // The file comes before the sampling: a profile that has nowhere to go is not worth its cost.
    let start_us = v8::now_us();
    let info = ThreadInfo {
        program: process.program.clone(),
        thread_id,
        worker_file: None,
        node_modules: process.node_modules,
        interval_us: config.interval_us,
        started: Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true),
    };
    let trace = ThreadTrace::new(info, start_us);
    let output = open_output(process, &trace, thread_id)?;

    let profiler = Profiler::new(env, config.interval_us)?;
    profiler.start()?;

    let link = Arc::new(Link { waker, read: Mutex::default(), failed: AtomicBool::new(false) });
    link.waker.at_exit(on_exit);
    let hooked = env.add_env_cleanup_hook((), |()| finish(Ending::Cleanup));
    if hooked.is_err() {
        link.waker.close();
        profiler.stop();
        profiler.dispose();
        return Err(Error::Unavailable("its end cannot be watched".into()));
    }
    process.writer.open(Track {
        link: Arc::clone(&link),
        output,
        trace,
        tree: CallTree::new(config.max_nodes),
    });
    RECORDING.set(Some(Recording { process, profiler, link }));
    Ok(())
}

/// Whether this thread is being recorded.
pub fn is_recording() -> bool {
    RECORDING.with_borrow(Option::is_some)
}

fn open_output(process: &Process, trace: &ThreadTrace, thread_id: u32) -> Result<Output, Error> {
    let started = Local::now();
    let names = |attempt: u32| {
        let sequence = process.next_sequence();
        let fields = Fields { started, pid: process.program.pid, thread_id, sequence };
        process.config.name.expand(&fields, attempt > 0)
    };
    let mut output = Output::create(&process.config.dir, EXTENSION, names, &trace.header())?;
    let mut events = Events::default();
    trace.open(&mut events);
    output.append(events.as_bytes())?;
    Ok(output)
}

/// The writer wants this thread's window.
extern "C" fn on_wake(_: *mut c_void) {
    // Unwinding into C++ would end the process.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let failed = RECORDING.with_borrow(|recording| {
            recording.as_ref().is_some_and(|recording| recording.rotate().is_err())
        });
        if failed {
            finish(Ending::Failure);
        }
    }));
}

/// The `exit` listeners have run.
extern "C" fn on_exit(_: *mut c_void) {
    let _ = catch_unwind(|| finish(Ending::Exit));
}

/// How a recording comes to its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// `process.exit()`, an uncaught exception: the process goes, and takes the isolate with it.
    Exit,
    /// The environment is being cleaned up, and the isolate disposed after it.
    Cleanup,
    /// Sampling or writing failed; the thread runs on.
    Failure,
}

fn finish(ending: Ending) {
    if let Some(recording) = RECORDING.take() {
        recording.finish(ending);
    }
}

impl Recording {
    /// Gives the writer what was sampled so far, and samples on.
    ///
    /// Stop comes before start. With eager logging V8 then takes down no more than its sampling
    /// thread, which leaves no sample behind, and nothing else touches the profiles meanwhile: the
    /// one moment at which those that have been read can be deleted safely.
    fn rotate(&self) -> Result<(), Error> {
        if self.link.failed.load(Ordering::Relaxed) {
            return Err(Error::Unavailable("its trace cannot be written".into()));
        }
        let before = Instant::now();
        let taken = self.profiler.stop();
        self.delete_read();
        let started = self.profiler.start();
        let pause = before.elapsed();
        if let Some(profile) = taken {
            self.process.writer.window(&self.link, Taken { profile, pause });
        }
        started.inspect_err(complain)
    }

    fn finish(self, ending: Ending) {
        self.link.waker.close();
        let before = Instant::now();
        let last = self.profiler.stop();
        let pause = before.elapsed();
        let last = last.map(|profile| Taken { profile, pause });
        let complete = self.process.writer.close(&self.link, last);
        // A process that exits frees all of this faster than V8 can.
        if complete && ending != Ending::Exit {
            self.delete_read();
            self.profiler.dispose();
        }
    }

    fn delete_read(&self) {
        for profile in self.link.read.lock().drain(..) {
            self.profiler.delete(profile);
        }
    }
}
