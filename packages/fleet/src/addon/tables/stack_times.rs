//! The stacks of a run, and their work in each second of each thread.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::output::column::{IntLists, LakeColumn, long};
use super::output::lake_file::{LakeFile, MAX_ROWS, TableError, WholeTable};
use super::output::schema::{STACK_TIMES, STACKS};
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_core::base::numbering::FxIndexSet;
use cpu_prof_session::model::Thread;
use cpu_prof_session::model::thread_profile::ThreadProfile;
use cpu_prof_tools::analysis::frame_index::FrameIndex;
use cpu_prof_tools::analysis::path_tree::{KnownPaths, PathTree};
use cpu_prof_tools::analysis::samples::{SamplePart, each_part};

/// Length of a bucket, microseconds.
const SECOND_US: i64 = 1_000_000;
/// A longer part of a sample counts whole for the second in which the part starts: a damaged file can have a
/// sample of any length.
const MAX_SPLIT_US: i64 = 60 * SECOND_US;
/// The most numbers in the lists of a row group.
const MAX_FRAMES: usize = 500_000;

/// The stacks of a run, and their times, which are written as they come.
pub(super) struct StackTimes<'a> {
    index: &'a FrameIndex,
    paths: PathTree<u32>,
    /// Paths that are stacks with time: the indices are the ids of the stacks.
    stacks: FxIndexSet<u32>,
    run_id: &'a str,
    thread: i32,
    /// Start of the current second, microseconds.
    bucket_us: i64,
    /// What the last sample was, with its time.
    last: Option<(StackLine, StackTime)>,
    /// Times in the current second.
    times: FxHashMap<StackLine, StackTime>,
    rows: StackTimeRows,
    file: LakeFile,
}

/// A stack and the line that its leaf had reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct StackLine {
    stack: u32,
    /// Line from 1; 0 for an unknown one.
    line: u32,
}

/// The work of a stack.
#[derive(Debug, Clone, Copy, Default)]
struct StackTime {
    self_us: u64,
    samples: u64,
}

/// Rows that are not written yet.
#[derive(Default)]
struct StackTimeRows {
    threads: Vec<i32>,
    buckets_us: Vec<i64>,
    stacks: Vec<i32>,
    lines: Vec<Option<i32>>,
    self_us: Vec<i64>,
    samples: Vec<i32>,
}

/// Writes stacks, and takes them out of the lists.
fn write_stacks(
    file: &mut LakeFile,
    run_id: &str,
    numbers: &mut Vec<i32>,
    lists: &mut IntLists,
) -> Result<(), TableError> {
    let count = numbers.len();
    let columns = [
        LakeColumn::SameText(Some(run_id.to_owned())),
        LakeColumn::Ints(std::mem::take(numbers)),
        LakeColumn::Lists(std::mem::take(lists)),
    ];
    file.write(count, columns)
}

impl StackTime {
    fn add(&mut self, other: Self) {
        self.self_us = self.self_us.saturating_add(other.self_us);
        self.samples = self.samples.saturating_add(other.samples);
    }
}

impl<'a> StackTimes<'a> {
    /// Begins the table of times in a folder.
    pub(super) fn create(
        folder: &Path,
        run_id: &'a str,
        index: &'a FrameIndex,
    ) -> Result<Self, TableError> {
        Ok(Self {
            index,
            run_id,
            paths: PathTree::default(),
            stacks: FxIndexSet::default(),
            thread: 0,
            bucket_us: 0,
            last: None,
            times: FxHashMap::default(),
            rows: StackTimeRows::default(),
            file: LakeFile::create(folder, STACK_TIMES)?,
        })
    }

    /// Adds the work of a thread. `clock_us` is the first start of a recording by the same clock.
    pub(super) fn add(
        &mut self,
        number: i32,
        thread: &Thread,
        clock_us: i64,
    ) -> Result<(), TableError> {
        self.thread = number;
        for profile in &thread.profiles {
            let mut known = vec![None; profile.nodes.len()];
            if profile.samples.is_empty() {
                self.add_counts(profile, &mut known)?;
            } else {
                self.add_samples(profile, clock_us, &mut known)?;
            }
        }
        self.end_second()
    }

    /// Writes the rest of the times, and the stacks. `ids` are the ids of functions in their table, by their
    /// indices.
    pub(super) fn finish(
        mut self,
        folder: &Path,
        ids: &[Option<i32>],
    ) -> Result<[WholeTable; 2], TableError> {
        self.write_rows()?;
        let mut file = LakeFile::create(folder, STACKS)?;
        let mut lists = IntLists::default();
        let mut numbers: Vec<i32> = Vec::new();
        for (stack, path) in (0..).zip(&self.stacks) {
            let steps = std::iter::successors(self.paths.step(*path), |(above, _)| {
                above.and_then(|above| self.paths.step(above))
            });
            lists.push(steps.filter_map(|(_, function)| ids.get(function as usize).copied()?));
            numbers.push(stack);
            if numbers.len() == MAX_ROWS || lists.values() >= MAX_FRAMES {
                write_stacks(&mut file, self.run_id, &mut numbers, &mut lists)?;
            }
        }
        write_stacks(&mut file, self.run_id, &mut numbers, &mut lists)?;
        Ok([file.finish()?, self.file.finish()?])
    }

