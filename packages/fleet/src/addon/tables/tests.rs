//! Tests of the tables, which are read back.

use std::fs::File;
use std::path::Path;
use std::time::SystemTime;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use tempfile::TempDir;

use super::facts::GivenFacts;
use super::tables::{LakeTables, write_tables};
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::position::SourcePosition;
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_session::model::builder::ProfileBuilder;
use cpu_prof_session::model::thread_profile::ThreadProfile;
use cpu_prof_session::model::{Clock, Identity, Process, Session, Thread};
use cpu_prof_tools::read::load::Loaded;

const SECOND: i64 = 1_000_000;
/// Start of all recordings.
const START: i64 = 5 * SECOND;

/// A stack, outermost first, the line of its leaf, and its length in microseconds.
type Sampled<'a> = (&'a [&'a str], u32, i64);

/// Returns a profile of these samples. Names in brackets are states.
fn profile(session: &mut Session, samples: &[Sampled<'_>]) -> ThreadProfile {
    let mut builder = ProfileBuilder::new(START, ReadScope { samples: true, ..ReadScope::LINES });
    let mut stacks: Vec<&[&str]> = Vec::new();
    let mut delta_us = 0;
    let mut end_us = START;
    for (stack, line, us) in samples {
        let mut parent = None;
        for end in 1..=stack.len() {
            let known = stacks.iter().position(|known| *known == &stack[..end]);
            let id = known.unwrap_or_else(|| {
                stacks.push(&stack[..end]);
                stacks.len() - 1
            }) as u64
                + 1;
            let name = stack[end - 1];
            let frame = match name.starts_with('(') {
                true => CallFrame::state(name),
                false => CallFrame {
                    function_name: name.into(),
                    url: "/r/a.js".into(),
                    script_id: 7,
                    line: 2,
                    column: 4,
                    ..CallFrame::root()
                },
            };
            builder.announce(id, parent, session.frames.number(frame));
            parent = Some(id);
        }
        builder.sample(parent.unwrap(), delta_us, SourcePosition::line(*line));
        delta_us = *us;
        end_us = end_us.saturating_add(*us);
    }
    builder.extend_to(end_us);
    builder.finish()
}

/// Returns a session of a process with these threads.
fn session(threads: &[&[Sampled<'_>]]) -> Session {
    let mut session = Session::default();
    let mut process = Process {
        pid: 7,
        name: "app".into(),
        command: "app --token x".into(),
        ..Process::default()
    };
    for (id, samples) in (0..).zip(threads) {
        let profiles = vec![profile(&mut session, samples)];
        process.threads.push(Thread { id, name: format!("t{id}"), profiles, ..Thread::default() });
    }
    let end_us = process.end_us();
    session.processes.push(process);
    session.clocks.push(Clock { start_us: START, end_us, ..Clock::default() });
    session
}

fn write(session: Session) -> (TempDir, LakeTables) {
    let dir = tempfile::tempdir().unwrap();
    let mut loaded = Loaded::default();
    loaded.session = session;
    let given = GivenFacts::parse(r#"{"root":"/r"}"#).unwrap();
    let tables = write_tables(loaded, given, dir.path(), SystemTime::now()).unwrap();
    (dir, tables)
}

fn rows(folder: &Path, table: &str) -> Vec<Row> {
    let file = File::open(folder.join(format!("{table}.parquet"))).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

/// Returns the values of columns as texts.
fn values(folder: &Path, table: &str, columns: &[&str]) -> Vec<String> {
    let row = |row: Row| {
        let all: Vec<(&String, &Field)> = row.get_column_iter().collect();
        let value = |name: &&str| {
            all.iter().find(|(column, _)| column == name).unwrap().1.to_string().replace('"', "")
        };
        columns.iter().map(value).collect::<Vec<_>>().join(" ")
    };
    rows(folder, table).into_iter().map(row).collect()
}

const TIMES: [&str; 6] = ["thread", "bucket_us", "stack_id", "line", "self_us", "samples"];

#[test]
fn work_is_told_by_second_stack_and_line() {
    let main: &[Sampled<'_>] = &[
        (&["f"], 3, 400_000),
        (&["f", "g"], 8, 900_000),
        (&["f", "(garbage collector)"], 0, 100_000),
        (&["f", "g"], 8, 200_000),
        (&["f", "g"], 9, 100_000),
        (&["(idle)"], 0, 5 * SECOND),
        (&["f", "g"], 8, 10),
    ];
    let other: &[Sampled<'_>] = &[(&["(program)"], 0, 10), (&["f", "g"], 1, 20)];
    let (dir, tables) = write(session(&[main, other]));
    let functions =
        ["function_id", "package", "file", "function", "line", "col", "self_us", "samples"];
    assert_eq!(
        values(dir.path(), "functions", &functions),
        ["0 (own code) a.js f 3 5 400000 1", "1 (own code) a.js g 3 5 1200030 5"]
    );
    assert_eq!(values(dir.path(), "stacks", &["stack_id", "frames"]), ["0 [0]", "1 [1, 0]"]);
    assert_eq!(
        values(dir.path(), "stack_times", &TIMES),
        [
            "0 0 0 3 400000 1",
            "0 0 1 8 600000 1",
            // The sample counts where it began.
            "0 1000000 1 8 500000 1",
            "0 1000000 1 9 100000 1",
            "0 6000000 1 8 10 1",
            // A line before the function is not in the function.
            "1 0 1 null 20 1",
        ]
    );
    let threads =
        ["thread", "tid", "process", "busy_us", "gc_us", "program_us", "idle_us", "cpu_us"];
    assert_eq!(
        values(dir.path(), "threads", &threads),
        ["0 0 app 1700010 100000 0 5000000 null", "1 1 app 30 0 10 0 null"]
    );
    assert_eq!((tables.functions, tables.samples), (2, 9));
}

#[test]
fn a_table_of_many_rows_has_several_groups() {
    let names: Vec<String> = (0..400).map(|number| format!("f{number}")).collect();
    let stacks: Vec<Vec<&str>> = names.iter().map(|name| vec!["main", name.as_str()]).collect();
    let samples: Vec<Sampled<'_>> = (0..400)
        .flat_map(|_| stacks.iter().map(|stack| (stack.as_slice(), 7, SECOND / 400)))
        .collect();
    let (dir, _) = write(session(&[&samples]));
    let file = File::open(dir.path().join("stack_times.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let metadata = reader.metadata();
    let groups: Vec<i64> = metadata.row_groups().iter().map(|group| group.num_rows()).collect();
    assert_eq!(groups, [122_880, 160_000 - 122_880]);
    assert_eq!(values(dir.path(), "stack_times", &TIMES)[159_999], "0 399000000 399 7 2500 1");
}

#[test]
fn times_and_counts_stay_in_their_range() {
    let (dir, tables) =
        write(session(&[&[(&["f"], 3, i64::MAX), (&["f", "g"], u32::MAX, 9)], &[(&["f"], 3, 7)]]));
    let times = values(dir.path(), "stack_times", &TIMES);
    assert!(times.len() < 10 && times[0].starts_with("0 0 0 3 "), "{times:?}");
    assert!(tables.duration_ms > 0.0);
    let busy: Vec<String> = values(dir.path(), "groups", &["kind", "busy_us"]);
    assert!(busy[0].starts_with("run 922"), "{busy:?}");
}

#[test]
fn a_session_without_work_makes_empty_tables() {
    let (dir, tables) = write(session(&[&[(&["(idle)"], 0, SECOND)]]));
    for table in ["functions", "stacks", "stack_times"] {
        assert!(rows(dir.path(), table).is_empty(), "{table}");
    }
    assert_eq!(values(dir.path(), "groups", &["kind", "self_us"]), ["run 0"]);
    assert_eq!((tables.functions, rows(dir.path(), "threads").len()), (0, 1));
}

#[test]
fn runs_are_known_by_their_recordings() {
    let of = |change: fn(&mut Process)| {
        let mut session = session(&[&[(&["f"], 3, 9)], &[(&["g"], 3, 9)]]);
        session.processes.iter_mut().for_each(change);
        super::run_id::run_id(&session)
    };
    fn identify(process: &mut Process, key: Option<&str>) {
        let (boot, key) = ("b".to_owned(), key.map(str::to_owned));
        process.identity = Some(Identity { process_start_ms: 5, boot, key, pid_namespace: None });
    }
    let ids = [
        of(|_| {}),
        of(|process| identify(process, Some("k"))),
        of(|process| identify(process, None)),
        of(|process| process.threads[0].profiles[0].recorded_us.0 += 1),
        of(|process| process.threads[0].profiles[0].recorded_us.1 += 1),
    ];
    let mut distinct = ids.to_vec();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), ids.len(), "{ids:?}");
    // Other tools' files may tell a pid by their names, and nobody the order of threads.
    assert_eq!(of(|process| process.pid = 9), ids[0]);
    assert_eq!(of(|process| process.threads.reverse()), ids[0]);
    // Names of files in lakes depend on it.
    assert_eq!(ids[0], "2e3c1e82842ec01d");
}
