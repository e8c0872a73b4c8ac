//! Shares a run's wall time among the calls that would have to be faster for the run to end earlier.
//!
//! At each moment, the threads that work share the moment equally: a function that runs alone gets the
//! whole moment, one of four in parallel a quarter. A thread that waits for a core has its share too.
//! Where no thread works, the threads that are blocked in calls share the moment. The rest is idle. So the
//! shares of all calls, the waiting and the idle time are the wall time.

use cpu_prof_core::profile::off_core::OffCore;
use cpu_prof_session::model::Session;
use cpu_prof_session::model::frame_table::FrameTable;
use cpu_prof_session::model::thread_profile::ThreadProfile;

use super::activity::{ProcessActivity, TimeSpans};

/// The wall time by what had it, microseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wall {
    /// Shares of threads that worked.
    pub work_us: f64,
    /// Shares of threads that waited for a core.
    pub waiting_us: f64,
    /// Shares of calls that were blocked while no thread worked.
    pub blocked_us: f64,
    /// Time in which no thread worked or was blocked in a call.
    pub idle_us: f64,
}

/// A time in which a thread was not idle.
#[derive(Debug, Clone, Copy)]
struct Part {
    node: u32,
    from_us: i64,
    to_us: i64,
    off_core: Option<OffCore>,
}

/// Gives each node its share of the wall time. Returns the sums, and what each process did when. The session
/// needs steps.
pub(crate) fn share_wall(session: &mut Session) -> (Wall, Vec<ProcessActivity>) {
    let mut wall = Wall::default();
    let mut activities = Vec::new();
    activities.resize_with(session.processes.len(), ProcessActivity::default);
    for clock in 0..session.clocks.len() {
        let mut moments = WallMoments::default();
        for (process, activity) in session.processes.iter().zip(&mut activities) {
            if process.clock != clock {
                continue;
            }
            for thread in &process.threads {
                let mut work = TimeSpans::default();
                for profile in &thread.profiles {
                    each_part(profile, |part| {
                        moments.add(&part);
                        activity.called.add(part.from_us, part.to_us);
                        if part.off_core != Some(OffCore::Blocked) {
                            work.add(part.from_us, part.to_us);
                        }
                    });
                    moments.end_interval();
                }
                work.join();
                activity.work.extend(&work);
                activity.work_of_threads.push(work);
            }
            activity.called.join();
            activity.work.join();
        }
        let shares = moments.shares();
        let span = &session.clocks[clock];
        let length_us = span.end_us.saturating_sub(span.start_us).max(0) as f64;
        wall.idle_us += (length_us - shares.taken_us()).max(0.0);
        let of_clock = session.processes.iter_mut().filter(|process| process.clock == clock);
        for profile in of_clock
            .flat_map(|process| &mut process.threads)
            .flat_map(|thread| &mut thread.profiles)
        {
            let mut critical_us = vec![0.0; profile.nodes.len()];
            let mut cursor = 0;
            each_part(profile, |part| {
                let us = shares.of(&part, &mut cursor);
                match part.off_core {
                    Some(OffCore::Waiting) => wall.waiting_us += us,
                    Some(_) => wall.blocked_us += us,
                    None => wall.work_us += us,
                }
                if part.off_core != Some(OffCore::Waiting) {
                    critical_us[part.node as usize] += us;
                }
            });
            for (node, us) in (0_u32..).zip(critical_us).filter(|(_, us)| *us > 0.0) {
                profile.times_mut(node).critical_us = us.round() as u64;
            }
        }
    }
    (wall, activities)
}

/// Calls `take` with all times of a thread in which the thread was not idle, in order.
fn each_part(profile: &ThreadProfile, mut take: impl FnMut(Part)) {
    let mut off_core = profile.off_core.iter().peekable();
    for step in profile.steps.spans() {
        let frame = profile.nodes[step.node as usize].frame;
        let is_idle = frame == FrameTable::IDLE;
        let mut at_us = step.from_us;
        while at_us < step.to_us {
            while off_core.next_if(|span| span.to_us <= at_us).is_some() {}
            let next = off_core.peek().filter(|span| span.from_us < step.to_us);
            let (state, end_us) = match next {
                Some(span) if span.from_us <= at_us => (Some(span.state), span.to_us),
                Some(span) => (None, span.from_us),
                None => (None, step.to_us),
            };
            let to_us = end_us.min(step.to_us);
            if state != Some(OffCore::Idle) && (state.is_some() || !is_idle) {
                take(Part { node: step.node, from_us: at_us, to_us, off_core: state });
            }
            at_us = to_us;
        }
    }
}

/// The moments at which threads begin and end to work, or to be blocked.
#[derive(Default)]
struct WallMoments {
    /// Time in microseconds, change of the count of threads that work, of those that are blocked.
    changes: Vec<(i64, i32, i32)>,
    /// The last interval of the thread, which the next part can continue: whether blocked, start, end.
    interval: Option<(bool, i64, i64)>,
}

