use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use cpu_prof_core::profile::frame::CallFrame;

fn frame(frames: &mut FrameTable, name: &str) -> u32 {
    frames.number(CallFrame { function_name: name.into(), ..CallFrame::root() })
}

/// Self times with the names of functions.
fn times(profile: &ThreadProfile, frames: &FrameTable) -> Vec<(String, u64)> {
    let name = |node: &ProfileNode| frames.list()[node.frame as usize].function_name.clone();
    profile.nodes.iter().map(|node| (name(node), profile.times(node).self_us)).collect()
}

fn owned(list: &[(&str, u64)]) -> Vec<(String, u64)> {
    list.iter().map(|(name, us)| ((*name).to_owned(), *us)).collect()
}

#[test]
fn a_sample_lasts_until_the_next() {
    let mut frames = FrameTable::new();
    let mut builder = ProfileBuilder::new(100, ReadScope::SAMPLES);
    builder.announce(1, None, frame(&mut frames, "(root)"));
    builder.announce(2, Some(1), frame(&mut frames, "a"));
    builder.announce(3, Some(2), frame(&mut frames, "b"));
    for (id, delta) in [(2, 5), (3, 10), (3, 20), (2, 30)] {
        builder.sample(id, delta, SourcePosition::line(0));
    }
    let profile = builder.finish();
    // The last sample is as long as the average of the three before.
    assert_eq!(times(&profile, &frames), owned(&[("(root)", 0), ("a", 10 + 20), ("b", 20 + 30)]));
    assert_eq!((profile.start_us, profile.end_us), (100, 165 + 20));
    assert_eq!(profile.sample_count, 4);
    assert_eq!(
        profile.samples.iter().nth(1),
        Some(ProfileSample { time_us: 115, node: 2, position: SourcePosition::line(0) })
    );
}

#[test]
fn samples_with_labels_have_nodes_of_their_own_whenever_nodes_are_announced() {
    let mut frames = FrameTable::new();
    let scope = ReadScope { lines: true, ..ReadScope::SAMPLES };
    let mut builder = ProfileBuilder::new(0, scope);
    for (id, labels) in [(3, 0), (3, 1), (3, 2), (3, 1), (2, 2)] {
        builder.labelled_sample(id, 10, SourcePosition::line(9), labels);
    }
    builder.announce(3, Some(2), frame(&mut frames, "b"));
    builder.announce(2, Some(1), frame(&mut frames, "a"));
    builder.announce(1, None, frame(&mut frames, "(root)"));
    builder.extend_to(60);
    let profile = builder.finish();
    let mut found: Vec<_> = (0_u32..)
        .zip(&profile.nodes)
        .filter(|(_, node)| node.times != NONE)
        .map(|(index, node)| {
            let above = profile.nodes[node.parent as usize];
            assert!(node.parent < index && profile.labels(node.parent) == NO_LABELS);
            let name = |frame: u32| frames.list()[frame as usize].function_name.as_str();
            let us = profile.times(node).self_us;
            (name(above.frame), name(node.frame), profile.labels(index), us)
        })
        .collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [("(root)", "a", 2, 10), ("a", "b", 0, 10), ("a", "b", 1, 20), ("a", "b", 2, 10)]
    );
    let labels = profile.samples.iter().map(|sample| profile.labels(sample.node));
    assert_eq!(labels.collect::<Vec<_>>(), [0, 1, 2, 1, 2]);
    assert_eq!(profile.lines.iter().map(|line| line.samples).sum::<u64>(), 5);
}

#[test]
fn the_last_sample_lasts_until_a_known_end() {
    let mut builder = ProfileBuilder::new(0, ReadScope::TIMES);
    builder.sample(1, 10, SourcePosition::line(0));
    builder.sample(1, 10, SourcePosition::line(0));
    builder.extend_to(500);
    let profile = builder.finish();
    assert_eq!(profile.times(&profile.nodes[0]).self_us, 490);
    assert_eq!(profile.end_us, 500);
    assert!(profile.samples.is_empty());
}

#[test]
fn time_between_two_recordings_belongs_to_no_node() {
    let mut builder = ProfileBuilder::new(0, ReadScope::SAMPLES);
    builder.sample(1, 10, SourcePosition::line(0));
    builder.end_at(30);
    builder.sample(2, 990, SourcePosition::line(0));
    builder.end_at(1001);
    let profile = builder.finish();
    assert_eq!(profile.all_times().map(|times| times.self_us).collect::<Vec<_>>(), [20, 1]);
    assert_eq!(
        profile.samples.iter().map(|sample| (sample.time_us, sample.node)).collect::<Vec<_>>(),
        [(10, 0), (30, NONE), (1000, 1)]
    );
}

