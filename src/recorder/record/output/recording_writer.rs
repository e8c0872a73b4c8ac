//! Writes the windows of one recording to its files. Runs on the writer thread.

use std::path::PathBuf;
use std::sync::Arc;

use super::pace::Pace;
use super::streamed_trace::StreamedTrace;
use crate::record::files::appender::{Appender, note_failure};
use crate::record::files::complete_segment::{CompleteSegment, SegmentContents};
use crate::record::files::output_files::{CpuProfileFile, OutputFiles};
use crate::record::files::totals::RecordingTotals;
use crate::record::link::recording_link::RecordingLink;
use crate::record::link::taken_window::TakenWindow;
use crate::record::observers::observer::WrittenWindow;
use crate::record::observers::on_writer::WriterObservers;
use crate::record::window::idle::IdleTimes;
use crate::record::window::passes::WindowPasses;
use crate::record::window::worker_name::WorkerName;
use crate::sampler::RawWindow;
use crate::sampler::inspector;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::settings::config::Config;
use cpu_prof_core::base::settings::values::Source;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::base::system;
use cpu_prof_core::format::trace::write::event_args::{Flush, TraceEnd};
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::format::trace::write::thread::ThreadTrace;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::window::Window;
use cpu_prof_core::profile::window::call_tree::PlacedWindow;

/// A recording's files and the state that is needed to fill them.
pub(crate) struct RecordingWriter {
    /// Link to the recorded thread.
    pub link: Arc<RecordingLink>,
    /// Pace of the windows.
    pub pace: Pace,
    pub(super) trace: Option<StreamedTrace>,
    /// None once it is complete.
    cpuprofile: Option<CpuProfileFile>,
    passes: WindowPasses,
    pub(super) observers: WriterObservers,
    /// Name of the worker, if it has one.
    name: Option<WorkerName>,
    /// Contents of the files; without those of the trace, which its segments count.
    totals: RecordingTotals,
}

impl RecordingWriter {
    /// Creates the writer of a recording that writes to `files`.
    pub(crate) fn new(
        link: Arc<RecordingLink>,
        config: &Config,
        source: Source,
        files: OutputFiles,
        idle: Option<IdleTimes>,
        observers: WriterObservers,
    ) -> Self {
        let OutputFiles { trace, cpuprofile, start_us } = files;
        Self {
            link,
            pace: Pace::of(config, source),
            trace: trace.map(|trace| StreamedTrace::new(trace, config.max_nodes, start_us)),
            cpuprofile,
            passes: WindowPasses::new(config, start_us, idle),
            observers,
            name: None,
            totals: RecordingTotals::default(),
        }
    }

    /// Begins on the writer thread.
    pub(crate) fn open(&mut self) {
        if self.trace.is_some() {
            self.observers.open();
        }
    }

    /// Writes the files that observers have of their own. `is_last` tells that there is no later time.
    pub(crate) fn write_files(&mut self, is_last: bool, events: &mut Events) {
        self.observers.write_files(is_last, events);
    }

    /// Writes a window. `events` is a buffer.
    pub(crate) fn write(&mut self, taken: TakenWindow, events: &mut Events) {
        let TakenWindow { window, pause, circumstances } = taken;
        let mut window = self.read(window, circumstances.was_waiting);
        let cpu = self.link.thread.measured.times();
        self.observers.before_passes(&mut window);
        if self.passes.run(&mut window, &circumstances, &cpu) {
            self.link.requests.restart.set(true);
        }
        self.observers.after_passes(&mut window);
        self.keep_file(false);
        self.resume(events);
        self.begin_segment(&window, events);
        self.rename_by_frames(&window, events);
        let (observers, trace) = self.observed(events);
        observers.before_window(&window, trace);
        let profile_nodes = self.cpuprofile.as_mut().map(|file| file.add(&window));
        let flush = Flush {
            pause_us: Some(u64::try_from(pause.as_micros()).unwrap_or(u64::MAX)),
            restarts: self.passes.restarts,
            compared: window.compared,
            cpu,
            ..Flush::default()
        };
        let samples = window.samples.len() as u64;
        self.totals.dropped_samples += window.lost_samples;
        if !self.write_into_trace(&window, flush, events) {
            self.totals.dropped_samples += samples;
        } else if self.trace.is_none() {
            self.totals.samples += samples;
            self.totals.nodes += profile_nodes.unwrap_or_default() as u64;
        }
    }