impl WallMoments {
    fn add(&mut self, part: &Part) {
        let is_blocked = part.off_core == Some(OffCore::Blocked);
        match &mut self.interval {
            Some((was_blocked, _, to_us))
                if (*was_blocked, *to_us) == (is_blocked, part.from_us) =>
            {
                *to_us = part.to_us;
            }
            _ => {
                self.end_interval();
                self.interval = Some((is_blocked, part.from_us, part.to_us));
            }
        }
    }

    fn end_interval(&mut self) {
        if let Some((is_blocked, from_us, to_us)) = self.interval.take() {
            let (work, blocked) = if is_blocked { (0, 1) } else { (1, 0) };
            self.changes.push((from_us, work, blocked));
            self.changes.push((to_us, -work, -blocked));
        }
    }

    fn shares(mut self) -> Shares {
        self.changes.sort_unstable_by_key(|(at_us, ..)| *at_us);
        let mut shares = Shares::default();
        let mut sums = ShareSums::default();
        let (mut working, mut blocked) = (0_i32, 0_i32);
        let mut last_us = self.changes.first().map_or(0, |(at_us, ..)| *at_us);
        for (at_us, work_change, blocked_change) in self.changes {
            if at_us > last_us {
                let us = at_us.saturating_sub(last_us) as f64;
                if working > 0 {
                    sums.work_us += us / f64::from(working);
                    shares.taken_us += us;
                } else if blocked > 0 {
                    sums.blocked_us += us / f64::from(blocked);
                    shares.taken_us += us;
                }
                last_us = at_us;
            }
            working += work_change;
            blocked += blocked_change;
            match shares.list.last_mut() {
                Some((time_us, last)) if *time_us == at_us => *last = sums,
                _ => shares.list.push((at_us, sums)),
            }
        }
        shares
    }
}

/// What one thread would have got up to a moment, microseconds.
#[derive(Debug, Clone, Copy, Default)]
struct ShareSums {
    /// By working all the time.
    work_us: f64,
    /// By being blocked all the time.
    blocked_us: f64,
}

/// The shares of all times. Between two moments, the sums grow evenly.
#[derive(Default)]
struct Shares {
    list: Vec<(i64, ShareSums)>,
    taken_us: f64,
}

impl Shares {
    /// Returns the time that threads shared, microseconds.
    fn taken_us(&self) -> f64 {
        self.taken_us
    }

    /// Returns the share of a part. `cursor` is where the search begins; parts come in order.
    fn of(&self, part: &Part, cursor: &mut usize) -> f64 {
        let is_blocked = part.off_core == Some(OffCore::Blocked);
        let from_us = self.until(part.from_us, is_blocked, cursor);
        self.until(part.to_us, is_blocked, cursor) - from_us
    }

