//! Takes the windows of the calling thread when the writer thread requests them.
//!
//! V8's sampling thread wakes at each interval, even if the sampled thread is idle. So a thread that
//! has waited for seconds suspends its sampling, and resumes when V8 is about to run JavaScript.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::next_window::BegunRotation;
use super::recording::{RECORDING, ThreadRecording};
use super::sampling::ThreadSampler;
use super::stop::end_early;
use crate::record::writer::event_loop::RecordingMessage;
use crate::sampler::RawWindow;
use crate::sampler::v8::{Profiler, Rotated};
use crate::sampler::walk::Walker;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::base::system;

/// Takes the next step to the window that the writer thread requested.
pub(super) extern "C" fn on_window_request(_: *mut c_void) {
    // Unwinding into C++ would end the process.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let is_over = RECORDING.with_borrow(|recording| {
            recording.as_ref().is_some_and(|recording| {
                recording.thread.link.requests.stop.get() || !rotate(recording)
            })
        });
        if is_over {
            end_early();
        }
    }));
}

/// Begins a rotation, or ends the one that has begun and hands over the window. Returns false if
/// the recording should end. Runs in V8's interrupts, where no JavaScript may run: so it touches no
/// JavaScript object.
fn rotate(recording: &ThreadRecording) -> bool {
    if recording.thread.link.has_failed.get() {
        return false;
    }
    if recording.thread.link.suspension.is_on.get() {
        resume(recording);
    }
    let sampler = recording.sampler.borrow();
    let profiler = match &*sampler {
        ThreadSampler::V8(profiler) => profiler,
        ThreadSampler::Walk(walker) => {
            take_walked(recording, walker);
            let is_wrong = walker.is_wrong();
            drop(sampler);
            return !is_wrong || leave_to_v8(recording).inspect_err(warn_once).is_ok();
        }
        ThreadSampler::Inspector => return true,
    };
    let step = if recording.thread.link.requests.restart.take() {
        restart(recording, profiler)
    } else if profiler.is_rotating() {
        end_rotation(recording, profiler)
    } else if recording.should_suspend() {
        suspend(recording, profiler)
    } else {
        begin_rotation(recording, profiler)
    };
    step.inspect_err(warn_once).is_ok()
}

fn begin_rotation(recording: &ThreadRecording, profiler: &Profiler) -> Result<(), Error> {
    let (begun, start_us) = (Instant::now(), profiler_start_us());
    profiler.begin_rotation()?;
    let span_us = (start_us, profiler_end_us());
    recording.next_window.rotation.set(Some(BegunRotation { pause: begun.elapsed(), span_us }));
    recording.tell_writer(RecordingMessage::Overlap);
    Ok(())
}

/// Returns the earliest time that a sample taken from now on can have: V8's clock moves in steps.
fn profiler_start_us() -> i64 {
    system::now_us() - system::v8_clock_step_us() + 1
}

/// Returns the latest time that a sample taken by now can have: V8 adds a microsecond to its clock.
fn profiler_end_us() -> i64 {
    system::now_us() + 1
}

fn end_rotation(recording: &ThreadRecording, profiler: &Profiler) -> Result<(), Error> {
    let before = Instant::now();
    let profile = profiler.end_rotation()?;
    let taken = recording.window(RawWindow::V8(profile), before.elapsed());
    if taken.circumstances.was_waiting {
        recording.thread.link.read_profiles.delete_here();
    }
    recording.hand_over(taken);
    Ok(())
}

fn restart(recording: &ThreadRecording, profiler: &Profiler) -> Result<(), Error> {
    let (before, start_us) = (Instant::now(), profiler_start_us());
    let Rotated { profile, surplus } = profiler.restart()?;
    recording.reading.resumed();
    if let Some(surplus) = surplus {
        recording.thread.link.read_profiles.push(surplus, None);
    }
    let span_us = (start_us, profiler_end_us());
    recording.next_window.rotation.set(Some(BegunRotation { pause: before.elapsed(), span_us }));
    recording.hand_over(recording.window(RawWindow::V8(profile), Duration::ZERO));
    Ok(())
}

