//! Writes the windows of one recording to its files. Runs on the writer thread.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::native_threads::{LanePlan, NativeLanes};
use super::side_events::SideEvents;
use super::written_time::WrittenTime;
use crate::record::files::complete_segment::{CompleteSegment, SegmentContents};
use crate::record::files::output_files::{CpuProfileFile, OutputFiles};
use crate::record::files::segments::TraceSegments;
use crate::record::files::totals::RecordingTotals;
use crate::record::link::pending_exit::pending_exit;
use crate::record::link::recording_link::RecordingLink;
use crate::record::link::taken_window::TakenWindow;
use crate::record::window::idle::IdleTimes;
use crate::record::window::overlap;
use crate::record::window::passes::WindowPasses;
use crate::record::window::worker_name::WorkerName;
use crate::sampler::RawWindow;
use crate::sampler::inspector;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::settings::categories::Category;
use cpu_prof_core::base::settings::config::Config;
use cpu_prof_core::base::settings::values::Source;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::base::system;
use cpu_prof_core::format::trace::write::event_args::{Flush, TraceEnd};
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::format::trace::write::thread::ThreadTrace;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::window::Window;
use cpu_prof_core::profile::window::call_tree::{CallTree, PlacedWindow};

/// A recording's files and the state that is needed to fill them.
pub(crate) struct RecordingWriter {
    /// Link to the recorded thread.
    pub link: Arc<RecordingLink>,
    /// Time between two flushes.
    pub flush_interval: Duration,
    /// Time for which the old and the next profile both run in a rotation.
    pub overlap: Duration,
    pub(super) trace: Option<TraceSegments>,
    /// None once it is complete.
    cpuprofile: Option<CpuProfileFile>,
    /// Call tree of the trace.
    tree: CallTree,
    /// Up to when the trace is written.
    written: WrittenTime,
    passes: WindowPasses,
    /// Number of times that V8's sampling thread was restarted.
    restarts: u32,
    side_events: SideEvents,
    /// Traces of native threads; none if they are not wanted.
    pub(super) lanes: Option<NativeLanes>,
    /// Whether the trace tells how the process ends.
    tells_ending: bool,
    /// Name of the worker, if it has one.
    name: Option<WorkerName>,
    /// Contents of the files; without those of the trace, which its segments count.
    pub(super) totals: RecordingTotals,
}

impl RecordingWriter {
    /// Creates the writer of a recording that writes to `files`.
    pub(crate) fn new(
        link: Arc<RecordingLink>,
        config: &Config,
        source: Source,
        files: OutputFiles,
        lanes: Option<LanePlan>,
        idle: Option<IdleTimes>,
    ) -> Self {
        let OutputFiles { trace, cpuprofile, start_us } = files;
        let tells_ending = link.is_main && config.categories.has(Category::Processes);
        Self {
            link,
            flush_interval: config.flush_interval(source),
            overlap: overlap::duration(config.interval_us),
            trace,
            cpuprofile,
            tree: CallTree::new(config.max_nodes),
            written: WrittenTime::starting_at(start_us),
            restarts: 0,
            side_events: SideEvents::new(config, idle.is_some()),
            passes: WindowPasses::new(config, start_us, idle),
            lanes: lanes.filter(|_| source == Source::V8).map(NativeLanes::new),
            tells_ending,
            name: None,
            totals: RecordingTotals::default(),
        }
    }

    /// Begins on the writer thread.
    pub(crate) fn open(&mut self) {
        // Here, because a file that hangs holds the lock.
        self.link.scripts.begin_file();
        if self.trace.is_some() {
            self.side_events.open(&self.link);
            self.lanes.iter_mut().for_each(NativeLanes::begin);
        }
    }

    /// Writes what native threads did, if they are sampled. `is_last` tells that there is no later time.
    pub(crate) fn write_lanes(&mut self, is_last: bool, events: &mut Events) {
        if let Some(lanes) = &mut self.lanes {
            lanes.write(self.side_events.native.as_ref(), is_last, events);
        }
    }

    /// Writes a window. `events` is a buffer.
    pub(crate) fn write(&mut self, taken: TakenWindow, events: &mut Events) {
        let TakenWindow { window, memory, pause, circumstances } = taken;
        let mut window = self.read(window, circumstances.was_waiting);
        let cpu = self.link.thread.times();
        if self.passes.run(&mut window, &circumstances, &cpu, &self.link) {
            self.link.is_restart_requested.set(true);
            self.restarts += 1;
        }
        self.keep_file(false);
        self.resume(events);
        self.begin_segment(&window, events);
        self.rename_by_frames(&window, events);
        self.add_script_maps(&window, events);
        self.write_program_events(events);
        let placed = if window.samples.is_empty() || self.trace.is_none() {
            PlacedWindow::default()
        } else {
            self.tree.place(&window)
        };
        let profile_nodes = self.cpuprofile.as_mut().map(|file| file.add(&window));
        let side_events = self.side_events.of_window(&self.link, &window, &placed, cpu, memory);
        let collections = side_events.collections();
        let flush = Flush {
            pause_us: Some(u64::try_from(pause.as_micros()).unwrap_or(u64::MAX)),
            restarts: self.restarts,
            collections,
            cpu,
            lost: None,
        };
        let (mut profile_bytes, mut side_bytes) = (0, 0);
        let is_written = self.append(events, |trace, events| {
            trace.window(events, &window, &placed, flush);
            profile_bytes = events.lasting_bytes();
            side_events.add_to(trace, events);
            side_bytes = events.lasting_bytes() - profile_bytes;
        });
        self.side_events.account(profile_bytes, side_bytes);
        let samples = window.samples.len() as u64;
        if !is_written {
            self.totals.dropped_samples += samples;
            self.written.lost(window.end_us, samples, cpu);
            self.tree.take_back(&placed);
            return;
        }
        self.side_events.wrote(side_events.native.as_ref());
        self.written.written(window.end_us);
        if let Some(trace) = &mut self.trace {
            let nodes = placed.new_nodes.len() as u64;
            trace.contents.add(SegmentContents { samples, nodes });
        } else {
            self.totals.samples += samples;
            self.totals.nodes += profile_nodes.unwrap_or_default() as u64;
        }
    }