    /// Writes a window into the trace, if there is one. Returns whether the files are intact.
    fn write_into_trace(&mut self, window: &Window, flush: Flush, events: &mut Events) -> bool {
        let Some(trace) = &mut self.trace else { return !self.link.has_failed.get() };
        let placed = if window.samples.is_empty() {
            PlacedWindow::default()
        } else {
            trace.tree.place(window)
        };
        let written = WrittenWindow { window, placed: &placed };
        let found = self.observers.window(&written, flush.cpu, trace.segments.thread_trace());
        let flush = Flush { collections: found.collection_totals, ..flush };
        let (mut profile_bytes, mut side_bytes) = (0, 0);
        let is_written = self.append(events, |trace, events| {
            trace.window(events, window, &placed, flush);
            profile_bytes = events.lasting_bytes();
            found.add_to(events);
            side_bytes = events.lasting_bytes() - profile_bytes;
        });
        self.observers.account(profile_bytes, side_bytes);
        let samples = window.samples.len() as u64;
        let Some(trace) = &mut self.trace else { return is_written };
        if is_written {
            self.observers.wrote();
            trace.written.written(window.end_us);
            let nodes = placed.new_nodes.len() as u64;
            trace.segments.contents.add(SegmentContents { samples, nodes });
        } else {
            trace.written.lost(window.end_us, samples, flush.cpu);
            trace.tree.take_back(&placed);
        }
        is_written
    }

    /// Writes the trace again if it was removed. `is_last` tells that there is no later chance.
    fn keep_file(&mut self, is_last: bool) {
        match self.trace.as_mut().map(|trace| trace.segments.keep_file(is_last)) {
            Some(Ok(Some(start_us))) => self.begin_file(start_us),
            Some(Err(error)) => note_failure(&self.link, &error),
            _ => {}
        }
    }

    /// Lets a file of the trace that starts now have all itself.
    fn begin_file(&mut self, start_us: i64) {
        self.trace.iter_mut().for_each(|trace| trace.begin_file(start_us));
        self.observers.begin_file();
    }

    /// Tells the trace which windows it lacks, if there are any and the trace can be written again.
    fn resume(&mut self, events: &mut Events) {
        let Some(trace) = &self.trace else { return };
        let Some((gap, cpu)) = trace.written.missing else { return };
        let root = trace.tree.root();
        if self.append(events, |trace, events| trace.gap(events, root, gap, cpu)) {
            self.trace.iter_mut().for_each(|trace| trace.written.written(gap.to_us));
        }
    }

    /// Writes what waits for the writer thread beside windows.
    pub(crate) fn write_waiting(&mut self, events: &mut Events) {
        let (observers, trace) = self.observed(events);
        observers.write_waiting(trace);
    }

    /// Extends the trace to now, for a thread that has waited since its last window.
    pub(crate) fn extend(&mut self, events: &mut Events) {
        if self.link.has_failed.get() {
            return;
        }
        self.keep_file(false);
        self.resume(events);
        self.write_waiting(events);
        let Some(trace) = &mut self.trace else { return };
        let cpu = self.link.thread.measured.times();
        let flush = Flush { restarts: self.passes.restarts, cpu, ..Flush::default() };
        let idle_us = self.passes.next_idle_us();
        let idle = idle_us.zip(trace.tree.id_below_root(&CallFrame::state(CallFrame::IDLE)));
        let now_us = system::now_us();
        let found = self.observers.wait(idle_us, now_us, cpu, trace.segments.thread_trace());
        trace.segments.remove_older_than(now_us);
        let is_written = self.append(events, |trace, events| {
            // Stays, so that a long wait shows what happened in it.
            events.push_encoded(found.lasting.as_bytes());
            // The next write replaces the extension.
            events.begin_provisional();
            trace.extension(events, idle, now_us, flush);
            events.push_encoded(found.provisional.as_bytes());
        });
        if is_written {
            self.observers.wrote();
        }
    }

    fn read(&mut self, window: RawWindow, was_waiting: bool) -> Window {
        match window {
            RawWindow::V8(profile) => {
                let window = profile.read();
                let newest_us = window.samples.last().map(|sample| sample.time_us);
                self.link.read_profiles.push(profile, newest_us);
                if !was_waiting {
                    self.link.read_profiles.delete_elsewhere();
                }
                window
            }
            RawWindow::Walk(window) => window.read(),
            RawWindow::Inspector(json) => inspector::read(&json).unwrap_or_else(|error| {
                warn_once(&error);
                Window::default()
            }),
        }
    }

    /// Begins the next segment of the trace, if it starts with this window.
    fn begin_segment(&mut self, window: &Window, events: &mut Events) {
        if self.link.has_failed.get() {
            return;
        }
        let Some(trace) = &mut self.trace else { return };
        let Some(start_us) = trace.segments.next_start(window) else { return };
        let cpu = self.link.thread.measured.times();
        let found = self.observers.end(false, start_us, cpu, trace.segments.thread_trace());
        let collections = found.collection_totals;
        let end = TraceEnd { collections, cpu, ..TraceEnd::default() };
        match trace.segments.begin_next(events, start_us, end, |events| found.add_to(events)) {
            Ok(()) => self.begin_file(start_us),
            Err(error) => note_failure(&self.link, &error),
        }
    }

