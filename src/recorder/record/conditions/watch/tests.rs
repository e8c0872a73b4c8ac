//! Conditions over invented programs: each is met by what it is about, and by nothing else.

use std::cell::Cell;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use cpu_prof_core::base::settings::start::Share;

const MS: i64 = 1000;

/// A program at a moment.
#[derive(Default)]
struct Program {
    now_us: Cell<i64>,
    waited_us: Cell<i64>,
    turns: Cell<u64>,
    cpu_us: Cell<i64>,
    resident: Cell<u64>,
}

impl Program {
    /// Returns a program whose event loop has begun.
    fn new() -> Self {
        let program = Self::default();
        program.turns.set(1);
        program
    }

    fn busy(&self, us: i64) {
        self.now_us.set(self.now_us.get() + us);
        self.cpu_us.set(self.cpu_us.get() + us);
    }

    fn waits(&self, us: i64) {
        self.now_us.set(self.now_us.get() + us);
        self.waited_us.set(self.waited_us.get() + us);
    }

    fn turns(&self) {
        self.turns.set(self.turns.get() + 1);
    }
}

impl Counters for Program {
    fn event_loop(&self) -> Option<LoopProgress> {
        let turns = self.turns.get();
        Some(LoopProgress { waited_us: self.waited_us.get(), turns, has_begun: turns > 0 })
    }

    fn cpu_us(&self) -> Option<i64> {
        Some(self.cpu_us.get())
    }

    fn resident_bytes(&self) -> Option<u64> {
        Some(self.resident.get())
    }
}

fn watch(trigger: Trigger) -> Watch {
    Watch::new(&[Condition { text: "c".into(), trigger }])
}

fn stall(ms: u64) -> Watch {
    watch(Trigger::Stall(Duration::from_millis(ms)))
}

fn share(percent: u32, s: u64) -> Share {
    Share { thousandths: 10 * percent, period: Duration::from_secs(s) }
}

/// Runs `step` of the program until a time, with a look after each that is due. Returns the first
/// observation and its time.
fn run(
    watch: &mut Watch,
    program: &Program,
    until_us: i64,
    mut step: impl FnMut(&Program),
) -> Option<(String, i64)> {
    while program.now_us.get() < until_us {
        step(program);
        let now_us = program.now_us.get();
        if watch.due_us().is_some_and(|due_us| due_us <= now_us)
            && let Some(Observation { observed, .. }) = watch.look(now_us, program)
        {
            return Some((observed, now_us));
        }
    }
    None
}

#[test]
fn a_stall_is_met_while_it_lasts() {
    let (mut watch, program) = (stall(500), Program::new());
    let turn = |program: &Program| {
        program.turns();
        program.busy(3 * MS);
    };
    assert_eq!(run(&mut watch, &program, 2_000 * MS, turn), None);
    let began_us = program.now_us.get();
    let (observed, at_us) =
        run(&mut watch, &program, began_us + 700 * MS, |program| program.busy(MS)).unwrap();
    assert!(at_us - began_us <= 560 * MS, "{at_us}");
    assert_eq!(observed, "501 ms");
}

#[test]
fn a_blocked_call_is_a_stall() {
    let (mut watch, program) = (stall(500), Program::new());
    let blocked = |program: &Program| program.now_us.set(program.now_us.get() + MS);
    assert!(run(&mut watch, &program, 600 * MS, blocked).is_some());
}

#[test]
fn a_loop_that_waits_or_turns_does_not_stall() {
    let (mut watch, program) = (stall(100), Program::new());
    assert_eq!(run(&mut watch, &program, 10_000 * MS, |program| program.waits(MS)), None);
    let busy = |program: &Program| {
        program.turns();
        program.busy(80 * MS);
    };
    assert_eq!(run(&mut watch, &program, 20_000 * MS, busy), None);
}

#[test]
fn the_start_of_a_program_is_no_stall() {
    let (mut watch, program) = (stall(100), Program::default());
    assert_eq!(run(&mut watch, &program, 5_000 * MS, |program| program.busy(MS)), None);
    program.turns();
    assert!(run(&mut watch, &program, 6_000 * MS, |program| program.busy(MS)).is_some());
}

