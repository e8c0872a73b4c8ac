use std::io;

use super::*;
use crate::formats::trace::scan::buffer::BUFFER_BYTES;
use cpu_prof_core::testing::reader::Pieces;
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Debug, Default, PartialEq, Eq)]
struct Scanned {
    events: Vec<String>,
    members: Vec<(String, String)>,
    is_torn: bool,
}

fn scan_by(bytes: &[u8], piece: usize) -> Result<Scanned, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut scanner = Scanner::new(Pieces(bytes, piece));
    let mut scanned = Scanned::default();
    while let Some(item) = scanner.next().map_err(|error| error.to_string())? {
        match item {
            Item::Event(event) => scanned.events.push(text(event)),
            Item::Member { key, value } => scanned.members.push((key.into(), text(value))),
        }
    }
    scanned.is_torn = scanner.is_torn();
    Ok(scanned)
}

/// Scans a file, whose items must not depend on the size of the pieces.
fn scan(bytes: &[u8]) -> Scanned {
    let whole = scan_by(bytes, usize::MAX).unwrap();
    assert_eq!(scan_by(bytes, 1).unwrap(), whole);
    whole
}

#[test]
fn damage_at_the_end_of_the_buffer_is_a_cut() {
    struct Damaged<'a>(&'a [u8]);
    impl Read for Damaged<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            match self.0.read(out)? {
                0 => Err(io::ErrorKind::UnexpectedEof.into()),
                length => Ok(length),
            }
        }
    }
    let mut scanner = Scanner::new(Damaged(b"{\"traceEvents\":[{\"a\":1},"));
    assert!(matches!(scanner.next(), Ok(Some(Item::Event(b"{\"a\":1}")))));
    assert!(matches!(scanner.next(), Ok(None)));
    assert!(scanner.is_torn());
    assert!(Scanner::new(Damaged(b"")).next().is_err());
}

fn events(text: &str) -> Vec<String> {
    scan(text.as_bytes()).events
}

