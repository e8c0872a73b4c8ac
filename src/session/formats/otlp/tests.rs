//! Tests of what is written, beside those by OpenTelemetry's own classes in `__test__/fleet/otlp.spec.js`.

use proptest::prelude::*;
use prost::Message;

use super::message::{OtlpDictionary, OtlpProfile, OtlpRequest};
use super::write;
use crate::formats::pprof::read::read_bytes;
use crate::formats::registry::{FormatWriter, format_of};
use crate::model::builder::ProfileBuilder;
use crate::model::thread_profile::NodeTimes;
use crate::model::{Clock, Process, Session, Thread};
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::position::SourcePosition;
use cpu_prof_core::profile::read_scope::ReadScope;

/// A sample of a session: node, time, line and number of the label set.
type Drawn = (u64, i64, u32, u32);

/// A session with these samples of a worker.
fn session(samples: &[Drawn]) -> Session {
    let mut session = Session::default();
    let frame = |name: &str, url: &str, line| CallFrame {
        function_name: name.into(),
        url: url.into(),
        script_id: u32::from(!url.is_empty()),
        line,
        column: line.min(4),
        ..CallFrame::root()
    };
    for set in [[("route", "/x"), ("", "empty")], [("thread.name", "own"), ("thread", "")]] {
        session.labels.number(&set.into_iter().collect());
    }
    let mut builder = ProfileBuilder::new(1000, ReadScope::LINES);
    for (id, parent, frame) in [
        (1, None, CallFrame::root()),
        (2, Some(1), frame("", "file:///r/src/a.js", 11)),
        (3, Some(2), frame("parse", "file:///r/node_modules/x/x.js", 4)),
        (4, Some(3), frame("", "file:///r/src/a.js", 11)),
        (5, Some(1), frame("(idle)", "", -1)),
    ] {
        builder.announce(id, parent, session.frames.number(frame));
    }
    for (id, us, line, set) in samples {
        builder.labelled_sample(*id, *us, SourcePosition::line(*line), *set);
    }
    builder.end_at(100_000);
    let profiles = vec![builder.finish()];
    let thread = Thread { id: 3, name: "worker 3: w.js".into(), profiles, ..Thread::default() };
    session.processes.push(Process {
        pid: 42,
        name: "nx".into(),
        node: Some("v24.1.0".into()),
        interval_us: Some(10),
        threads: vec![thread],
        ..Process::default()
    });
    let wall_zero_us = Some(1_772_600_767_089_000);
    session.clocks.push(Clock {
        start_us: 1000,
        end_us: 100_000,
        wall_zero_us,
        ..Clock::default()
    });
    session
}

fn written(session: &Session, resource: &[(String, String)]) -> OtlpRequest {
    let mut bytes = Vec::new();
    write(session, resource, &mut bytes).unwrap();
    OtlpRequest::decode(&bytes[..]).unwrap()
}

/// The profiles and the dictionary of a request.
fn parts(request: &OtlpRequest) -> (&[OtlpProfile], &OtlpDictionary) {
    let scope = &request.resource_profiles[0].scope_profiles[0];
    (&scope.profiles, request.dictionary.as_ref().unwrap())
}

/// The attributes of a sample as texts.
fn attributes(dictionary: &OtlpDictionary, indices: &[i32]) -> Vec<String> {
    let text = |index: &i32| {
        let attribute = &dictionary.attributes[*index as usize];
        let value = attribute.value.as_ref().unwrap();
        let number = value.number.map(|number| number.to_string());
        let value = value.text.clone().or(number).unwrap();
        format!("{}={value}", dictionary.strings[attribute.key_index as usize])
    };
    indices.iter().map(text).collect()
}