#[test]
fn a_process_that_was_stopped_did_not_stall() {
    let (mut watch, program) = (stall(500), Program::new());
    let stopped = |program: &Program| {
        program.now_us.set(program.now_us.get() + 60_000 * MS);
        program.turns();
    };
    program.busy(MS);
    assert_eq!(watch.look(program.now_us.get(), &program), None);
    for _ in 0..4 {
        program.now_us.set(program.now_us.get() + 60_000 * MS);
        assert_eq!(watch.look(program.now_us.get(), &program), None);
        stopped(&program);
        assert_eq!(watch.look(program.now_us.get(), &program), None);
    }
}

#[test]
fn cpu_time_counts_over_the_whole_time() {
    let (mut watch, program) = (watch(Trigger::Cpu(share(90, 10))), Program::new());
    let (observed, at_us) =
        run(&mut watch, &program, 30_000 * MS, |program| program.busy(10 * MS)).unwrap();
    assert_eq!(observed, "100%");
    assert!((10_000 * MS..=11_100 * MS).contains(&at_us), "{at_us}");
}

#[test]
fn cpu_time_of_other_threads_counts_too() {
    let (mut watch, program) = (watch(Trigger::Cpu(share(150, 1))), Program::new());
    let two = |program: &Program| {
        program.busy(10 * MS);
        program.cpu_us.set(program.cpu_us.get() + 10 * MS);
    };
    assert_eq!(run(&mut watch, &program, 5_000 * MS, |program| program.busy(10 * MS)), None);
    assert_eq!(run(&mut watch, &program, 10_000 * MS, two).unwrap().0.len(), "155%".len());
}

#[test]
fn the_utilization_is_the_share_without_waits() {
    let half = |program: &Program| {
        program.turns();
        program.waits(5 * MS);
        program.busy(5 * MS);
    };
    let (mut low, program) = (watch(Trigger::Utilization(share(40, 2))), Program::new());
    assert_eq!(run(&mut low, &program, 10_000 * MS, half).unwrap().0, "0.50");
    let (mut high, program) = (watch(Trigger::Utilization(share(60, 2))), Program::new());
    assert_eq!(run(&mut high, &program, 10_000 * MS, half), None);
}

#[test]
fn a_process_that_was_stopped_was_not_busy() {
    let (mut watch, program) = (watch(Trigger::Utilization(share(90, 10))), Program::new());
    program.waits(MS);
    assert_eq!(watch.look(program.now_us.get(), &program), None);
    program.now_us.set(program.now_us.get() + 60_000 * MS);
    assert_eq!(watch.look(program.now_us.get(), &program), None);
}

#[test]
fn memory_is_met_above_its_limit() {
    let (mut watch, program) = (watch(Trigger::Memory(512 << 20)), Program::new());
    program.resident.set(512 << 20);
    assert_eq!(run(&mut watch, &program, 5_000 * MS, |program| program.waits(MS)), None);
    program.resident.set(600 << 20);
    let (observed, _) =
        run(&mut watch, &program, 10_000 * MS, |program| program.waits(MS)).unwrap();
    assert_eq!(observed, "600 MiB");
}

#[test]
fn a_signal_needs_no_looks() {
    let watch = watch(Trigger::Signal(cpu_prof_core::base::settings::start::StartSignal::Usr2));
    assert_eq!(watch.due_us(), None);
}

proptest! {
    /// A loop of any shape: the longest time without progress decides.
    #[test]
    fn a_stall_is_met_if_and_only_if_the_loop_stood_still(
        limit_ms in 100_u64..2_000,
        parts in proptest::collection::vec((any::<bool>(), 1_i64..1_500), 1..12),
    ) {
        let (mut watch, program) = (stall(limit_ms), Program::new());
        let limit_us = i64::try_from(limit_ms).unwrap() * MS;
        let mut met = false;
        let mut longest_us = 0;
        for (waits, ms) in parts {
            let until_us = program.now_us.get() + ms * MS;
            let step = |program: &Program| match waits {
                true => program.waits(MS),
                false => program.busy(MS),
            };
            met |= run(&mut watch, &program, until_us, step).is_some();
            program.turns();
            longest_us = longest_us.max(if waits { 0 } else { ms * MS });
        }
        // A look comes up to a step late.
        let step_us = (limit_us / 10).clamp(30 * MS, 250 * MS) + 2 * MS;
        if longest_us <= limit_us {
            prop_assert!(!met);
        } else if longest_us > limit_us + step_us {
            prop_assert!(met);
        }
    }
}
