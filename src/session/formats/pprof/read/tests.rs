use std::fmt::Write as _;

use proptest::prelude::*;
use prost::Message;

use super::*;
use crate::formats::pprof::message::{
    PprofFunction, PprofLabel, PprofLine, PprofLocation, PprofSample, PprofValueType, field,
};
use crate::formats::pprof::recognize::is_pprof;
use crate::formats::pprof::write::write;
use crate::model::builder::ProfileBuilder;
use crate::model::frame_table::FrameTable;
use crate::model::thread_profile::{NodeTimes, ThreadProfile};
use crate::model::{Clock, Process, Session, Thread};
use cpu_prof_core::base::native_code::BuildId;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::label_table::{LabelSet, LabelTable};
use cpu_prof_core::profile::position::SourcePosition;

/// A session of a worker: samples on two lines, with and without labels, a blocked call and idle time.
fn session() -> Session {
    let mut session = Session::default();
    let frame = |name: &str, url: &str, line| CallFrame {
        function_name: name.into(),
        url: url.into(),
        script_id: u32::from(!url.is_empty()),
        line,
        column: line.min(4),
        ..CallFrame::root()
    };
    let labels = session.labels.number(&[("route", "/x"), ("thread", "t")].into_iter().collect());
    let mut builder = ProfileBuilder::new(1000, ReadScope::LINES);
    for (id, parent, frame) in [
        (1, None, CallFrame::root()),
        (2, Some(1), frame("", "file:///r/src/a%20b.js", 11)),
        (3, Some(2), frame("parse", "file:///r/node_modules/x/x.js", 4)),
        (4, Some(1), frame("(garbage collector)", "", -1)),
        (5, Some(1), frame("(idle)", "", -1)),
    ] {
        builder.announce(id, parent, session.frames.number(frame));
    }
    for (id, line, set) in
        [(2, 13, 0), (3, 7, 0), (3, 9, labels), (3, 9, labels), (3, 2, 0), (4, 0, 0), (5, 0, 0)]
    {
        builder.labelled_sample(id, 10, SourcePosition::line(line), set);
    }
    builder.end_at(1100);
    let mut profile = builder.finish();
    let blocked = (0..).zip(&profile.nodes).find(|(_, node)| node.parent == 1).unwrap().0;
    profile.times_mut(blocked).blocked_us = 500;
    let profiles = vec![profile];
    let thread = Thread { id: 3, name: "worker 3: w.js".into(), profiles, ..Thread::default() };
    session.processes.push(Process {
        pid: 42,
        name: "nx".into(),
        command: "nx run".into(),
        interval_us: Some(10),
        threads: vec![thread],
        ..Process::default()
    });
    let wall_zero_us = Some(1_772_600_767_089_000);
    session.clocks.push(Clock { start_us: 1000, end_us: 1100, wall_zero_us, ..Clock::default() });
    session
}

fn written(session: &Session) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(session, "", &mut bytes).unwrap();
    bytes
}

/// Each stack with its labels and times, as a text.
fn stacks(processes: &[Process], frames: &FrameTable, labels: &LabelTable) -> Vec<String> {
    let mut list = Vec::new();
    for process in processes {
        for thread in &process.threads {
            for profile in &thread.profiles {
                for (number, node) in (0..).zip(&profile.nodes) {
                    let NodeTimes { self_us, blocked_us, waiting_us, .. } = profile.times(node);
                    if self_us + blocked_us + waiting_us == 0 {
                        continue;
                    }
                    let mut text = format!("{} {}", process.label(), thread.name);
                    let mut at = Some(node);
                    while let Some(node) = at {
                        let frame = &frames.list()[node.frame as usize];
                        let CallFrame { function_name, url, line, column, .. } = frame;
                        let url = cpu_prof_core::format::url::file_path(url);
                        write!(text, " < {function_name} {url}:{line}:{column}").unwrap();
                        at = profile.nodes.get(node.parent as usize);
                    }
                    let set = labels.get(profile.labels(number)).map(LabelSet::to_string);
                    let set = set.unwrap_or_default();
                    list.push(format!("{text} {set} {self_us} {blocked_us} {waiting_us}"));
                }
            }
        }
    }
    list.sort();
    list
}