#[test]
fn a_sample_of_the_root_is_a_pause() {
    let mut builder = ProfileBuilder::new(0, ReadScope::SAMPLES);
    builder.announce(1, None, FrameTable::ROOT);
    for (id, delta) in [(1, 5), (2, 5), (1, 5), (1, 5), (2, 80), (1, 10)] {
        builder.sample(id, delta, SourcePosition::line(0));
    }
    builder.end_at(110);
    builder.extend_to(500);
    let profile = builder.finish();
    assert_eq!(profile.all_times().map(|times| times.self_us).collect::<Vec<_>>(), [0, 5 + 10]);
    assert_eq!((profile.sample_count, profile.end_us), (2, 500));
    assert_eq!(
        profile.samples.iter().map(|sample| (sample.time_us, sample.node)).collect::<Vec<_>>(),
        [(10, 1), (15, NONE), (100, 1), (110, NONE)]
    );
}

#[test]
fn nodes_may_come_late_and_in_any_order() {
    let mut frames = FrameTable::new();
    let mut builder = ProfileBuilder::new(0, ReadScope::SAMPLES);
    builder.sample(3, 1, SourcePosition::line(0));
    builder.announce(3, Some(2), frame(&mut frames, "c"));
    builder.announce(2, Some(1), frame(&mut frames, "b"));
    builder.adopt(1, 2);
    builder.announce(1, None, frame(&mut frames, "a"));
    builder.sample(9, 1, SourcePosition::line(0));
    builder.extend_to(5);
    let profile = builder.finish();
    let expected = owned(&[("a", 0), ("(unknown)", 3), ("b", 0), ("c", 1)]);
    assert_eq!(times(&profile, &frames), expected);
    assert_eq!(
        profile.nodes.iter().map(|node| node.parent).collect::<Vec<_>>(),
        [NONE, NONE, 0, 2]
    );
    assert_eq!(profile.samples.first().unwrap().node, 3);
}

#[test]
fn only_time_in_the_scope_counts() {
    let mut builder =
        ProfileBuilder::new(0, ReadScope { from_us: 15, to_us: 35, ..ReadScope::TIMES });
    for id in [1, 2, 3, 4] {
        builder.sample(id, 10, SourcePosition::line(0));
    }
    let profile = builder.finish();
    assert_eq!(profile.all_times().map(|times| times.self_us).collect::<Vec<_>>(), [5, 10, 5, 0]);
    assert_eq!((profile.start_us, profile.end_us, profile.sample_count), (15, 35, 2));
}

#[test]
fn counts_of_samples_replace_samples() {
    let mut builder = ProfileBuilder::new(0, ReadScope::TIMES);
    builder.hits(1, 1);
    builder.hits(2, 3);
    builder.extend_to(400);
    let profile = builder.finish();
    assert_eq!(profile.all_times().map(|times| times.self_us).collect::<Vec<_>>(), [100, 300]);
    assert_eq!(profile.sample_count, 4);
}

/// The node, line, time and count of samples of each line.
fn lines(profile: &ThreadProfile) -> Vec<(u32, u32, u64, u64)> {
    profile.lines.iter().map(|at| (at.node, at.position.line, at.self_us, at.samples)).collect()
}

#[test]
fn lines_have_the_time_of_their_samples() {
    let scope = ReadScope { from_us: 15, to_us: 55, ..ReadScope::LINES };
    let mut builder = ProfileBuilder::new(0, scope);
    for (id, line) in [(1, 7), (1, 8), (2, 7), (1, 7), (1, 0), (1, 7)] {
        builder.sample(id, 10, SourcePosition::line(line));
    }
    let profile = builder.finish();
    // The first sample began before the scope, and the last comes after.
    assert_eq!(lines(&profile), [(0, 0, 5, 1), (0, 7, 5 + 10, 2), (0, 8, 10, 1), (1, 7, 10, 1)]);
    assert!(profile.samples.is_empty());
}

#[test]
fn lines_follow_their_nodes_into_the_order() {
    let mut builder = ProfileBuilder::new(0, ReadScope { lines: true, ..ReadScope::SAMPLES });
    builder.sample(5, 10, SourcePosition::line(3));
    builder.deopt(5, "reason".into());
    builder.adopt(9, 5);
    builder.extend_to(30);
    let profile = builder.finish();
    assert_eq!(profile.nodes[1].parent, 0);
    assert_eq!(lines(&profile), [(1, 3, 20, 1)]);
    assert_eq!(profile.deopts, [(1, "reason".to_owned())]);
    assert_eq!(
        profile.samples.iter().collect::<Vec<_>>(),
        [ProfileSample { time_us: 10, node: 1, position: SourcePosition::line(3) }]
    );
}

#[test]
fn counts_of_samples_are_shared_out_by_the_ticks_of_lines() {
    let mut builder = ProfileBuilder::new(0, ReadScope::LINES);
    for (id, hits) in [(1, 4), (2, 4), (3, 2)] {
        builder.hits(id, hits);
    }
    for (id, line, ticks) in [(1, 5, 1), (1, 6, 2), (2, 7, 6), (2, 8, 2)] {
        builder.ticks(id, line, ticks);
    }
    builder.extend_to(1000);
    let profile = builder.finish();
    let of_first = [(0, 0, 100, 1), (0, 5, 100, 1), (0, 6, 200, 2)];
    let of_others = [(1, 7, 300, 3), (1, 8, 100, 1), (2, 0, 200, 2)];
    assert_eq!(lines(&profile), [of_first, of_others].concat());
}