#[test]
fn a_sample_has_its_stack_and_its_attributes() {
    let session = session(&[(4, 10, 14, 1), (4, 10, 13, 2), (5, 30, 0, 0)]);
    let request = written(&session, &[]);
    assert_eq!(request, written(&session, &[]));
    let (profiles, dictionary) = parts(&request);
    let names = profiles.iter().map(|profile| {
        let index = profile.sample_type.unwrap().name_index;
        &*dictionary.strings[index as usize]
    });
    assert_eq!(names.collect::<Vec<_>>(), ["cpu", "wall", "samples"]);
    let [cpu, ..] = profiles else { unreachable!() };
    assert_eq!((cpu.time_nanos, cpu.duration_nanos), (1_772_600_767_090_000_000, 99_000_000));
    assert_eq!(cpu.period, 10_000);
    let sample = &cpu.samples[0];
    assert_eq!(
        attributes(dictionary, &sample.attribute_indices),
        [
            "process=nx",
            "process.pid=42",
            "thread.name=worker 3: w.js",
            "thread.id=3",
            "package=(own code)",
            "label.=empty",
            "route=/x"
        ]
    );
    let own = attributes(dictionary, &cpu.samples[1].attribute_indices);
    assert_eq!(own[5..], ["label.thread.name=own"]);
    let stack = &dictionary.stacks[sample.stack_index as usize];
    let lines = stack.location_indices.iter().map(|index| {
        let location = &dictionary.locations[*index as usize];
        assert_eq!(
            attributes(dictionary, &location.attribute_indices),
            ["profile.frame.type=v8js"]
        );
        let line = location.lines[0];
        let function = dictionary.functions[line.function_index as usize];
        (&*dictionary.strings[function.name_index as usize], function.line, line.line)
    });
    let expected = [("(anonymous)", 12, 14), ("parse", 5, 5), ("(anonymous)", 12, 12)];
    assert_eq!(lines.collect::<Vec<_>>(), expected);
    let mut ids: Vec<_> = profiles.iter().map(|profile| profile.id.clone()).collect();
    assert!(ids.iter().all(|id| id.len() == 16));
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

#[test]
fn a_resource_has_each_key_once() {
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let given = [
        pair("service.name", "a"),
        pair("", "x"),
        pair("service.name", "b"),
        pair("process.pid", "7"),
        pair("process.runtime.version", "own"),
    ];
    let request = written(&session(&[]), &given);
    let resource = request.resource_profiles[0].resource.as_ref().unwrap();
    let texts = resource.attributes.iter().map(|attribute| {
        let value = attribute.value.as_ref().unwrap();
        (&*attribute.key, value.text.as_deref(), value.number)
    });
    assert_eq!(
        texts.collect::<Vec<_>>(),
        [
            ("service.name", Some("b"), None),
            ("process.pid", None, Some(7)),
            ("process.runtime.version", Some("own"), None),
            ("process.runtime.name", Some("nodejs"), None),
        ]
    );
}

#[test]
fn a_session_without_samples_has_only_zero_values() {
    for session in [Session::default(), session(&[])] {
        let request = written(&session, &[]);
        let (profiles, dictionary) = parts(&request);
        assert!(profiles.iter().all(|profile| profile.samples.is_empty() && profile.period > 0));
        let OtlpDictionary { mappings, locations, functions, links, attributes, stacks, strings } =
            dictionary;
        assert_eq!([mappings.len(), locations.len(), functions.len(), links.len()], [1; 4]);
        assert_eq!((attributes.len(), stacks.len(), &*strings[0]), (1, 1, ""));
    }
}

/// Samples, CPU time and wall time in a pprof file of a session: nanoseconds.
fn sums_of_pprof(session: &Session) -> [i64; 3] {
    let FormatWriter::Session { write, .. } = format_of("x.pb".as_ref()).unwrap().writer else {
        unreachable!()
    };
    let mut bytes = Vec::new();
    write(session, "", &mut bytes).unwrap();
    let contents = read_bytes(&bytes, "x.pb", ReadScope::LINES).unwrap();
    let mut sums = [0; 3];
    for profile in contents.processes.iter().flat_map(|process| &process.threads[0].profiles) {
        sums[2] += profile.sample_count as i64;
        for (node, NodeTimes { self_us, blocked_us, waiting_us, .. }) in profile.timed_nodes() {
            let is_idle = contents.frames.list()[node.frame as usize].function_name == "(idle)";
            sums[0] += if is_idle { 0 } else { self_us as i64 * 1000 };
            sums[1] += (self_us + blocked_us + waiting_us) as i64 * 1000;
        }
    }
    sums
}

#[test]
fn the_rest_of_another_tools_profile_is_idle() {
    // A profile of 20 ms: `f` has 5 ms.
    let texts = ["", "cpu", "nanoseconds", "f"]
        .iter()
        .flat_map(|text| [0x32, text.len() as u8].into_iter().chain(text.bytes()));
    let bytes: Vec<u8> = b"\x0a\x04\x08\x01\x10\x02\x12\x07\x08\x01\x10\xc0\x96\xb1\x02\
        \x22\x06\x08\x01\x22\x02\x08\x01\x2a\x04\x08\x01\x10\x03\x50\x80\xda\xc4\x09"
        .iter()
        .copied()
        .chain(texts)
        .collect();
    let contents = read_bytes(&bytes, "x.pb", ReadScope::LINES).unwrap();
    let clock = Clock { end_us: 20_000, ..Clock::default() };
    let session = Session {
        processes: contents.processes,
        frames: contents.frames,
        clocks: vec![clock],
        ..Session::default()
    };
    let request = written(&session, &[]);
    let (profiles, _) = parts(&request);
    let values = |profile: &OtlpProfile| -> Vec<i64> {
        let mut values: Vec<i64> =
            profile.samples.iter().flat_map(|sample| sample.values.clone()).collect();
        values.sort_unstable();
        values
    };
    assert_eq!(values(&profiles[0]), [5_000_000]);
    assert_eq!(values(&profiles[1]), [5_000_000, 15_000_000]);
    assert_eq!(profiles[1].duration_nanos, 20_000_000);
}

proptest! {
    #[test]
    fn sums_are_those_of_pprof(samples in prop::collection::vec((2_u64..6, 0_i64..900, 0_u32..20, 0_u32..3), 1..60)) {
        let session = session(&samples);
        let request = written(&session, &[]);
        let (profiles, dictionary) = parts(&request);
        let sum = |profile: &OtlpProfile| -> i64 {
            profile.samples.iter().flat_map(|sample| &sample.values).sum()
        };
        let sums: Vec<i64> = profiles.iter().map(sum).collect();
        prop_assert_eq!(&sums, &sums_of_pprof(&session));
        prop_assert_eq!(sums[2], samples.len() as i64);
        for sample in profiles.iter().flat_map(|profile| &profile.samples) {
            let mut keys = attributes(dictionary, &sample.attribute_indices);
            keys.iter_mut().for_each(|text| text.truncate(text.find('=').unwrap()));
            keys.sort_unstable();
            let count = keys.len();
            keys.dedup();
            prop_assert_eq!(keys.len(), count);
            prop_assert!((1..dictionary.stacks.len()).contains(&(sample.stack_index as usize)));
        }
    }
}
