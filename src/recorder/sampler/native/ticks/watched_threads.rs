//! The native threads of this process: which of them work, and the ticks that they had.
//!
//! A look at all threads costs 1.6 µs a thread. There is none where the process has used no CPU time since.

use std::mem;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use super::slot::{TickSlot, on_tick};
use crate::sampler::native::copy_limit::CopyLimit;
use crate::sampler::native::unwinder::{FollowedStack, StackEnd, Unwinder};
use crate::sampler::v8::StackRing;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::base::system;
use cpu_prof_core::base::system::stopped_thread::{Bell, data_ranges};
use cpu_prof_core::base::system::thread_timer::{self, ThreadTimer};

/// Time between two looks while the process works, and the most while it does not.
const BUSY_PAUSE: Duration = Duration::from_millis(20);
const MAX_PAUSE: Duration = Duration::from_millis(160);
/// Time between two looks, at least, for each unit that a look took.
const PAUSE_FACTOR: u32 = 200;
/// CPU time of the process that makes a look worth while, microseconds.
const MIN_PROCESS_US: i64 = 1000;
/// CPU time of a thread from which it gets ticks, microseconds.
const MIN_THREAD_US: i64 = 2000;
/// CPU time within which the slowest kernel, of 100 Hz, ticks twice, microseconds.
const TWO_TICKS_US: i64 = 20_000;
/// The most that is copied of a stack, bytes.
const MAX_COPY: usize = 64 << 10;
/// How often the name of a thread is read.
const NAME_READS: u8 = 3;
/// The most ticks of a thread that wait for the writer thread: 80 s of work with a kernel of 250 Hz.
const MAX_WAITING: usize = 20_000;

/// A moment of a native thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tick {
    /// Time: CLOCK_MONOTONIC, microseconds.
    pub time_us: i64,
    /// CPU time of the thread, microseconds.
    pub cpu_us: i64,
    /// Numbers of the functions, the innermost first.
    pub functions: Vec<u32>,
    pub end: StackEnd,
}

/// What a native thread did.
#[derive(Debug)]
pub(crate) struct ThreadTicks {
    /// The system's id of the thread.
    pub thread: u32,
    /// Name of the thread by the system.
    pub name: String,
    /// CPU time from which the thread is counted, microseconds.
    pub since_cpu_us: i64,
    /// The ticks that were not taken before.
    pub ticks: Vec<Tick>,
    /// Time of the last look, and CPU time of the thread then, microseconds.
    pub seen_us: i64,
    pub seen_cpu_us: i64,
    /// Whether the thread has ended, so that this is its last.
    pub has_ended: bool,
}

/// The native threads of this process. Slots of threads that live stay taken when nobody wants the ticks.
#[derive(Default)]
pub(crate) struct WatchedThreads {
    threads: FxHashMap<u32, WatchedThread>,
    /// None while nobody wants the ticks.
    plan: Option<TickPlan>,
}

/// How native threads are watched.
struct TickPlan {
    interval_us: u32,
    bell: Bell,
    /// Returns the ids of the threads that are sampled otherwise.
    others: fn() -> Vec<u32>,
    /// CPU time of the process at the last look, microseconds; none before the first.
    process_us: Option<i64>,
    pause: Duration,
    due: Instant,
    /// When the list of the memory may be read again.
    memory_due: Instant,
}

/// A thread.
struct WatchedThread {
    /// Number of the slot; none if the thread has not worked, or if there is none.
    slot: Option<usize>,
    /// None if the thread has not worked, or if no timer could be started.
    timer: Option<ThreadTimer>,
    /// Whether the thread is one of the program; none before it has worked.
    is_program: Option<bool>,
    /// Whether a timer was asked for, which is done once.
    was_armed: bool,
    /// Count of the ticks that were handled, and CPU time when the count was seen to change, microseconds.
    handled: u32,
    handled_cpu_us: i64,
    limit: CopyLimit,
    since_cpu_us: i64,
    name: String,
    name_reads: u8,
    seen_us: i64,
    seen_cpu_us: i64,
    ticks: Vec<Tick>,
    has_ended: bool,
}

impl WatchedThread {
    fn new(since_cpu_us: i64) -> Self {
        Self {
            slot: None,
            timer: None,
            is_program: None,
            was_armed: false,
            handled: 0,
            handled_cpu_us: since_cpu_us,
            limit: CopyLimit::up_to(MAX_COPY),
            since_cpu_us,
            name: String::new(),
            name_reads: 0,
            seen_us: system::now_us(),
            seen_cpu_us: since_cpu_us,
            ticks: Vec::new(),
            has_ended: false,
        }
    }

    /// Returns the name of the thread. A thread works before it takes its name.
    fn read_name(&mut self, thread: u32) -> &str {
        if self.name_reads < NAME_READS
            && let Some(name) = system::thread_name(thread)
        {
            self.name = name;
            self.name_reads += 1;
        }
        &self.name
    }