    fn until(&self, time_us: i64, is_blocked: bool, cursor: &mut usize) -> f64 {
        let sum = |(_, sums): &(i64, ShareSums)| {
            if is_blocked { sums.blocked_us } else { sums.work_us }
        };
        while self.list.get(*cursor + 1).is_some_and(|(at_us, _)| *at_us <= time_us) {
            *cursor += 1;
        }
        let Some(before) = self.list.get(*cursor) else { return 0.0 };
        let Some(after) = self.list.get(*cursor + 1) else { return sum(before) };
        let length_us = after.0.saturating_sub(before.0).max(1) as f64;
        let part = time_us.saturating_sub(before.0).max(0) as f64 / length_us;
        sum(before) + (sum(after) - sum(before)) * part
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::profile::position::SourcePosition;
    use cpu_prof_core::profile::read_scope::ReadScope;
    use cpu_prof_session::model::builder::ProfileBuilder;
    use cpu_prof_session::model::thread_profile::OffCoreSpan;
    use cpu_prof_session::model::{Clock, Process, Thread};

    /// Ids of nodes: two functions, and idle time.
    const WORK: u64 = 2;
    const CALL: u64 = 3;
    const IDLE: u64 = 4;

    /// Returns a thread by its start and its samples: node and length, microseconds. `off_core` are the
    /// times in which the thread was not on a core.
    fn thread(
        start_us: i64,
        samples: &[(u64, i64)],
        off_core: &[(i64, i64, u64, OffCore)],
    ) -> Thread {
        let mut builder = ProfileBuilder::new(start_us, ReadScope::STEPS);
        builder.announce(1, None, FrameTable::ROOT);
        for (id, frame) in [(WORK, 100), (CALL, 101), (IDLE, FrameTable::IDLE)] {
            builder.announce(id, Some(1), frame);
        }
        let mut delta_us = 0;
        for (id, us) in samples {
            builder.sample(*id, delta_us, SourcePosition::default());
            delta_us = *us;
        }
        builder.end_at(start_us + samples.iter().map(|(_, us)| us).sum::<i64>());
        let mut profile = builder.finish();
        let span = |(from_us, to_us, id, state): &(i64, i64, u64, OffCore)| OffCoreSpan {
            from_us: *from_us,
            to_us: *to_us,
            node: *id as u32 - 1,
            state: *state,
        };
        profile.off_core = off_core.iter().map(span).collect();
        Thread { profiles: vec![profile], ..Thread::default() }
    }

    /// Returns a session of 1000 µs with a process for each thread.
    fn session(threads: Vec<Thread>) -> Session {
        let of = |thread| Process { threads: vec![thread], ..Process::default() };
        let clock = Clock { start_us: 0, end_us: 1000, ..Clock::default() };
        Session {
            processes: threads.into_iter().map(of).collect(),
            clocks: vec![clock],
            ..Session::default()
        }
    }

    /// Returns the share of a node of a process.
    fn critical(session: &Session, process: usize, id: u64) -> u64 {
        let profile = &session.processes[process].threads[0].profiles[0];
        profile.times(&profile.nodes[id as usize - 1]).critical_us
    }

    /// Returns the wall time: of work, waiting, blocked, idle.
    fn parts(wall: &Wall) -> [f64; 4] {
        [wall.work_us, wall.waiting_us, wall.blocked_us, wall.idle_us]
    }

    #[test]
    fn a_function_alone_has_its_whole_time() {
        let mut all = session(vec![thread(0, &[(WORK, 300), (IDLE, 500), (CALL, 200)], &[])]);
        let (wall, activities) = share_wall(&mut all);
        assert_eq!([WORK, CALL, IDLE].map(|id| critical(&all, 0, id)), [300, 200, 0]);
        assert_eq!(parts(&wall), [500.0, 0.0, 0.0, 500.0]);
        assert_eq!((activities[0].work.us(0, 1000), activities[0].work.us(0, 310)), (500, 300));
    }

    #[test]
    fn four_in_parallel_have_a_quarter_each() {
        let mut all = session((0..4).map(|_| thread(0, &[(WORK, 1000)], &[])).collect());
        let (wall, _) = share_wall(&mut all);
        assert_eq!([0, 1, 2, 3].map(|process| critical(&all, process, WORK)), [250; 4]);
        assert_eq!(parts(&wall), [1000.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_blocked_call_has_the_time_in_which_nobody_works() {
        let parent = thread(0, &[(CALL, 1000)], &[(0, 1000, CALL, OffCore::Blocked)]);
        let child = thread(200, &[(WORK, 500)], &[]);
        let mut all = session(vec![parent, child]);
        let (wall, activities) = share_wall(&mut all);
        assert_eq!((critical(&all, 0, CALL), critical(&all, 1, WORK)), (500, 500));
        assert_eq!(parts(&wall), [500.0, 0.0, 500.0, 0.0]);
        let parent = &activities[0];
        assert_eq!((parent.work.us(0, 1000), parent.called.us(0, 1000)), (0, 1000));
    }

    #[test]
    fn waiting_time_has_a_share_but_no_function() {
        let starved = thread(0, &[(WORK, 1000)], &[(400, 1000, WORK, OffCore::Waiting)]);
        let mut all = session(vec![thread(0, &[(WORK, 1000)], &[]), starved]);
        let (wall, _) = share_wall(&mut all);
        assert_eq!((critical(&all, 0, WORK), critical(&all, 1, WORK)), (500, 200));
        assert_eq!(parts(&wall), [700.0, 300.0, 0.0, 0.0]);
    }

    #[test]
    fn an_idle_thread_can_wait_for_a_core_and_a_worker_for_a_task() {
        let idle = thread(0, &[(IDLE, 1000)], &[(900, 1000, IDLE, OffCore::Waiting)]);
        let worker = thread(0, &[(CALL, 800)], &[(0, 800, CALL, OffCore::Idle)]);
        let mut all = session(vec![idle, worker]);
        let (wall, _) = share_wall(&mut all);
        assert_eq!(parts(&wall), [0.0, 100.0, 0.0, 900.0]);
        assert_eq!(critical(&all, 1, CALL), 0);
    }

    #[test]
    fn machines_do_not_share_their_time() {
        let mut all =
            session(vec![thread(0, &[(WORK, 1000)], &[]), thread(0, &[(WORK, 600)], &[])]);
        all.processes[1].clock = 1;
        all.clocks.push(all.clocks[0].clone());
        let (wall, _) = share_wall(&mut all);
        assert_eq!((critical(&all, 0, WORK), critical(&all, 1, WORK)), (1000, 600));
        assert_eq!(parts(&wall), [1600.0, 0.0, 0.0, 400.0]);
    }
}