    /// Writes the trace again if it was removed. `is_last` tells that there is no later chance.
    fn keep_file(&mut self, is_last: bool) {
        match self.trace.as_mut().map(|trace| trace.keep_file(is_last)) {
            Some(Ok(Some(start_us))) => self.begin_file(start_us),
            Some(Err(error)) => self.fail(&error),
            _ => {}
        }
    }

    /// Lets a file of the trace that starts now announce its nodes and its source maps itself.
    fn begin_file(&mut self, start_us: i64) {
        self.tree.clear();
        self.link.scripts.begin_file();
        self.written = WrittenTime::starting_at(start_us);
    }

    /// Tells the trace which windows it lacks, if there are any and the trace can be written again.
    fn resume(&mut self, events: &mut Events) {
        let Some((gap, cpu)) = self.written.missing else { return };
        let root = self.tree.root();
        if self.append(events, |trace, events| trace.gap(events, root, gap, cpu)) {
            self.written.written(gap.to_us);
        }
    }

    /// Extends the trace to now, for a thread that has waited since its last window.
    pub(crate) fn extend(&mut self, events: &mut Events) {
        if self.link.has_failed.get() {
            return;
        }
        self.keep_file(false);
        self.resume(events);
        if !self.link.program_events.is_empty() {
            self.write_program_events(events);
        }
        let Some(trace) = &mut self.trace else { return };
        let cpu = self.link.thread.times();
        let flush = Flush { restarts: self.restarts, cpu, ..Flush::default() };
        let idle_us = self.passes.next_idle_us();
        let idle = idle_us.zip(self.tree.id_below_root(&CallFrame::state(CallFrame::IDLE)));
        let now_us = system::now_us();
        let mut side_events = self.side_events.of_wait(now_us, cpu, idle_us);
        let native = side_events.native.take();
        trace.remove_older_than(now_us);
        let is_written = self.append(events, |trace, events| {
            // Stays, so that a long wait shows when there was native work.
            native.iter().for_each(|native| trace.native_threads(events, native));
            // The next write replaces the extension.
            events.begin_provisional();
            trace.extension(events, idle, now_us, flush);
            side_events.add_to(trace, events);
        });
        if is_written {
            self.side_events.wrote(native.as_ref());
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
        let Some(start_us) = trace.next_start(window) else { return };
        let side_events = self.side_events.at_end(&self.link, start_us);
        let end = TraceEnd {
            collections: side_events.collections(),
            cpu: self.link.thread.times(),
            ..TraceEnd::default()
        };
        let add_last = |trace: &ThreadTrace, events: &mut Events| side_events.add_to(trace, events);
        match trace.begin_next(events, start_us, end, add_last) {
            Ok(()) => self.begin_file(start_us),
            Err(error) => self.fail(&error),
        }
    }

    /// Adds the source maps of the scripts that a window samples first.
    fn add_script_maps(&mut self, window: &Window, events: &mut Events) {
        if self.trace.is_none() {
            return;
        }
        let maps = self.link.scripts.clone();
        maps.each_needed(window, |script_id, script, map| {
            self.append(events, |trace, events| trace.source_map(events, script_id, script, map))
        });
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
            && !self.link.is_main
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
        self.write_lanes(true, events);
        self.lanes.iter_mut().for_each(|lanes| lanes.end(end_us, is_provisional, events));
        self.keep_file(true);
        self.resume(events);
        self.write_program_events(events);
        if self.trace.is_some() {
            let side_events = self.side_events.at_end(&self.link, end_us);
            let ending = if self.tells_ending { pending_exit() } else { <_>::default() };
            let (mut collections, cpu) = (side_events.collections(), self.link.thread.times());
            let restarts = self.restarts;
            self.append(events, |trace, events| {
                side_events.add_to(trace, events);
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
        if let Some(written) = self.cpuprofile.as_mut().map(|file| file.write(end_us)) {
            match written {
                Ok(path) => self.add_file(path),
                Err(error) => {
                    self.fail(&error);
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
            totals.files.splice(0..0, trace.paths());
            let SegmentContents { samples, nodes } = trace.kept_contents();
            (totals.samples, totals.nodes) = (samples, nodes);
        }
        self.lanes.iter().for_each(|lanes| lanes.add_to(&mut totals));
        totals
    }

    /// Returns the segments of the trace.
    pub(crate) fn into_segments(self) -> Vec<CompleteSegment> {
        self.trace.map(TraceSegments::into_complete).unwrap_or_default()
    }

    /// Appends events to the trace, if there is one. Returns whether the files are intact.
    pub(super) fn append(
        &mut self,
        events: &mut Events,
        encode: impl FnOnce(&mut ThreadTrace, &mut Events),
    ) -> bool {
        if self.link.has_failed.get() {
            return false;
        }
        let Some(trace) = &mut self.trace else { return true };
        let result = trace.append(events, encode);
        if let Err(error) = &result {
            self.fail(error);
        }
        result.is_ok()
    }

    /// Tells the user about an error, and ends the recording if the error lasts.
    fn fail(&self, error: &Error) {
        if !error.can_pass() {
            self.link.has_failed.set(true);
        }
        warn_once(error);
    }
}
