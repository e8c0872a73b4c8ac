use std::fs;

use super::*;

/// Writes files, and returns their folder.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

fn frame(dir: &tempfile::TempDir, file: &str, name: &str, line: i32, column: i32) -> CallFrame {
    CallFrame {
        function_name: name.into(),
        url: format!("file://{}/{file}", dir.path().display()),
        script_id: 1,
        line,
        column,
        ..CallFrame::root()
    }
}

/// The end of the URL, the line and the column of a frame in its source.
fn place(frame: &CallFrame) -> (&str, i32, i32) {
    (frame.url.rsplit('/').next().unwrap_or_default(), frame.line, frame.column)
}

// The function `a` of the first line comes from line 5 of a.ts, and is `render` there.
const CODE: &str = "function a(b){return b}\n//# sourceMappingURL=code.js.map\n";
const MAP: &str =
    r#"{"version":3,"sources":["a.ts"],"names":["render"],"mappings":"AAIA,SAASA,EAAG"}"#;

#[test]
fn a_function_is_found_with_its_name() {
    let dir = folder(&[("code.js", CODE), ("code.js.map", MAP)]);
    let mut originals = Originals::default();
    let found = originals.frame(&frame(&dir, "code.js", "a", 0, 10)).unwrap();
    assert_eq!(found.frame.function_name, "render");
    assert_eq!(place(&found.frame), ("a.ts", 4, 9));
    assert_eq!(found.frame.origin, FrameOrigin::SourceMap);
    // A frame of a source stays.
    assert!(originals.frame(&found.frame).is_none());
    // The module itself.
    let top = originals.frame(&frame(&dir, "code.js", "", 0, 0)).unwrap();
    assert_eq!(place(&top.frame), ("a.ts", 0, 0));
    assert_eq!(originals.notes(), [""; 0]);
}

#[test]
fn other_frames_stay_as_they_are() {
    let dir = folder(&[("code.js", CODE), ("code.js.map", MAP)]);
    let mut originals = Originals::default();
    for other in [
        CallFrame::state(CallFrame::IDLE),
        CallFrame { url: "node:fs".into(), ..frame(&dir, "", "f", 1, 1) },
        CallFrame { url: "https://host/code.js".into(), ..frame(&dir, "", "f", 1, 1) },
        CallFrame { url: "[eval]".into(), ..frame(&dir, "", "f", 1, 1) },
        frame(&dir, "gone.js", "f", 1, 1),
    ] {
        assert!(originals.frame(&other).is_none(), "{other:?}");
    }
    assert_eq!(originals.notes(), [""; 0]);
}

#[test]
fn a_function_that_is_not_where_v8_says_is_not_mapped() {
    let dir = folder(&[("code.js", CODE), ("code.js.map", MAP), ("b.ts", CODE), ("b.js", "f()")]);
    let mut originals = Originals::default();
    assert!(originals.frame(&frame(&dir, "code.js", "other", 0, 10)).is_none());
    assert!(originals.frame(&frame(&dir, "code.js", "a", 7, 10)).is_none());
    let [note] = &*originals.notes() else { panic!("{:?}", originals.notes()) };
    assert!(
        note.contains("changed after they were recorded") && note.contains("code.js"),
        "{note}"
    );
    let transpiled = originals.frame(&frame(&dir, "b.ts", "a", 3, 1));
    // Its comment names the map of another file, which has no such function.
    assert!(transpiled.is_none());
    let plain = originals.frame(&frame(&dir, "b.js", "a", 3, 1)).unwrap();
    assert_eq!((plain.frame.origin, plain.frame.line), (FrameOrigin::Transpiled, 3));
    let position = SourcePosition::line(5);
    assert_eq!(originals.position(&frame(&dir, "b.js", "a", 3, 1), &plain, position), position);
}

