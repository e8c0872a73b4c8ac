//! The trace of one recording: one file, or a chain of segments of which the oldest are removed.
//!
//! A segment is a whole trace of its own. The next segment starts at the time of its first sample,
//! and the segment before ends at that time: so no time between two segments belongs to none.

use std::collections::VecDeque;
use std::mem;
use std::path::PathBuf;

use chrono::{SecondsFormat, TimeDelta, Utc};

use super::complete_segment::{CompleteSegment, SegmentContents};
use super::held_segments::HeldSegments;
use super::live_file::LiveTrace;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::micros::micros;
use cpu_prof_core::base::settings::config::Config;
use cpu_prof_core::base::settings::name_pattern::FileNames;
use cpu_prof_core::base::settings::values::{Formats, HistoryLimits};
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::base::system;
use cpu_prof_core::base::system::cpu_times::CpuTimes;
use cpu_prof_core::format::trace::write::event_args::TraceEnd;
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::format::trace::write::thread::{ThreadInfo, ThreadTrace};
use cpu_prof_core::profile::window::Window;

/// Ending of a trace's name.
const EXTENSION: &str = Formats::TRACE_EXTENSION;

/// Segments in the history, as far as its limits allow. A part of a segment cannot be removed, so
/// more segments keep the history closer to its limit, and each costs its names and its call tree.
const SEGMENTS: u32 = 4;

/// The streamed trace of a recording.
pub(crate) struct TraceSegments {
    dir: PathBuf,
    names: FileNames,
    limits: HistoryLimits,
    /// File of the current segment. Valid after each write.
    pub(super) output: LiveTrace,
    /// Whether the file was seen to be removed.
    is_removed: bool,
    trace: ThreadTrace,
    /// Start of the current segment, microseconds.
    pub(super) start_us: i64,
    /// Contents of the current segment.
    pub(crate) contents: SegmentContents,
    /// Complete segments, the oldest first.
    complete: VecDeque<CompleteSegment>,
    /// Complete segments that a condition keeps: no limit removes these.
    held: HeldSegments,
}

impl TraceSegments {
    /// Creates the first segment with its head. `earlier` are segments of a recording that this one
    /// continues.
    pub(crate) fn create(
        config: &Config,
        names: &mut FileNames,
        info: ThreadInfo,
        start_us: i64,
        earlier: Vec<CompleteSegment>,
    ) -> Result<Self, Error> {
        let trace = ThreadTrace::new(info, start_us);
        let output = LiveTrace::create(&config.dir, EXTENSION, names, &trace.head())?;
        Ok(Self {
            dir: config.dir.clone(),
            names: names.clone(),
            limits: config.history,
            output,
            is_removed: false,
            trace,
            start_us,
            contents: SegmentContents::default(),
            complete: earlier.into(),
            held: HeldSegments::new(config.max_recordings),
        })
    }

    /// Writes the current segment again if it was removed, mostly with its folder. A removal that is
    /// under way must find the folder empty, so this waits for the second look, unless `is_last` tells
    /// that there is none. Begins the segment anew if others have cut its file off, and then returns the time from
    /// which on it has all: another file announces its nodes itself.
    pub(crate) fn keep_file(&mut self, is_last: bool) -> Result<Option<i64>, Error> {
        let was_removed = mem::replace(&mut self.is_removed, self.output.is_removed());
        if self.is_removed && (was_removed || is_last) {
            self.output.write_again(&self.dir, EXTENSION, &mut self.names)?;
            self.is_removed = false;
        }
        if !self.output.is_cut() {
            return Ok(None);
        }
        let start_us = self.trace.time.last_us();
        let trace = self.next_trace(start_us, self.trace.cpu);
        self.output.begin_anew(&trace.head())?;
        warn_once(&Error::Cut(self.output.path.clone()));
        self.trace = trace;
        self.contents = SegmentContents::default();
        self.start_us = start_us;
        Ok(Some(start_us))
    }

    /// Returns the beginning of the trace that goes on at `start_us`, with the CPU times then.
    fn next_trace(&self, start_us: i64, cpu: CpuTimes) -> ThreadTrace {
        let age = TimeDelta::microseconds(system::now_us().saturating_sub(start_us));
        let started = Utc::now().checked_sub_signed(age).unwrap_or_else(Utc::now);
        let started = started.to_rfc3339_opts(SecondsFormat::Millis, true);
        let mut trace = self.trace.clone();
        trace.begin_next(start_us, started, cpu);
        trace
    }

    /// Returns what writes the events of the current segment.
    pub(crate) fn thread_trace(&self) -> &ThreadTrace {
        &self.trace
    }

    /// Appends the events that `encode` writes into `buffer`.
    pub(crate) fn append(
        &mut self,
        buffer: &mut Events,
        encode: impl FnOnce(&mut ThreadTrace, &mut Events),
    ) -> Result<(), Error> {
        buffer.clear();
        let ThreadTrace { time, cpu, .. } = self.trace;
        let announced = self.trace.announced.len();
        encode(&mut self.trace, buffer);
        self.make_room(buffer.as_bytes().len());
        let written = self.output.append(buffer.as_bytes(), buffer.lasting_bytes());
        if written.is_err() {
            (self.trace.time, self.trace.cpu) = (time, cpu);
            self.trace.announced.truncate(announced);
        }
        written
    }