#[derive(Debug, Clone)]
enum Step {
    Announce(u64, Option<u64>, u32),
    Adopt(u64, u64),
    Sample(u64, i64, u32),
    Hits(u64, u64),
    Ticks(u64, u32, u32),
    ExtendTo(i64),
    EndAt(i64),
    SetStart(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let id = || prop_oneof![8 => 0_u64..8, 1 => any::<u64>()];
    let time = || prop_oneof![8 => -50_i64..1000, 1 => any::<i64>()];
    prop_oneof![
        4 => (id(), prop::option::of(id()), 0_u32..5).prop_map(|(a, b, c)| Step::Announce(a, b, c)),
        2 => (id(), id()).prop_map(|(a, b)| Step::Adopt(a, b)),
        6 => (id(), time(), 0_u32..3).prop_map(|(a, b, c)| Step::Sample(a, b, c)),
        1 => (id(), any::<u64>()).prop_map(|(a, b)| Step::Hits(a, b)),
        1 => (id(), 0_u32..3, any::<u32>()).prop_map(|(a, b, c)| Step::Ticks(a, b, c)),
        1 => time().prop_map(Step::ExtendTo),
        1 => time().prop_map(Step::EndAt),
        1 => time().prop_map(Step::SetStart),
    ]
}

proptest! {
    #[test]
    fn any_steps_give_a_tree_with_valid_times(
        steps in vec(step(), 0..40),
        start: i64,
        from in prop_oneof![Just(i64::MIN), any::<i64>()],
        to in prop_oneof![Just(i64::MAX), any::<i64>()],
    ) {
        let mut builder = ProfileBuilder::new(start, ReadScope { from_us: from, to_us: to, ..ReadScope::ALL });
        let mut count = 0;
        for step in steps {
            match step {
                Step::Announce(id, parent, frame) => builder.announce(id, parent, frame),
                Step::Adopt(parent, child) => builder.adopt(parent, child),
                Step::Sample(id, delta, line) => { count += 1; builder.sample(id, delta, SourcePosition::line(line)) }
                Step::Hits(id, hits) => builder.hits(id, hits),
                Step::Ticks(id, line, ticks) => builder.ticks(id, line, ticks),
                Step::ExtendTo(time) => builder.extend_to(time),
                Step::EndAt(time) => builder.end_at(time),
                Step::SetStart(time) => builder.set_start(time),
            }
        }
        let profile = builder.finish();
        for (index, node) in (0..).zip(&profile.nodes) {
            prop_assert!(node.parent == NONE || node.parent < index);
        }
        prop_assert!(profile.start_us <= profile.end_us);
        let of_nodes = profile.samples.iter().filter(|sample| sample.node != NONE);
        prop_assert!(of_nodes.count() <= count);
        prop_assert!(profile.samples.iter().is_sorted_by_key(|sample| sample.time_us));
        for sample in &profile.samples {
            prop_assert!(sample.node == NONE || (sample.node as usize) < profile.nodes.len());
        }
        // A step can be longer than an i64 counts, and never ends before it starts.
        let length = |from: i64, to: i64| u128::try_from(i128::from(to) - i128::from(from)).unwrap();
        let stepped: u128 = profile.steps.spans().map(|step| length(step.from_us, step.to_us)).sum();
        // Profiles that count hits have no steps.
        prop_assert!(stepped == 0 || stepped == profile.all_times().map(|times| u128::from(times.self_us)).sum::<u128>());
        let sum: u128 = profile.all_times().map(|times| u128::from(times.self_us)).sum();
        let span = i128::from(profile.end_us) - i128::from(profile.start_us);
        prop_assert!(sum <= span as u128, "{sum} in {span}");
        for (index, times) in (0..).zip(profile.all_times()) {
            let of_node = profile.lines.iter().filter(|at| at.node == index);
            prop_assert_eq!(of_node.map(|at| at.self_us).sum::<u64>(), times.self_us);
        }
    }
}

#[test]
fn blocked_time_is_that_of_its_lines() {
    use cpu_prof_core::base::system::cpu_times::CpuTimes;
    let cpu = |ms: i64, switches| CpuTimes {
        cpu_us: Some(ms * 1000),
        switches: Some(switches),
        ..CpuTimes::default()
    };
    let mut builder = ProfileBuilder::new(0, ReadScope::LINES);
    builder.begin_cpu(0, cpu(0, 0));
    // The thread is blocked for 120 ms in the second sample of a call.
    for (line, delta) in [(4, 0), (9, 1_000), (4, 120_000), (9, 1_000)] {
        builder.sample(1, delta, SourcePosition::line(line));
    }
    builder.read_cpu(123_000, cpu(3, 5));
    builder.end_at(123_000);
    let profile = builder.finish();
    assert_eq!(
        (profile.times(&profile.nodes[0]).self_us, profile.times(&profile.nodes[0]).blocked_us),
        (3_000, 120_000)
    );
    let lines: Vec<_> = profile.lines.iter().map(|at| (at.position.line, at.self_us)).collect();
    assert_eq!(lines, [(4, 1_000), (9, 2_000)]);
}