#[test]
fn a_module_in_the_wrapper_of_jest_has_not_changed() {
    let dir = folder(&[("code.js", CODE), ("code.js.map", MAP)]);
    let mut originals = Originals::default();
    let wrapper = "Object.<anonymous>";
    for (name, column) in [(wrapper, 31), ("a", 82 + 10), (wrapper, 82 + 31), ("", 82)] {
        // The columns of the line do not fit the map either.
        assert!(originals.frame(&frame(&dir, "code.js", name, 0, column)).is_none(), "{name}");
    }
    assert_eq!(originals.notes(), [""; 0]);
    assert!(originals.frame(&frame(&dir, "code.js", "b", 0, 82 + 10)).is_none());
    assert!(originals.frame(&frame(&dir, "code.js", wrapper, 1, 31)).is_none());
    assert!(originals.notes()[0].contains("changed after they were recorded"));
}

#[test]
fn devices_and_folders_are_not_read() {
    let dir = folder(&[("endless.js", "f()\n//# sourceMappingURL=/dev/zero")]);
    let mut originals = Originals::default();
    let zero = CallFrame { url: "/dev/zero".into(), ..frame(&dir, "", "f", 1, 1) };
    assert!(originals.frame(&zero).is_none());
    assert!(originals.frame(&frame(&dir, "", "f", 0, 1)).is_none());
    originals.frame(&frame(&dir, "endless.js", "f", 0, 1));
    assert!(originals.notes()[0].contains("/dev/zero"));
}

#[test]
fn maps_are_followed_until_there_is_none() {
    let second = r#"{"version":3,"sources":["first.js"],"names":[],"mappings":"AAAA,SAAS,CAAC"}"#;
    let first = r#"{"version":3,"sources":["src.ts"],"names":[],"mappings":"AAQA,SAAS,CAAC"}"#;
    let itself = r#"{"version":3,"sources":["loop.js"],"names":[],"mappings":"AAAA,SAAS,CAAC"}"#;
    let code = "function f(){}";
    let dir = folder(&[
        ("second.js", code),
        ("second.js.map", second),
        ("first.js", code),
        ("first.js.map", first),
        ("loop.js", code),
        ("loop.js.map", itself),
    ]);
    let mut originals = Originals::default();
    let mut found = |file: &str| originals.frame(&frame(&dir, file, "f", 0, 10)).unwrap().frame;
    assert_eq!(place(&found("second.js")), ("src.ts", 8, 10));
    assert_eq!(place(&found("loop.js")), ("loop.js", 0, 10));
}