#[test]
fn a_session_comes_back() {
    let session = session();
    let bytes = written(&session);
    assert!(is_pprof(&bytes[..]) && is_ours(&bytes[..]));
    assert_eq!(bytes, written(&session));
    let PprofContents { processes, frames, labels, .. } =
        read_bytes(&bytes, "x.pb", ReadScope::LINES).unwrap();
    let expected = stacks(&session.processes, &session.frames, &session.labels);
    assert_eq!(stacks(&processes, &frames, &labels), expected);
    assert_eq!(expected.len(), 5, "{expected:#?}");
    let process = &processes[0];
    assert_eq!((process.pid, &*process.command, process.interval_us), (42, "nx run", Some(10)));
    let thread = &process.threads[0];
    assert_eq!((thread.id, &*thread.name), (3, "worker 3: w.js"));
    let profile = &thread.profiles[0];
    assert_eq!(profile.sample_count, 7);
    let wall_us = process.wall_zero_us.map(|zero| zero + profile.start_us);
    assert_eq!(wall_us, Some(1_772_600_767_090_000));
    let lines = |profile: &ThreadProfile| {
        let of_code = profile.lines.iter().filter(|line| line.position.line > 5);
        let mut lines: Vec<_> =
            of_code.map(|line| (line.position.line, line.self_us, line.samples)).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(lines(profile), lines(&session.processes[0].threads[0].profiles[0]));
    assert_eq!(lines(profile), [(7, 10, 1), (9, 20, 2), (13, 10, 1)]);
}

#[test]
fn samples_stand_one_after_the_other() {
    let bytes = written(&session());
    let contents = read_bytes(&bytes, "x.pb", ReadScope::SAMPLES).unwrap();
    let profile = &contents.processes[0].threads[0].profiles[0];
    let times: Vec<i64> = profile.samples.iter().map(|sample| sample.time_us).collect();
    assert!(times.is_sorted() && times.len() >= 6, "{times:?}");
    assert_eq!(profile.end_us - times[0], 590);
    let all = read_bytes(&bytes, "x.pb", ReadScope::ALL).unwrap();
    assert!(all.processes[0].threads[0].profiles[0].samples.is_empty());
}

#[test]
fn a_session_without_samples_comes_back_empty() {
    let bytes = written(&Session::default());
    let contents = read_bytes(&bytes, "x.pb", ReadScope::LINES).unwrap();
    let thread = &contents.processes[0].threads[0];
    assert_eq!((&*contents.processes[0].name, &*thread.name), ("x.pb", "all threads"));
    assert_eq!(thread.profiles[0].sample_count, 0);
}

fn message(out: &mut Vec<u8>, tag: u32, message: &impl Message) {
    prost::encoding::encode_key(tag, prost::encoding::WireType::LengthDelimited, out);
    message.encode_length_delimited(out).unwrap();
}

/// A file of another tool: a location with an inlined function, one without functions, and a label.
fn foreign() -> Vec<u8> {
    let mut out = Vec::new();
    message(&mut out, field::SAMPLE_TYPE, &PprofValueType { name: 1, unit: 2 });
    message(&mut out, field::SAMPLE_TYPE, &PprofValueType { name: 3, unit: 4 });
    let labels =
        vec![PprofLabel { key: 5, text: 6, number: 0 }, PprofLabel { key: 4, text: 0, number: 9 }];
    let sample = |locations, values, labels| PprofSample { locations, values, labels };
    message(&mut out, field::SAMPLE, &sample(vec![1, 2], vec![2, 5000], labels));
    message(&mut out, field::SAMPLE, &sample(vec![2], vec![1, 1500], Vec::new()));
    message(&mut out, field::SAMPLE, &sample(vec![2], vec![1, 1500], Vec::new()));
    message(&mut out, field::SAMPLE, &sample(Vec::new(), vec![9, 9000], Vec::new()));
    let line = |function, line| PprofLine { function, line };
    let lines = vec![line(1, 5), line(2, 9)];
    message(&mut out, field::LOCATION, &PprofLocation { id: 1, mapping: 0, address: 0, lines });
    let unknown = PprofLocation { id: 2, mapping: 0, address: 0x1f0, lines: Vec::new() };
    message(&mut out, field::LOCATION, &unknown);
    let function =
        |id, name, system_name, line| PprofFunction { id, name, system_name, file: 7, line };
    message(&mut out, field::FUNCTION, &function(1, 0, 8, 4));
    message(&mut out, field::FUNCTION, &function(2, 9, 9, 0));
    let texts =
        ["", "samples", "count", "cpu", "nanoseconds", "thread", "v", "/go/x.go", "_in", "outer"];
    for text in texts {
        prost::encoding::string::encode(field::STRING, &text.to_owned(), &mut out);
    }
    out
}

#[test]
fn files_of_other_tools_are_read() {
    let PprofContents { processes, frames, labels, .. } =
        read_bytes(&foreign(), "go.pb.gz", ReadScope::LINES).unwrap();
    assert_eq!(
        stacks(&processes, &frames, &labels),
        [
            "go.pb.gz (pid unknown) all threads < (unknown) :-1:-1 < (root) :-1:-1  9 0 0",
            "go.pb.gz (pid unknown) all threads < 0x1f0 :-1:-1 < (root) :-1:-1  3 0 0",
            "go.pb.gz (pid unknown) all threads < _in /go/x.go:3:-1 < outer /go/x.go:-1:-1 < 0x1f0 \
             :-1:-1 < (root) :-1:-1 thread=v 5 0 0",
        ]
    );
    assert_eq!(processes[0].threads[0].profiles[0].sample_count, 13);
}

#[test]
fn damaged_files_tell_what_is_missing() {
    let error = |bytes: &[u8]| read_bytes(bytes, "x.pb", ReadScope::LINES).unwrap_err();
    let bytes = foreign();
    assert!(error(&bytes[..bytes.len() - 2]).contains("cut off or damaged"));
    let sample = |locations| PprofSample { locations, values: vec![1, 1], labels: Vec::new() };
    let mut unknown = foreign();
    message(&mut unknown, field::SAMPLE, &sample(vec![77]));
    assert!(error(&unknown).ends_with("it has no location 77"));
    let mut unknown = foreign();
    let lines = vec![PprofLine { function: 78, line: 1 }];
    let location = PprofLocation { id: 5, mapping: 0, address: 0, lines };
    message(&mut unknown, field::LOCATION, &location);
    message(&mut unknown, field::SAMPLE, &sample(vec![5]));
    assert!(error(&unknown).ends_with("it has no function 78"));
    let mut unknown = foreign();
    message(&mut unknown, field::SAMPLE_TYPE, &PprofValueType { name: -1, unit: 0 });
    assert!(error(&unknown).ends_with("it has no text -1"));
    let slice = ReadScope { from_us: 5, ..ReadScope::LINES };
    assert!(read(&bytes[..], "x.pb", slice).unwrap_err().contains("no time line"));
}

#[test]
fn huge_files_are_refused() {
    let mut many = foreign();
    for id in 10..10 + (1 << 10) {
        message(&mut many, field::FUNCTION, &PprofFunction { id, ..PprofFunction::default() });
    }
    let error = read_bytes(&many, "x.pb", ReadScope::LINES).unwrap_err();
    assert!(error.contains("more than 1024 functions"), "{error}");
    let endless = std::io::repeat(0);
    assert!(read(endless, "x.pb", ReadScope::LINES).unwrap_err().contains("more than 1 MB"));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        let _ = read_bytes(&bytes, "x.pb", ReadScope::SAMPLES);
    }

    #[test]
    fn a_damaged_file_does_no_harm(
        at in 0_usize..2000, byte: u8, cut in 0_usize..4000, is_ours: bool, samples: bool,
    ) {
        let mut bytes = if is_ours { written(&session()) } else { foreign() };
        let length = bytes.len();
        bytes[at % length] = byte;
        bytes.truncate(cut.max(1));
        let scope = if samples { ReadScope::SAMPLES } else { ReadScope::LINES };
        if let Ok(contents) = read_bytes(&bytes, "x.pb", scope) {
            let frames = contents.frames.list().len() as u32;
            for process in &contents.processes {
                for profile in process.threads.iter().flat_map(|thread| &thread.profiles) {
                    for (index, node) in (0..).zip(&profile.nodes) {
                        prop_assert!(index == 0 || node.parent < index);
                        prop_assert!(node.frame < frames);
                    }
                    prop_assert!(profile.start_us <= profile.end_us);
                }
            }
        }
    }
}

