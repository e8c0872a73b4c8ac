//! The thread that watches the conditions of this process.
//!
//! A thread of its own and not the writer thread: a slow disk holds the writer for as long as it likes, and
//! an armed process has no writer. The thread sleeps between two looks, and is not there without
//! conditions.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use super::kept_recordings::KeptRecordings;
use super::watch::{Counters, Observation, Watch};
use crate::record::process::armed::{self, ProcessStart, Refusal};
use crate::record::process::host::HostProcess;
use crate::record::process::signals;
use crate::sampler::v8::{LoopProgress, Waker};
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::micros::micros;
use cpu_prof_core::base::settings::config::Config;
use cpu_prof_core::base::settings::start::{StartReason, StartSignal, Trigger};
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::base::system;
use cpu_prof_core::profile::met_condition::MetCondition;

/// Watches the conditions of `config`. `main_thread` reaches the main thread's event loop. Must be called on
/// the main thread, once in a process: the first conditions stay.
pub(in crate::record) fn watch(config: &Config, main_thread: Arc<Waker>) -> Result<(), Error> {
    const STACK_BYTES: usize = 256 << 10;
    static IS_WATCHING: AtomicBool = AtomicBool::new(false);
    if IS_WATCHING.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let (sender, arrived) = channel();
    listen(config, &sender);
    let watcher = Watcher {
        watch: Watch::new(config.start.conditions()),
        kept: KeptRecordings::new(config.max_recordings),
        config: config.clone(),
        counters: ProcessCounters { main_thread },
        arrived,
        _sender: sender,
        pause_until_us: i64::MIN,
    };
    let spawned = system::with_signals_blocked(|| {
        let thread = thread::Builder::new().name("cpu-prof-watch".into());
        thread.stack_size(STACK_BYTES).spawn(move || {
            // A bug in here must cost the watch, not the program.
            let _ = catch_unwind(AssertUnwindSafe(|| watcher.run()));
        })
    });
    spawned.map(drop).map_err(|error| {
        Error::Unavailable(format!("the thread that watches conditions did not start: {error}"))
    })
}

/// Listens for the signals among the conditions. A failure is one line on stderr.
fn listen(config: &Config, sender: &Sender<StartSignal>) {
    let wanted = config.start.conditions().iter().filter_map(|condition| match condition.trigger {
        Trigger::Signal(signal) => Some((signal, &condition.text)),
        _ => None,
    });
    let (signals, texts): (Vec<_>, Vec<_>) = wanted.unzip();
    if signals.is_empty() {
        return;
    }
    let sender = sender.clone();
    let listening = signals::listen(&signals, move |signal| {
        let _ = sender.send(signal);
    });
    let why = match listening {
        Ok(taken) if taken.is_empty() => return,
        Ok(_) => io::Error::other("something else in the program listens for the signal already"),
        Err(error) => error,
    };
    let condition = texts.into_iter().cloned().collect::<Vec<_>>().join(",");
    warn_once(&Error::Condition { condition, reason: why.to_string() });
}

/// What the system and the main thread's event loop tell of this process.
struct ProcessCounters {
    main_thread: Arc<Waker>,
}

impl Counters for ProcessCounters {
    fn event_loop(&self) -> Option<LoopProgress> {
        self.main_thread.loop_progress()
    }

    fn cpu_us(&self) -> Option<i64> {
        system::process_cpu_us()
    }

    fn resident_bytes(&self) -> Option<u64> {
        system::resident_bytes()
    }
}

struct Watcher {
    config: Config,
    watch: Watch,
    counters: ProcessCounters,
    /// Signals that have arrived.
    arrived: Receiver<StartSignal>,
    /// Keeps the queue open where no signal is a condition.
    _sender: Sender<StartSignal>,
    /// Time before which only a signal counts, microseconds.
    pause_until_us: i64,
    kept: KeptRecordings,
}

impl Watcher {
    /// Watches until the process is no longer armed.
    fn run(mut self) {
        loop {
            let Observation { condition, observed } = self.next();
            let goes_on = if self.config.history.keep.is_some() {
                self.keep_history(condition, observed)
            } else {
                self.record(condition, observed)
            };
            if !goes_on {
                return;
            }
            let every_us = micros(self.config.every);
            self.pause_until_us = system::now_us().saturating_add(every_us);
            self.watch.restart();
            // A signal that came meanwhile has had its recording.
            self.arrived.try_iter().for_each(drop);
        }
    }

    /// Waits until a condition is met.
    fn next(&mut self) -> Observation {
        loop {
            let due_us = self.watch.due_us().map(|due_us| due_us.max(self.pause_until_us));
            let arrived = match due_us {
                None => self.arrived.recv().map_err(RecvTimeoutError::from),
                Some(due_us) => {
                    let wait_us = due_us.saturating_sub(system::now_us());
                    let wait = Duration::from_micros(u64::try_from(wait_us).unwrap_or(0));
                    self.arrived.recv_timeout(wait)
                }
            };
            let met = match arrived {
                Ok(signal) => self.of_signal(signal),
                Err(_) => self.watch.look(system::now_us(), &self.counters),
            };
            if let Some(met) = met {
                return met;
            }
        }
    }

    /// Returns the condition of a signal that has arrived.
    fn of_signal(&self, arrived: StartSignal) -> Option<Observation> {
        let conditions = self.config.start.conditions();
        let is_of = |trigger| matches!(trigger, Trigger::Signal(signal) if signal == arrived);
        let condition = conditions.iter().find(|condition| is_of(condition.trigger))?.text.clone();
        let observed = condition.trim_start_matches("signal:").to_owned();
        Some(Observation { condition, observed })
    }

    /// Records all threads, and returns when the recording is over. Returns whether the process is still
    /// armed.
    fn record(&mut self, condition: String, observed: String) -> bool {
        let reason = StartReason::Condition { reason: condition.clone(), observed };
        let (config, for_) = (self.config.clone(), Some(self.config.for_));
        match armed::start_all(ProcessStart { config, reason: reason.clone(), for_ }) {
            Ok(id) => {
                let stopped = armed::wait_until_over(id).filter(|last| last.reason == reason);
                self.kept.add(stopped.map(|stopped| stopped.files).unwrap_or_default());
                true
            }
            // Somebody else has asked for a recording, which shows the same.
            Err(Refusal::Busy(_)) => true,
            Err(Refusal::Idle) => false,
            Err(Refusal::Unavailable(reason)) => {
                warn_once(&Error::Condition { condition, reason });
                true
            }
        }
    }

    /// Keeps the history of all threads. Returns true: the process is recorded as long as it lives.
    fn keep_history(&mut self, reason: String, observed: String) -> bool {
        if let Some(process) = HostProcess::get() {
            let met = MetCondition { reason, observed, is_kept: true };
            process.writer.keep_history(met, self.config.for_);
        }
        true
    }
}