#[test]
fn a_long_line_gives_no_line_without_a_column() {
    let line = |position| {
        let mappings = "AAAA,SAAS,CAAC,gTACT";
        let map =
            format!(r#"{{"version":3,"sources":["a.ts"],"names":[],"mappings":"{mappings}"}}"#);
        let code = format!("function f(){{{}g()}}", " ".repeat(400));
        let dir = folder(&[("long.js", &code), ("long.js.map", &map)]);
        let mut originals = Originals::default();
        let frame = frame(&dir, "long.js", "f", 0, 10);
        let original = originals.frame(&frame).unwrap();
        originals.position(&frame, &original, position)
    };
    assert_eq!(line(SourcePosition::line(1)), SourcePosition::default());
    assert_eq!(line(SourcePosition { line: 1, column: 400 }).line, 2);
    assert_eq!(line(SourcePosition { line: 1, column: 30 }).line, 1);
    assert_eq!(line(SourcePosition::line(9)), SourcePosition::default());
}

#[test]
fn what_is_too_large_is_said() {
    let dir = folder(&[("code.js", CODE), ("hidden.js", "function a(b){return b}")]);
    for name in ["huge.js", "code.js.map", "hidden.js.map"] {
        fs::File::create(dir.path().join(name)).unwrap().set_len(1 << 29).unwrap();
    }
    let mut originals = Originals::default();
    for name in ["huge.js", "code.js", "hidden.js"] {
        assert!(originals.frame(&frame(&dir, name, "a", 0, 10)).is_none(), "{name}");
    }
    let [note] = &*originals.notes() else { panic!("{:?}", originals.notes()) };
    for text in
        ["huge.js (it has more than 256 MB)", "code.js.map: it has more", "hidden.js.map: it"]
    {
        assert!(note.contains(text), "{note}");
    }
}

#[test]
fn long_names_are_cut_in_notes() {
    let code = format!("f()\n//# sourceMappingURL={}", "x".repeat(100_000));
    let dir = folder(&[("code.js", &code)]);
    let mut originals = Originals::default();
    originals.frame(&frame(&dir, "code.js", "f", 0, 1));
    assert!(originals.notes()[0].len() < 1000);
}

#[test]
fn what_is_on_another_machine_is_not_read() {
    let dir = folder(&[("code.js", CODE), ("code.js.map", MAP)]);
    let mut originals = Originals::default();
    let path = dir.path().display();
    let found = frame(&dir, "code.js", "a", 0, 10);
    for url in [
        // On Linux, this would be the file that is there.
        format!("file:///{path}/code.js"),
        format!("/{path}/code.js"),
        "file://server/share/code.js".to_owned(),
        r"\\server\share\code.js".to_owned(),
        "file:///C:/repo/code.js".to_owned(),
    ] {
        assert!(originals.frame(&CallFrame { url, ..found.clone() }).is_none());
    }
    assert!(originals.frame(&found).is_some());
    assert_eq!(originals.notes(), [""; 0]);

    // The code is here, and names a map that is not.
    let shared = CODE.replace("code.js.map", "//server/share/code.js.map");
    let dir = folder(&[("code.js", &shared)]);
    assert!(originals.frame(&frame(&dir, "code.js", "a", 0, 10)).is_none());
    let notes = originals.notes().join(" ");
    assert!(notes.contains("//server/share/code.js.map: it is no file of a local disk"), "{notes}");
}

#[test]
fn code_in_memory_is_that_of_its_file_on_windows() {
    for (source, expected) in [
        // A transpiler can name the file itself relative to any folder.
        ("a.ts", "file:///C:/Repo/src/A.ts"),
        (r"C:\\elsewhere\\a.ts", "file:///C:/Repo/src/A.ts"),
        ("../lib/b.ts", "file:///C:/Repo/lib/b.ts"),
        (r"..\\lib\\b.ts", "file:///C:/Repo/lib/b.ts"),
    ] {
        let mut originals = Originals::default();
        let url = "file:///C:/Repo/src/A.ts".to_owned();
        originals
            .add_map(ScriptKey { url: url.clone(), script_id: 1 }, MAP.replace("a.ts", source));
        let dir = folder(&[]);
        let recorded = CallFrame { url, ..frame(&dir, "", "a", 0, 10) };
        let found = originals.frame(&recorded).unwrap();
        assert_eq!(found.frame.url, expected, "{source}");
    }
}

#[test]
fn a_source_elsewhere_belongs_to_the_package_that_ships_its_code() {
    let dir = folder(&[]);
    let modules = dir.path().join("node_modules/entities/dist");
    fs::create_dir_all(&modules).unwrap();
    fs::create_dir_all(dir.path().join("dist")).unwrap();
    let mut originals = Originals::default();
    let mut found = |file: &str, source: &str| {
        fs::write(dir.path().join(file), CODE.replace("code.js.map", "x.js.map")).unwrap();
        let map = dir.path().join(file).with_file_name("x.js.map");
        fs::write(map, MAP.replace("a.ts", source)).unwrap();
        let original = originals.frame(&frame(&dir, file, "a", 0, 10)).unwrap().frame;
        original.package.map(|package| (original.url, package.to_string()))
    };
    let address = "https://raw.githubusercontent.com/fb55/entities/61afd4/src/index.ts";
    assert_eq!(
        found("node_modules/entities/dist/a.js", address),
        Some((address.to_owned(), "entities".to_owned()))
    );
    // The source's own place tells, or there is no package.
    assert_eq!(found("node_modules/entities/dist/b.js", "../src/b.ts"), None);
    assert_eq!(found("dist/a.js", address), None);
    assert_eq!(found("dist/b.js", "../node_modules/other/src/b.ts"), None);
}