    fn slot(&self) -> Option<&'static TickSlot> {
        self.slot.and_then(TickSlot::of)
    }

    fn ring(&self) -> Option<&'static StackRing> {
        self.slot().and_then(TickSlot::ring)
    }

    /// Starts the thread's timer, unless the thread blocks the signal now, as each does while it begins.
    fn arm(&mut self, thread: u32, interval_us: u32, bell: Bell) {
        if self.was_armed || thread_timer::is_blocked(thread) != Some(false) {
            return;
        }
        self.was_armed = true;
        self.slot = self.slot.or_else(|| TickSlot::take(thread, bell));
        let Some(slot) = self.slot else { return };
        match ThreadTimer::start(thread, interval_us, slot) {
            Ok(timer) => {
                self.timer = Some(timer);
                self.handled_cpu_us = self.seen_cpu_us;
            }
            // The thread may have ended.
            Err(_) if system::thread_cpu_us(thread).is_none() => {}
            Err(error) => warn_once(&Error::NativeThreads(format!(
                "the timer of one could not be started: {error}"
            ))),
        }
    }

    /// Ends the timer. Another one can be started.
    fn forget_timer(&mut self) {
        (self.timer, self.is_program, self.was_armed) = (None, None, false);
    }

    /// Ends the timer of a thread that has blocked the signal since its timer was started: the thread may take the
    /// ticks for signals of its own.
    fn disarm_if_blocked(&mut self, thread: u32, interval_us: u32) {
        let Some(slot) = self.slot().filter(|_| self.timer.is_some()) else { return };
        let handled = slot.handled();
        if handled != self.handled {
            (self.handled, self.handled_cpu_us) = (handled, self.seen_cpu_us);
        } else if self.seen_cpu_us - self.handled_cpu_us
            >= TWO_TICKS_US + 2 * i64::from(interval_us)
            && thread_timer::is_blocked(thread) == Some(true)
        {
            self.timer = None;
        }
    }

    /// Follows the stacks that were copied.
    fn read(&mut self, unwinder: &mut Unwinder, buffer: &mut Vec<u64>) {
        let Some(ring) = self.ring() else { return };
        let Self { limit, ticks, .. } = self;
        ring.take(buffer, |copy| {
            let followed = unwinder.follow(&copy, &ring.stack(), &ring.code, false);
            let FollowedStack { functions, end, copied } = followed;
            if let Some(bytes) = limit.next(ring.limit(), &copied) {
                ring.set_limit(bytes);
            }
            if ticks.len() < MAX_WAITING {
                // A thread has no time before and after a sample: its ticks have their CPU time there.
                ticks.push(Tick { time_us: copy.from_us, cpu_us: copy.to_us, functions, end });
            }
        });
    }
}

impl WatchedThreads {
    /// Lets the threads be watched. Returns whether they are: not if they were already. `others` returns the ids
    /// of the threads that are sampled otherwise.
    pub(crate) fn start(
        &mut self,
        interval_us: u32,
        bell: Bell,
        others: fn() -> Vec<u32>,
    ) -> Result<bool, Error> {
        if self.plan.is_some() {
            return Ok(false);
        }
        thread_timer::set_handler(on_tick)
            .map_err(|error| Error::NativeThreads(format!("they need a signal: {error}")))?;
        thread_timer::check().map_err(|error| {
            let advice = "a sandbox can forbid timer_create";
            Error::NativeThreads(format!("their timers do not work: {error} ({advice})"))
        })?;
        let (pause, due) = (BUSY_PAUSE, Instant::now());
        self.plan = Some(TickPlan {
            interval_us,
            bell,
            others,
            process_us: None,
            pause,
            due,
            memory_due: due,
        });
        self.look();
        Ok(true)
    }

    /// Lets the threads alone again.
    pub(crate) fn stop(&mut self) {
        self.plan = None;
        for thread in self.threads.values_mut() {
            thread.forget_timer();
            thread.ticks.clear();
        }
    }