    /// Adds the samples of a recording. `known` are the paths of the profile's nodes.
    fn add_samples(
        &mut self,
        profile: &ThreadProfile,
        clock_us: i64,
        known: &mut KnownPaths,
    ) -> Result<(), TableError> {
        let mut counted = None;
        let mut result = Ok(());
        each_part(profile, |SamplePart { sample, number, from_us, to_us }| {
            if sample.off_core.is_some() || result.is_err() {
                return;
            }
            let Some(at) = self.stack_line(profile, (sample.node, sample.line), known) else {
                return;
            };
            let is_first = counted.replace(number) != Some(number);
            let span = (from_us.saturating_sub(clock_us), to_us.saturating_sub(clock_us));
            result = self.add_span(at, span, u64::from(is_first));
        });
        result
    }

    /// Adds the times of a recording that only counts samples. Nobody knows when they were.
    fn add_counts(
        &mut self,
        profile: &ThreadProfile,
        known: &mut KnownPaths,
    ) -> Result<(), TableError> {
        self.start_second(0)?;
        for line in profile.lines.iter().filter(|line| line.self_us > 0) {
            if let Some(at) = self.stack_line(profile, (line.node, line.position.line), known) {
                self.add_time(at, StackTime { self_us: line.self_us, samples: line.samples });
            }
        }
        Ok(())
    }

    /// Adds work from one time to another, microseconds after the run's start.
    fn add_span(
        &mut self,
        at: StackLine,
        (from_us, to_us): (i64, i64),
        mut samples: u64,
    ) -> Result<(), TableError> {
        let is_whole = to_us.saturating_sub(from_us) > MAX_SPLIT_US;
        let mut from_us = from_us;
        while from_us < to_us {
            let bucket_us = from_us.div_euclid(SECOND_US).saturating_mul(SECOND_US);
            let next_us = bucket_us.saturating_add(SECOND_US);
            let end_us = if is_whole { to_us } else { to_us.min(next_us) };
            self.start_second(bucket_us)?;
            let self_us = end_us.abs_diff(from_us);
            self.add_time(at, StackTime { self_us, samples: std::mem::take(&mut samples) });
            from_us = end_us;
        }
        Ok(())
    }

    fn add_time(&mut self, at: StackLine, time: StackTime) {
        match &mut self.last {
            // One stack mostly has several samples, one after the other.
            Some((last, sum)) if *last == at => sum.add(time),
            _ => {
                if let Some((last, sum)) = self.last.replace((at, time)) {
                    self.times.entry(last).or_default().add(sum);
                }
            }
        }
    }

    /// Ends the current second, if another one begins.
    fn start_second(&mut self, bucket_us: i64) -> Result<(), TableError> {
        if bucket_us != self.bucket_us {
            self.end_second()?;
            self.bucket_us = bucket_us;
        }
        Ok(())
    }

    /// Turns the times of the current second into rows.
    fn end_second(&mut self) -> Result<(), TableError> {
        if let Some((last, sum)) = self.last.take() {
            self.times.entry(last).or_default().add(sum);
        }
        let mut times: Vec<(StackLine, StackTime)> = self.times.drain().collect();
        times.cold_sort_by_key(|(at, _)| *at);
        for (StackLine { stack, line }, StackTime { self_us, samples }) in times {
            let rows = &mut self.rows;
            rows.threads.push(self.thread);
            rows.buckets_us.push(self.bucket_us);
            rows.stacks.push(stack as i32);
            rows.lines.push(i32::try_from(line).ok().filter(|line| *line > 0));
            rows.self_us.push(long(self_us));
            rows.samples.push(i32::try_from(samples).unwrap_or(i32::MAX));
            if rows.threads.len() == MAX_ROWS {
                self.write_rows()?;
            }
        }
        Ok(())
    }

    fn write_rows(&mut self) -> Result<(), TableError> {
        let rows = std::mem::take(&mut self.rows);
        let count = rows.threads.len();
        let columns = [
            LakeColumn::SameText(Some(self.run_id.to_owned())),
            LakeColumn::Ints(rows.threads),
            LakeColumn::Longs(rows.buckets_us),
            LakeColumn::Ints(rows.stacks),
            LakeColumn::OptionalInts(rows.lines),
            LakeColumn::Longs(rows.self_us),
            LakeColumn::Ints(rows.samples),
        ];
        self.file.write(count, columns)
    }

    /// Returns the stack and the line of a sample; none if the sample is of no function.
    fn stack_line(
        &mut self,
        profile: &ThreadProfile,
        (node, line): (u32, u32),
        known: &mut KnownPaths,
    ) -> Option<StackLine> {
        let function = self.index.function(profile.nodes.get(node as usize)?.frame)?;
        let end = |frame| self.index.function(frame).map(|function| function as u32);
        let path = self.paths.of_node(profile, node, known, end)?;
        let stack = self.stacks.insert_full(path).0 as u32;
        Some(StackLine { stack, line: self.index.line_within(function, line) })
    }
}