    /// Removes segments that are too old when a window comes. Returns the time at which the next
    /// segment starts, if it starts with this window.
    pub(crate) fn next_start(&mut self, window: &Window) -> Option<i64> {
        self.remove_older_than(window.end_us);
        let bytes = self.output.length;
        let is_large = |share| self.limits.max_size.is_some_and(|max| bytes >= max / share);
        let share = u64::from(SEGMENTS);
        let Some(first) = window.samples.first() else {
            // A segment without samples waits for one, so that no time is lost at its start.
            return is_large(share / 2).then(|| window.end_us.max(self.trace.time.last_us()));
        };
        let start_us = first.time_us.max(self.trace.time.last_us());
        let is_old = self
            .limits
            .keep
            .is_some_and(|keep| start_us.saturating_sub(self.start_us) >= micros(keep / SEGMENTS));
        (is_large(share) || is_old).then_some(start_us)
    }

    /// Begins the next segment, which starts at `start_us`, and completes the current one. `end` are
    /// the facts of the current segment's end, and `add_last` adds its last events. After an error the
    /// current segment goes on.
    pub(crate) fn begin_next(
        &mut self,
        buffer: &mut Events,
        start_us: i64,
        end: TraceEnd,
        add_last: impl FnOnce(&mut Events),
    ) -> Result<(), Error> {
        self.keep_file(true)?;
        let trace = self.next_trace(start_us, end.cpu);
        let head = trace.head();
        self.make_room(head.len());
        // After a failed try, the name is still that of the next segment.
        if self.output.path.ends_with(format!("{}{EXTENSION}", self.names.current())) {
            self.names.advance();
        }
        let is_full = self.limits.max_size.is_some_and(|max| self.output.length >= max);
        let next = LiveTrace::create(&self.dir, EXTENSION, &mut self.names, &head);
        let next = next.map_err(|error| match is_full {
            true => error,
            false => error.described(Error::NextFile),
        })?;
        // A disk that is full now leaves the current segment without its end.
        let _ = self.append(buffer, |trace, events| {
            add_last(events);
            trace.close(events, start_us, Some(end));
        });
        self.trace = trace;
        let complete = mem::replace(&mut self.output, next);
        let contents = mem::take(&mut self.contents);
        self.complete.extend(self.held.take(complete.finish(start_us, contents)));
        self.start_us = start_us;
        Ok(())
    }

    /// Keeps the history, and what comes until a time, microseconds.
    pub(crate) fn hold(&mut self, until_us: i64) {
        self.held.begin(until_us, mem::take(&mut self.complete));
    }

    /// Returns the segments of a recording that has ended, which a next one may remove; none if they have
    /// no limit.
    pub(crate) fn into_complete(mut self) -> Vec<CompleteSegment> {
        if !self.limits.is_limited() {
            return Vec::new();
        }
        let end_us = self.trace.time.last_us();
        self.complete.push_back(self.output.finish(end_us, self.contents));
        self.complete.into()
    }

    /// Returns the paths of the files that still exist, the oldest first.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let complete = self.all_complete().filter(|segment| segment.file.exists());
        let mut paths: Vec<PathBuf> = complete.map(|segment| segment.file.path.clone()).collect();
        paths.push(self.output.path.clone());
        paths
    }

    /// Returns the contents of the segments that are kept.
    pub(crate) fn kept_contents(&self) -> SegmentContents {
        let mut contents = self.contents;
        self.all_complete().for_each(|segment| contents.add(segment.contents));
        contents
    }

    /// Returns the complete segments, the oldest first.
    fn all_complete(&self) -> impl Iterator<Item = &CompleteSegment> {
        self.held.iter().chain(&self.complete)
    }

    /// Removes the segments that ended too long before `now_us`.
    pub(crate) fn remove_older_than(&mut self, now_us: i64) {
        if let Some(keep) = self.limits.keep {
            let oldest_us = now_us.saturating_sub(micros(keep));
            self.remove_while(|_, segment| segment.end_us < oldest_us);
        }
    }

    /// Removes the oldest segments until this many bytes more are within the limit.
    fn make_room(&mut self, bytes: usize) {
        let Some(max_size) = self.limits.max_size else { return };
        self.remove_while(|this, _| {
            let complete: u64 = this.complete.iter().map(|segment| segment.bytes).sum();
            complete + this.output.length + bytes as u64 > max_size
        });
    }

    /// Removes the oldest segment as long as the condition holds for it.
    fn remove_while(&mut self, condition: impl Fn(&Self, &CompleteSegment) -> bool) {
        while let Some(oldest) = self.complete.front()
            && condition(self, oldest)
        {
            if let Err(error) = oldest.file.remove() {
                warn_once(&error);
            }
            self.complete.pop_front();
        }
    }
}

#[cfg(test)]
mod tests;