    /// Returns the time until the next look; none if the threads are not watched.
    pub(crate) fn pause(&self) -> Option<Duration> {
        let plan = self.plan.as_ref()?;
        Some(plan.due.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)))
    }

    /// Looks at the threads, if it is time, and if the process has worked since the last look.
    pub(crate) fn look_when_due(&mut self) {
        let now = Instant::now();
        let Some(plan) = self.plan.as_mut().filter(|plan| plan.due <= now) else { return };
        let process_us = system::process_cpu_us().unwrap_or(0);
        if plan.process_us.is_some_and(|last_us| process_us - last_us < MIN_PROCESS_US) {
            plan.pause = (2 * plan.pause).min(MAX_PAUSE);
            plan.due = now + plan.pause;
            return;
        }
        plan.pause = BUSY_PAUSE;
        self.look();
    }

    /// Follows the stacks of each thread whose ring fills up, and of those that have ended.
    pub(crate) fn read_filling(&mut self, unwinder: &mut Unwinder, buffer: &mut Vec<u64>) {
        for thread in self.threads.values_mut() {
            let is_filling = thread.ring().is_some_and(StackRing::is_filling);
            if is_filling || thread.has_ended {
                thread.read(unwinder, buffer);
            }
            if thread.has_ended
                && let Some(slot) = thread.slot()
            {
                slot.release();
                thread.slot = None;
            }
        }
        if self.plan.is_none() {
            self.threads.retain(|_, thread| !thread.has_ended);
        }
    }

    /// Looks at the threads: at their clocks, and at which of them are there.
    fn look(&mut self) {
        let Self { threads, plan } = self;
        let Some(plan) = plan else { return };
        let started = Instant::now();
        let is_first = plan.process_us.is_none();
        plan.process_us = Some(system::process_cpu_us().unwrap_or(0));
        let Some(ids) = system::thread_ids() else { return };
        let has_handler = thread_timer::is_handler_set();
        if !has_handler {
            warn_once(&Error::NativeThreads("the program uses their signal".into()));
        }
        let others: FxHashSet<u32> = (plan.others)().into_iter().collect();
        let now_us = system::now_us();
        // The kernel's list can miss a thread, whose clock tells that it is there.
        let known = threads.keys().copied();
        let all: FxHashSet<u32> = known.chain(ids).filter(|id| *id != std::process::id()).collect();
        for id in all {
            let Some(cpu_us) = system::thread_cpu_us(id) else {
                if let Some(thread) = threads.get_mut(&id) {
                    (thread.timer, thread.has_ended) = (None, true);
                }
                continue;
            };
            if others.contains(&id) {
                // Its timer ends. The slot stays, because a tick can be under way.
                if let Some(thread) = threads.get_mut(&id) {
                    thread.forget_timer();
                    thread.ticks.clear();
                    (thread.seen_cpu_us, thread.since_cpu_us) = (cpu_us, cpu_us);
                }
                continue;
            }
            let new = || WatchedThread::new(if is_first { cpu_us } else { 0 });
            let thread = threads.entry(id).or_insert_with(new);
            if is_first {
                // A thread that was watched before has kept its slot.
                let slot = thread.slot;
                *thread = WatchedThread { slot, ..WatchedThread::new(cpu_us) };
            } else if cpu_us < thread.seen_cpu_us {
                // Another thread has got the id.
                thread.slot().into_iter().for_each(TickSlot::release);
                *thread = WatchedThread::new(0);
            }
            let has_worked = cpu_us > thread.seen_cpu_us;
            (thread.seen_us, thread.seen_cpu_us) = (now_us, cpu_us);
            if !has_handler {
                thread.timer = None;
            } else if has_worked && cpu_us - thread.since_cpu_us >= MIN_THREAD_US {
                thread.disarm_if_blocked(id, plan.interval_us);
                if thread.is_program.is_none() {
                    thread.is_program = Some(is_program(thread.read_name(id)));
                }
                if thread.is_program == Some(true) {
                    thread.arm(id, plan.interval_us, plan.bell);
                }
            }
        }
        if plan.memory_due <= started && find_stacks(threads) {
            plan.memory_due = Instant::now() + PAUSE_FACTOR * started.elapsed();
        }
        plan.due = started + plan.pause.max(PAUSE_FACTOR * started.elapsed());
    }

    /// Takes what the threads did since the last call. Ended threads are told once.
    pub(crate) fn take(
        &mut self,
        unwinder: &mut Unwinder,
        buffer: &mut Vec<u64>,
    ) -> Vec<ThreadTicks> {
        self.look();
        self.threads.values_mut().for_each(|thread| thread.read(unwinder, buffer));
        self.read_filling(unwinder, buffer);
        let worked = self.threads.iter_mut().filter(|(_, thread)| thread.is_program == Some(true));
        let list = worked.map(|(id, thread)| ThreadTicks {
            thread: *id,
            name: thread.read_name(*id).to_owned(),
            since_cpu_us: thread.since_cpu_us,
            ticks: mem::take(&mut thread.ticks),
            seen_us: thread.seen_us,
            seen_cpu_us: thread.seen_cpu_us,
            has_ended: thread.has_ended,
        });
        let list = list.collect();
        self.threads.retain(|_, thread| !thread.has_ended);
        list
    }
}

/// Finds the stacks of the threads that had their first tick. Returns whether the list of the memory was read, which
/// takes milliseconds in a process with a large heap.
fn find_stacks(threads: &FxHashMap<u32, WatchedThread>) -> bool {
    let mut wanted =
        threads.values().filter_map(WatchedThread::slot).filter(|slot| slot.needs_stack());
    let Some(first) = wanted.next() else { return false };
    let memory = data_ranges();
    first.find_stack(&memory);
    wanted.for_each(|slot| slot.find_stack(&memory));
    true
}

/// Returns whether a thread is one of the program by its name: neither of this addon, nor V8's sampling thread.
fn is_program(name: &str) -> bool {
    !name.starts_with("cpu-prof") && !name.starts_with("v8:Prof")
}
