//! The names of stack frames, in which writers put the place of a function.

use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::position::SourcePosition;

/// What a stack frame tells beside its name.
#[derive(Debug, Default)]
pub(super) struct FramePlaces {
    /// Category of the frame.
    pub category: String,
    /// Line and column of the function, from 1.
    pub function: Option<(i64, i64)>,
    /// Line and column that ran, from 1.
    pub position: Option<(i64, i64)>,
    /// Address of a function of which only bytecode is known.
    pub address: Option<i64>,
}

/// URL of functions of which only bytecode is known.
const BYTECODE: &str = "hermes:bytecode";

/// Returns the call frame of a stack frame, and the position that ran if it is known beside the place of the
/// function. `script` returns the number of a URL.
pub(super) fn call_frame(
    name: &str,
    places: &FramePlaces,
    mut script: impl FnMut(&str) -> u32,
) -> (CallFrame, SourcePosition) {
    let nowhere = SourcePosition::default();
    if let Some(state) = state(name, &places.category) {
        return (CallFrame::state(state), nowhere);
    }
    let zero_based = |number: i64| i32::try_from(number - 1).unwrap_or(-1).max(-1);
    let frame = |name: &str, url: &str, (line, column): (i64, i64), script_id| CallFrame {
        function_name: name.to_owned(),
        url: url.to_owned(),
        script_id,
        line: zero_based(line),
        column: zero_based(column),
        ..CallFrame::root()
    };
    if let Some((name, url, written)) = in_parentheses(name).or_else(|| of_perf(name)) {
        let small = |number: i64| u32::try_from(number).unwrap_or(0);
        let position = places.position.unwrap_or(written);
        let position = match places.function {
            Some(_) => SourcePosition { line: small(position.0), column: small(position.1) },
            None => nowhere,
        };
        return (frame(name, url, places.function.unwrap_or(written), script(url)), position);
    }
    if places.category == "JavaScript" {
        let place = (1, places.address.unwrap_or(-1).saturating_add(1));
        return (frame(name, BYTECODE, place, script(BYTECODE)), nowhere);
    }
    (CallFrame::state(name), nowhere)
}

/// Returns V8's name of a state that is written as a frame.
fn state(name: &str, category: &str) -> Option<&'static str> {
    Some(match name {
        "[root]" | "(root)" => "(root)",
        "[idle]" | "(idle)" => CallFrame::IDLE,
        "[program]" | "(program)" => CallFrame::PROGRAM,
        CallFrame::GC => CallFrame::GC,
        // Hermes names the kind of the collection.
        _ if category == "Metadata" && name.starts_with("[GC") => CallFrame::GC,
        _ => return None,
    })
}

/// Splits `render(/app/index.js:10:3)`. URLs have parentheses too, as those of routes do.
fn in_parentheses(name: &str) -> Option<(&str, &str, (i64, i64))> {
    let inside = name.strip_suffix(')')?;
    let mut depth = 1_usize;
    let mut open = None;
    for (at, byte) in inside.bytes().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' => {
                depth -= 1;
                if depth == 0 {
                    open = Some(at);
                    break;
                }
            }
            _ => {}
        }
    }
    let open = open?;
    let (url, place) = with_place(&inside[open + 1..])?;
    Some((&inside[..open], url, place))
}

/// Splits `LazyCompile:*render /app/index.js:10:3`, as V8 names code for perf.
fn of_perf(name: &str) -> Option<(&str, &str, (i64, i64))> {
    const KINDS: [&str; 6] =
        ["LazyCompile:", "Function:", "Eval:", "Script:", "JS:", "InterpretedFunction:"];
    let rest = KINDS.iter().find_map(|kind| name.strip_prefix(kind))?;
    let (function, place) = rest.trim_start_matches(['~', '*', '^', '+']).split_once(' ')?;
    let (url, place) = with_place(place).or_else(|| {
        let (url, line) = place.rsplit_once(':')?;
        Some((url, (number(line)?, 0)))
    })?;
    Some((function, url, place))
}

/// Splits `/app/index.js:10:3`.
fn with_place(text: &str) -> Option<(&str, (i64, i64))> {
    let (rest, column) = text.rsplit_once(':')?;
    let (url, line) = rest.rsplit_once(':')?;
    Some((url, (number(line)?, number(column)?)))
}

fn number(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, places: &FramePlaces) -> (String, String, i32, i32, bool) {
        let (frame, _) = call_frame(name, places, |_| 7);
        let is_native = frame.is_native();
        (frame.function_name, frame.url, frame.line, frame.column, is_native)
    }

    #[test]
    fn names_hold_the_places_of_functions() {
        for (name, function, url, line, column) in [
            ("render(/app/index.js:10:3)", "render", "/app/index.js", 9, 2),
            ("(/app/index.js:1:1)", "", "/app/index.js", 0, 0),
            (
                "foo(http://h:8081/i.bundle?platform=ios&dev=true:1:2)",
                "foo",
                "http://h:8081/i.bundle?platform=ios&dev=true",
                0,
                1,
            ),
            ("Tabs(/app/(tabs)/_layout.tsx:5:6)", "Tabs", "/app/(tabs)/_layout.tsx", 4, 5),
            ("A.(anonymous)(/a.js:1:2)", "A.(anonymous)", "/a.js", 0, 1),
            ("f(C:\\a.js:3:4)", "f", "C:\\a.js", 2, 3),
            ("LazyCompile:*draw /app/d.js:7:2", "draw", "/app/d.js", 6, 1),
            ("LazyCompile:~draw file:///app/d.js:7", "draw", "file:///app/d.js", 6, -1),
        ] {
            let expected = (function.to_owned(), url.to_owned(), line, column, false);
            assert_eq!(read(name, &FramePlaces::default()), expected, "{name}");
        }
    }

    #[test]
    fn other_names_are_those_of_native_functions() {
        for name in [
            "main",
            "std::vector<int>::push_back(int const&)",
            "[Native] now(1)",
            "f(a:b:c)",
            "f(/a.js:1:)",
            ")",
            "())",
            "LazyCompile:x",
            "é(é:1)",
        ] {
            let expected = (name.to_owned(), String::new(), -1, -1, true);
            assert_eq!(read(name, &FramePlaces::default()), expected, "{name}");
        }
    }

    #[test]
    fn states_have_the_names_of_v8() {
        let of =
            |category: &str| FramePlaces { category: category.into(), ..FramePlaces::default() };
        assert_eq!(read("[root]", &of("root")).0, "(root)");
        assert_eq!(read("[GC Young Gen]", &of("Metadata")).0, "(garbage collector)");
        assert_eq!(read("[GC Young Gen]", &of("Native")).0, "[GC Young Gen]");
    }

    #[test]
    fn the_function_is_told_apart_from_the_line_that_ran() {
        let places = FramePlaces {
            category: "JavaScript".into(),
            function: Some((4, 2)),
            position: Some((10, 3)),
            address: None,
        };
        let (frame, position) = call_frame("render(/a.js:10:3)", &places, |_| 1);
        assert_eq!((frame.line, frame.column), (3, 1));
        assert_eq!(position, SourcePosition { line: 10, column: 3 });
        let address = Some(500);
        let places =
            FramePlaces { category: "JavaScript".into(), address, ..FramePlaces::default() };
        assert_eq!(read("f", &places), ("f".into(), BYTECODE.into(), 0, 500, false));
    }
}