    /// Names a worker, unless it has a name of the same source or of a stronger one.
    pub(crate) fn rename(&mut self, name: &WorkerName, events: &mut Events) {
        if self.name.as_ref().is_some_and(|known| known.source >= name.source) {
            return;
        }
        let known = self.name.replace(name.clone());
        // A worker that was named by its frames mostly has the script that they show.
        if known.is_none_or(|known| known.text != name.text) {
            if let Some(file) = &mut self.cpuprofile {
                file.name_worker(&name.text);
            }
            self.append(events, |trace, events| trace.rename_worker(events, &name.text));
        }
    }

    /// Names a worker that has been busy since its first line, and so could not tell its script.
    fn rename_by_frames(&mut self, window: &Window, events: &mut Events) {
        if self.trace.is_some()
            && !self.link.thread.is_main
            && self.name.is_none()
            && let Some(name) = WorkerName::from_frames(window)
        {
            self.rename(&name, events);
        }
    }

    /// Completes the files.
    pub(crate) fn finish(&mut self, events: &mut Events) {
        self.end_files(events, false);
        self.cpuprofile = None;
    }

    /// Completes the files of a process that most likely ends now. If the process goes on, the next write
    /// replaces the end of the trace, and the `.cpuprofile` is written again.
    pub(crate) fn finish_for_now(&mut self, events: &mut Events) {
        self.end_files(events, true);
    }

    fn end_files(&mut self, events: &mut Events, is_provisional: bool) {
        let end_us = system::now_us();
        self.write_files(true, events);
        self.observers.end_files(end_us, is_provisional, events);
        self.keep_file(true);
        self.resume(events);
        self.write_waiting(events);
        self.end_trace(end_us, events, is_provisional);
        if let Some(written) = self.cpuprofile.as_mut().map(|file| file.write(end_us)) {
            match written {
                Ok(path) => self.add_file(path),
                Err(error) => {
                    note_failure(&self.link, &error);
                    if let Error::OtherPlace { place, .. } = error {
                        self.add_file(place);
                    } else if self.trace.is_none() {
                        let dropped_samples = self.totals.samples + self.totals.dropped_samples;
                        self.totals =
                            RecordingTotals { dropped_samples, ..RecordingTotals::default() };
                    }
                }
            }
        }
    }

    fn end_trace(&mut self, end_us: i64, events: &mut Events, is_provisional: bool) {
        let Some(trace) = &self.trace else { return };
        let cpu = self.link.thread.measured.times();
        let found = self.observers.end(true, end_us, cpu, trace.segments.thread_trace());
        let (mut collections, ending) = (found.collection_totals, found.ending.clone());
        let restarts = self.passes.restarts;
        self.append(events, |trace, events| {
            found.add_to(events);
            if is_provisional {
                // The totals are told once, and stay.
                if let collections @ Some(_) = collections.take() {
                    let flush = Flush { restarts, cpu, collections, ..Flush::default() };
                    trace.extension(events, None, end_us, flush);
                }
                events.begin_provisional();
            }
            trace.close(events, end_us, Some(TraceEnd { collections, cpu, ending }));
        });
    }

    /// Adds a file to the result, unless the file is there from an earlier write.
    fn add_file(&mut self, path: PathBuf) {
        if !self.totals.files.contains(&path) {
            self.totals.files.push(path);
        }
    }

    /// Returns the contents of the files so far.
    pub(crate) fn totals(&self) -> RecordingTotals {
        let mut totals = self.totals.clone();
        if let Some(trace) = &self.trace {
            totals.files.splice(0..0, trace.segments.paths());
            let SegmentContents { samples, nodes } = trace.segments.kept_contents();
            (totals.samples, totals.nodes) = (samples, nodes);
        }
        self.observers.add_files_to(&mut totals);
        totals
    }

    /// Returns the segments of the trace.
    pub(crate) fn into_segments(self) -> Vec<CompleteSegment> {
        self.trace.map(|trace| trace.segments.into_complete()).unwrap_or_default()
    }

    /// Appends events to the trace, if there is one. Returns whether the files are intact.
    pub(super) fn append(
        &mut self,
        events: &mut Events,
        encode: impl FnOnce(&mut ThreadTrace, &mut Events),
    ) -> bool {
        self.observed(events).1.append(encode)
    }

    /// Returns the observers, and the trace to which they append events.
    fn observed<'a>(
        &'a mut self,
        events: &'a mut Events,
    ) -> (&'a mut WriterObservers, Appender<'a>) {
        let appender = Appender {
            link: &self.link,
            trace: self.trace.as_mut().map(|trace| &mut trace.segments),
            events,
            dropped_events: &mut self.totals.dropped_events,
        };
        (&mut self.observers, appender)
    }
}