/// Hands over a window of the walk, and stops sampling until the thread runs JavaScript again, if it waits.
fn take_walked(recording: &ThreadRecording, walker: &Walker) {
    let before = Instant::now();
    let window = match recording.should_suspend() {
        true => {
            recording.thread.link.suspension.is_on.set(true);
            walker.pause()
        }
        false => walker.window(),
    };
    recording.reading.resumed();
    recording.hand_over(recording.window(RawWindow::Walk(Box::new(window)), before.elapsed()));
}

/// Lets V8's profiler take the samples from now on, because the walk finds other stacks than V8.
fn leave_to_v8(recording: &ThreadRecording) -> Result<(), Error> {
    warn_once(&Error::NoWalk("V8's own code sees other stacks".into()));
    let ThreadSampler::Walk(walker) = recording.sampler.replace(ThreadSampler::Inspector) else {
        return Ok(());
    };
    let env = walker.env();
    recording.reading.leave_to_v8();
    walker.dispose();
    let is_suspended = recording.thread.link.suspension.is_on.get();
    let profiler = Profiler::new(&env, true)?;
    profiler.set_interval(recording.config.interval_us);
    if !is_suspended {
        profiler.resume()?;
    }
    recording.sampler.replace(ThreadSampler::V8(profiler));
    recording.begin_reading();
    Ok(())
}

/// Stops sampling until the thread runs JavaScript again, and hands over the window.
fn suspend(recording: &ThreadRecording, profiler: &Profiler) -> Result<(), Error> {
    // A profile is deleted only while another is running.
    recording.thread.link.read_profiles.delete_here();
    let before = Instant::now();
    let profile = profiler.suspend()?;
    recording.thread.link.suspension.is_on.set(true);
    recording.hand_over(recording.window(RawWindow::V8(profile), before.elapsed()));
    Ok(())
}

/// Resumes sampling if it is suspended. V8 calls this before each entry into JavaScript.
pub(super) extern "C" fn on_entry(_: *mut c_void) {
    // Unwinding into C++ would end the process.
    let _ = catch_unwind(|| {
        RECORDING.with_borrow(|recording| {
            if let Some(recording) = recording
                && recording.thread.link.suspension.is_on.get()
                && !system::is_forked()
            {
                resume(recording);
            }
        });
    });
}

fn resume(recording: &ThreadRecording) {
    let start_us = system::now_us();
    recording.thread.link.suspension.is_on.set(false);
    let resumed = match &*recording.sampler.borrow() {
        ThreadSampler::V8(profiler) => profiler.resume(),
        ThreadSampler::Walk(walker) => walker.start(),
        ThreadSampler::Inspector => return,
    };
    match resumed {
        Ok(()) => {
            recording.reading.resumed();
            recording.next_window.resumed_us.set(Some((start_us, profiler_end_us())));
            recording.tell_writer(RecordingMessage::Resumed);
        }
        // The next request finds no profile, and ends the recording.
        Err(error) => warn_once(&error),
    }
}

/// Waits until V8 has most likely taken a sample of this thread, in a call of this addon from JavaScript: the sample
/// has the name that V8 gives to the functions of all addons.
pub(crate) fn wait_for_sample() {
    /// With a longer interval the name stays unknown.
    const MAX_WAIT_US: i64 = 4000;
    /// The longest wait where V8's sampling thread gets no core.
    const LONGEST_WAIT_US: i64 = 25_000;
    RECORDING.with_borrow(|recording| {
        let Some(recording) =
            recording.as_ref().filter(|each| each.sampler.borrow().profiler().is_some())
        else {
            return;
        };
        let interval_us = i64::from(recording.config.interval_us);
        let wait_us = 2 * interval_us + 500;
        if system::is_forked() || wait_us > MAX_WAIT_US {
            return;
        }
        let from_us = system::now_us();
        recording.reading.count_samples(|samples| {
            // V8's thread comes late where all cores are busy.
            let longest_us = if samples().is_some() { LONGEST_WAIT_US } else { wait_us };
            let is_over = |waited_us: i64| {
                waited_us >= longest_us || waited_us >= wait_us && samples() > Some(0)
            };
            // A thread that sleeps is not sampled in this call only.
            while !is_over(system::now_us() - from_us) {
                std::hint::spin_loop();
            }
        });
        recording.next_window.addon_call_us.set(Some((from_us, system::now_us())));
    });
}