#[test]
fn both_forms_are_read() {
    let list = r#"[{"a":1},{"b":"}]\"{"} , {"c":[{"d":{}}]}]"#;
    let whole = [r#"{"a":1}"#, r#"{"b":"}]\"{"}"#, r#"{"c":[{"d":{}}]}"#];
    assert_eq!(events(list), whole);
    assert!(!scan(list.as_bytes()).is_torn);
    let object = format!(
        "\u{feff} {{ \"a\" : 1.5e3,\"traceEvents\" :\n{list}, \"b\":\"x\" ,\"c\":{{\"d\":[]}},\"e\":null}} "
    );
    let scanned = scan(object.as_bytes());
    assert_eq!(scanned.events, whole);
    let members = [("a", "1.5e3"), ("b", "\"x\""), ("c", "{\"d\":[]}"), ("e", "null")];
    assert_eq!(scanned.members, members.map(|(key, value)| (key.into(), value.into())));
    assert!(!scanned.is_torn);
}

#[test]
fn a_list_may_lack_its_end_and_an_object_may_not() {
    for text in [r#"[{"a":1},{"b":2}"#, "[{\"a\":1},\n{\"b\":2},\n"] {
        let scanned = scan(text.as_bytes());
        assert_eq!(scanned.events.len(), 2);
        assert!(!scanned.is_torn);
        let scanned = scan(format!("{{\"traceEvents\":{text}").as_bytes());
        assert_eq!(scanned.events.len(), 2);
        assert!(scanned.is_torn);
    }
    assert!(scan(br#"{"traceEvents":[]"#).is_torn);
    assert!(scan(br#"{"traceEvents":["#).is_torn);
    assert!(scan(br#"{"nodes":[1,2"#).is_torn);
    assert!(!scan(b"[]").is_torn);
    assert!(!scan(b"{}").is_torn);
}

#[test]
fn values_that_are_not_events_are_skipped() {
    let scanned = scan(br#"[null,{"a":1},5 ,"x",[1,{"b":2}],true,{"c":3},null]"#);
    assert_eq!(scanned.events, [r#"{"a":1}"#, r#"{"c":3}"#]);
    assert!(!scanned.is_torn);
}

#[test]
fn a_hole_is_left_out() {
    let hole = "\0".repeat(5000);
    for text in [
        format!("[{{\"a\":1}},\n{{\"b\":\"{hole}\"}},\n{{\"c\":3}}]"),
        format!("[{{\"a\":1}},\n{{\"b\":2{hole}\n{{\"c\":3}}]"),
        "[{\"a\":1},\n{\"b\":\"cut\n{\"c\":3}]".to_owned(),
    ] {
        let scanned = scan(text.as_bytes());
        assert!(scanned.events.starts_with(&[r#"{"a":1}"#.into()]), "{scanned:?}");
        assert!(scanned.events.ends_with(&[r#"{"c":3}"#.into()]), "{scanned:?}");
    }
}

/// Two events as in a trace of ours.
const OWN: &str = concat!(
    "{\"metadata\":{\"source\":\"cpu-prof\",\"x\":1},\"traceEvents\":[\n",
    "{\"cat\":\"a\",\"args\":{\"n\":\"{\"}},\n",
    "{\"cat\":\"b\",\"args\":{}}\n]}"
);

#[test]
fn an_own_trace_is_read_by_lines() {
    let scanned = scan(OWN.as_bytes());
    assert_eq!(scanned.events, [r#"{"cat":"a","args":{"n":"{"}}"#, r#"{"cat":"b","args":{}}"#]);
    assert_eq!(scanned.members[0].0, "metadata");
    assert!(!scanned.is_torn);
}

#[test]
fn an_own_trace_cut_anywhere_keeps_its_whole_lines() {
    let whole = scan(OWN.as_bytes());
    let first = OWN.find("{\"cat\"").unwrap();
    for length in 1..OWN.len() - 1 {
        let scanned = scan(&OWN.as_bytes()[..length]);
        assert!(scanned.is_torn, "{length}");
        assert_eq!(scanned.events, whole.events[..scanned.events.len()], "{length}");
        let lines = OWN[..length].get(first..).unwrap_or_default().matches("},\n").count();
        assert!(scanned.events.len() >= lines, "{length}");
    }
    // A page of the disk that was never written.
    let hole = OWN.replace("{\"n\":\"{\"}}", "{\"n\":\0\0}}");
    let scanned = scan(hole.as_bytes());
    assert_eq!(scanned.events, whole.events[1..]);
    assert!(scanned.is_torn);
}

#[test]
fn an_own_trace_that_another_tool_wrote_again_is_read() {
    let value: serde_json::Value = serde_json::from_str(OWN).unwrap();
    for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
        let scanned = scan(text.as_bytes());
        assert_eq!(scanned.events.len(), 2);
        for event in &scanned.events {
            assert!(serde_json::from_str::<serde_json::Value>(event).is_ok());
        }
    }
}

#[test]
fn other_files_are_errors() {
    for text in ["hello", "\u{1f}\u{8b}", "5", "\"x\""] {
        assert!(scan_by(text.as_bytes(), 1).unwrap_err().contains("not a JSON object"), "{text}");
    }
    assert!(scan_by(b"\0\0\0,\n{}", 1).unwrap_err().contains("begins with zeros"));
    for text in ["", " \n"] {
        assert!(scan_by(text.as_bytes(), 1).unwrap_err().contains("empty"));
    }
}

#[test]
fn a_disk_error_is_returned_and_file_damage_repaired() {
    struct Fails<'a>(Pieces<'a>, io::ErrorKind);
    impl Read for Fails<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            match self.0.read(out)? {
                0 => Err(self.1.into()),
                length => Ok(length),
            }
        }
    }
    let read = |kind| {
        let mut scanner = Scanner::new(Fails(Pieces(b"[{\"a\":1},{", usize::MAX), kind));
        assert!(matches!(scanner.next(), Ok(Some(Item::Event(_)))));
        let is_end = matches!(scanner.next(), Ok(None));
        (is_end, scanner.is_torn())
    };
    assert_eq!(read(io::ErrorKind::UnexpectedEof), (true, true));
    assert_eq!(read(io::ErrorKind::PermissionDenied), (false, false));
}

#[test]
fn the_buffer_grows_for_a_large_event_and_shrinks_again() {
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(3 * BUFFER_BYTES));
    let text = format!("[{large},{}{{\"b\":2}}]", "{\"c\":3},".repeat(BUFFER_BYTES));
    let mut scanner = Scanner::new(Pieces(text.as_bytes(), usize::MAX));
    assert_eq!(scanner.next().unwrap(), Some(Item::Event(large.as_bytes())));
    let mut count = 0;
    while scanner.next().unwrap().is_some() {
        count += 1;
    }
    assert_eq!(count, BUFFER_BYTES + 1);
    assert_eq!(scanner.buffer.bytes.len(), BUFFER_BYTES);
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        "[\\PC\"\\\\{}\\[\\]\n,:]{0,8}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Into::into),
            vec(("[\\PC\"]{0,4}", inner), 0..4)
                .prop_map(|members| { serde_json::Value::Object(members.into_iter().collect()) }),
        ]
    })
}

proptest! {
    #[test]
    fn any_events_are_found_whole(
        values in vec(any_json(), 0..6),
        pretty: bool,
        own: bool,
        piece in 1_usize..40,
    ) {
        let objects: Vec<_> = values.into_iter().filter(|value| value.is_object()).collect();
        let whole = serde_json::json!({ "traceEvents": objects, "z": { "a": "]" } });
        let mut text =
            if pretty { serde_json::to_string_pretty(&whole) } else { serde_json::to_string(&whole) }
                .unwrap();
        if own {
            text = text.replacen('{', "{\"source\":\"cpu-prof\",", 1);
        }
        let scanned = scan_by(text.as_bytes(), piece).unwrap();
        let events: Vec<serde_json::Value> =
            scanned.events.iter().map(|event| serde_json::from_str(event).unwrap()).collect();
        prop_assert_eq!(events, objects);
        prop_assert!(!scanned.is_torn);
    }

    #[test]
    fn any_bytes_come_to_an_end(bytes: Vec<u8>, piece in 1_usize..9) {
        let _ = scan_by(&bytes, piece);
    }

    #[test]
    fn any_brackets_come_to_an_end(
        text in "(\\{\"traceEvents\":\\[|\\[)[\\[\\]{}\",:\\\\\n0a \0]{0,40}",
        piece in 1_usize..9,
    ) {
        prop_assert_eq!(
            scan_by(text.as_bytes(), piece),
            scan_by(text.as_bytes(), usize::MAX)
        );
    }
}