#[test]
fn native_functions_have_the_modules_that_they_are_in() {
    let mut session = session();
    let build = BuildId::new(&[0x9e, 0x93]);
    let named = CallFrame {
        function_name: "v8::internal::JsonParser::Parse".into(),
        ..CallFrame::in_module("/usr/bin/node", build, 1, 0x40)
    };
    let frames = [named, CallFrame::in_module("/r/node_modules/x/x.node", build, 2, 0x1f0)];
    let mut builder = ProfileBuilder::new(1000, ReadScope::LINES);
    builder.announce(1, None, session.frames.number(CallFrame::root()));
    for (id, frame) in (2..).zip(&frames) {
        builder.announce(id, Some(id - 1), session.frames.number(frame.clone()));
    }
    builder.sample(3, 10, SourcePosition::default());
    builder.end_at(1100);
    session.processes[0].threads[0].profiles = vec![builder.finish()];
    let bytes = written(&session);
    let contents = read_bytes(&bytes, "x.pb", ReadScope::LINES).unwrap();
    let read: Vec<CallFrame> = contents
        .frames
        .list()
        .iter()
        .filter(|frame| frame.module().is_some())
        .map(|frame| CallFrame { script_id: 0, ..frame.clone() })
        .collect();
    let mut expected = frames.map(|frame| CallFrame { script_id: 0, ..frame });
    expected.reverse();
    assert_eq!(read, expected);
    let texts = String::from_utf8_lossy(&bytes);
    assert!(texts.contains("\u{4}9e93") && texts.contains("/usr/bin/node"), "{texts}");
}
