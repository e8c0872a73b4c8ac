use super::*;

const OWN: &str = include_str!("../golden/main.trace.json");
const WORKER: &str = include_str!("../golden/worker.trace.json");

fn events(text: &str) -> Vec<serde_json::Value> {
    let json: serde_json::Value = serde_json::from_str(text).unwrap();
    json["traceEvents"].as_array().unwrap().clone()
}

fn read(events: &[serde_json::Value]) -> (Vec<Process>, Frames) {
    let mut frames = Frames::new();
    let mut reader = TraceReader::new(Wanted::SAMPLES);
    for event in events {
        reader.event(event.to_string().as_bytes(), &mut frames);
    }
    assert_eq!(reader.strange(), 0);
    (reader.finish(), frames)
}

/// Names of functions, and what they took by themselves.
fn times(profile: &Profile, frames: &Frames) -> Vec<(String, u64)> {
    let name =
        |node: &crate::profile::Node| frames.list()[node.frame as usize].function_name.clone();
    profile.nodes.iter().map(|node| (name(node), node.self_us)).collect()
}

#[test]
fn our_own_traces_are_read() {
    let (processes, frames) = read(&events(OWN));
    let [process] = processes.as_slice() else { panic!("{processes:?}") };
    assert_eq!((process.pid, &*process.name, &*process.command), (4242, "nx", "nx run-many"));
    let [thread] = process.threads.as_slice() else { panic!("{process:?}") };
    assert_eq!((thread.id, &*thread.name), (0, "main"));
    let [profile] = thread.profiles.as_slice() else { panic!("{thread:?}") };
    assert_eq!(profile.end_us - profile.start_us, 10_000);
    // The last sample lasts until trace.end.
    let sum: u64 = profile.nodes.iter().map(|node| node.self_us).sum();
    let first = profile.samples[0].time_us - profile.start_us;
    assert_eq!(sum as i64, 10_000 - first, "{:?}", times(profile, &frames));

    let (processes, _) = read(&events(WORKER));
    assert_eq!(processes[0].threads[0].name, "worker 3: crunch.js");
}

#[test]
fn metadata_tells_of_the_process() {
    let json: serde_json::Value = serde_json::from_str(OWN).unwrap();
    let mut reader = TraceReader::new(Wanted::TIMES);
    let mut frames = Frames::new();
    reader.member("metadata", json["metadata"].to_string().as_bytes());
    for event in events(OWN) {
        reader.event(event.to_string().as_bytes(), &mut frames);
    }
    let processes = reader.finish();
    assert_eq!(processes[0].cwd.as_deref(), Some("/r/naïve"));
    assert_eq!(processes[0].node.as_deref(), Some("v24.0.0"));
    assert_eq!(processes[0].parent_pid, Some(1));
}
