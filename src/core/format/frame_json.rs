//! Call frames as the DevTools protocol has them, written and read.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::ascii_json::encode_raw;
use super::number::or_none;
use super::script_id::{ScriptIdOffset, as_string, without_offset};
use super::url::true_url;
use crate::base::native_code::BuildId;
use crate::profile::frame::{CallFrame, FrameOrigin};

/// A call frame to be written.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallFrameJson<'a> {
    function_name: &'a str,
    #[serde(serialize_with = "as_string")]
    script_id: u64,
    url: &'a str,
    line_number: i32,
    column_number: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    build_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    package: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compiler: Option<Box<Self>>,
}

/// A member of a frame whose line and column are those of a source.
const SOURCE_MAP: &str = "source map";
/// A member of a frame whose line and column are those of transpiled code.
const TRANSPILED: &str = "transpiled";
/// A member of a frame of native code.
const MODULE: &str = "module";

impl<'a> CallFrameJson<'a> {
    /// Returns a frame with another URL and script id.
    pub fn new(frame: &'a CallFrame, url: &'a str, offset: ScriptIdOffset) -> Self {
        // DevTools would show the line in the file that compiled the text.
        let url = if frame.origin == FrameOrigin::Evaluated { "" } else { url };
        Self {
            function_name: &frame.function_name,
            script_id: offset.apply(frame),
            url,
            line_number: frame.line,
            column_number: frame.column,
            origin: match frame.origin {
                FrameOrigin::Executed | FrameOrigin::Evaluated => None,
                FrameOrigin::SourceMap => Some(SOURCE_MAP),
                FrameOrigin::Transpiled => Some(TRANSPILED),
                FrameOrigin::Module(_) => Some(MODULE),
            },
            build_id: frame.module().filter(BuildId::is_known).map(|build| build.to_string()),
            package: frame.package.as_deref(),
            compiler: frame.compiler.as_deref().map(|place| {
                // DevTools looks at no such member, so the URL needs no other form.
                Box::new(Self::new(place, &place.url, offset))
            }),
        }
    }

    /// Encodes the frame. Most frames stand in several nodes.
    pub fn encode(&self) -> Option<Box<RawValue>> {
        encode_raw(self)
    }
}

/// A call frame as it is read. Any member may be missing or of another type.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ParsedFrame<'a> {
    #[serde(borrow)]
    function_name: Option<Cow<'a, str>>,
    #[serde(deserialize_with = "or_none")]
    script_id: Option<i64>,
    #[serde(borrow)]
    url: Option<Cow<'a, str>>,
    #[serde(deserialize_with = "or_none")]
    line_number: Option<i64>,
    #[serde(deserialize_with = "or_none")]
    column_number: Option<i64>,
    #[serde(borrow)]
    origin: Option<&'a RawValue>,
    #[serde(borrow)]
    build_id: Option<&'a RawValue>,
    #[serde(borrow)]
    package: Option<&'a RawValue>,
    #[serde(borrow)]
    compiler: Option<&'a RawValue>,
}

/// Reads a `callFrame`, and undoes what writing changed in its URL and script id.
pub fn parse_frame(text: &str) -> CallFrame {
    let parsed = ParsedFrame::of(text);
    let compiler = parsed.compiler;
    let frame = parsed.into_frame();
    // Only functions of texts have one, and it has none itself.
    let place = compiler.filter(|_| frame.is_unnamed_text());
    let compiler = place.map(|place| Box::new(ParsedFrame::of(place.get()).into_frame()));
    CallFrame { compiler, ..frame }
}

impl<'a> ParsedFrame<'a> {
    fn of(text: &'a str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// Returns the frame, without its compiler.
    fn into_frame(self) -> CallFrame {
        let place = |number: Option<i64>| i32::try_from(number.unwrap_or(-1)).unwrap_or(-1).max(-1);
        CallFrame {
            function_name: self.function_name.unwrap_or_default().into_owned(),
            url: true_url(&self.url.unwrap_or_default()).into_owned(),
            script_id: without_offset(self.script_id.unwrap_or(0)),
            line: place(self.line_number),
            column: place(self.column_number),
            origin: match self.origin.map(|origin| origin.get().trim_matches('"')) {
                Some(SOURCE_MAP) => FrameOrigin::SourceMap,
                Some(TRANSPILED) => FrameOrigin::Transpiled,
                Some(MODULE) => {
                    let build = self.build_id.map(|id| id.get().trim_matches('"'));
                    FrameOrigin::Module(build.and_then(BuildId::parse).unwrap_or_default())
                }
                _ => FrameOrigin::Executed,
            },
            package: self.package.and_then(|name| serde_json::from_str(name.get()).ok()),
            compiler: None,
        }
    }
}

/// Returns whether a `callFrame` is that of the call tree's root.
pub fn is_root(call_frame: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct FunctionName<'a> {
        #[serde(borrow, rename = "functionName")]
        function_name: Cow<'a, str>,
    }
    serde_json::from_str::<FunctionName<'_>>(call_frame.get())
        .is_ok_and(|frame| frame.function_name == "(root)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_as_they_were_recorded() {
        let expected = CallFrame {
            function_name: "f".into(),
            url: "file:///r/node_modules/typescript/lib/tsc.js".into(),
            script_id: 17,
            line: 1,
            column: 2,
            ..CallFrame::root()
        };
        let own = r#"{"functionName":"f","scriptId":"1424200017","lineNumber":1,"columnNumber":2,
            "url":"file:///r/node_modules\\typescript/lib/tsc.js","codeType":"JS"}"#;
        assert_eq!(parse_frame(own), expected);
        assert_eq!(parse_frame(&own.replace("\"1424200017\"", "17")), expected);
    }

    #[test]
    fn a_package_is_written_and_read() {
        let url = "https://host/src/index.ts";
        let frame = CallFrame {
            url: url.into(),
            script_id: 3,
            package: Some("entities".into()),
            ..CallFrame::root()
        };
        let json = CallFrameJson::new(&frame, url, ScriptIdOffset::NONE).encode().unwrap();
        assert!(json.get().ends_with(r#","package":"entities"}"#), "{json}");
        assert_eq!(parse_frame(json.get()), frame);
        assert_eq!(parse_frame(r#"{"package":["x"]}"#).package, None);
    }

    #[test]
    fn a_native_function_is_written_and_read() {
        for (path, package) in [
            ("/usr/bin/node", Some("(native)")),
            ("/r/build/Release/a.node", None),
            ("/r/node_modules/sharp/libvips.so", None),
        ] {
            for build in [BuildId::new(&[1, 255]), BuildId::default()] {
                let frame = CallFrame::in_module(path, build, 99_001, 0x1234);
                let json = CallFrameJson::new(&frame, path, ScriptIdOffset::NONE).encode().unwrap();
                assert_eq!(parse_frame(json.get()), frame, "{json}");
                assert_eq!(frame.package.as_deref(), package);
                assert_eq!(frame.address(), Some(0x1234));
            }
        }
        let other = r#"{"origin":"module","buildId":[7],"functionName":"f","url":"/a"}"#;
        assert_eq!(parse_frame(other).module(), Some(BuildId::default()));
        assert_eq!(parse_frame(other).address(), None);
    }

    #[test]
    fn who_compiled_a_text_is_written_and_read() {
        let compiler = CallFrame {
            function_name: "render".into(),
            url: "/r/a.js".into(),
            script_id: 3,
            line: 672,
            column: 4,
            ..CallFrame::root()
        };
        let frame = CallFrame {
            function_name: "f".into(),
            script_id: 86,
            line: 0,
            column: 0,
            compiler: Some(Box::new(compiler)),
            ..CallFrame::root()
        };
        let json = CallFrameJson::new(&frame, "", ScriptIdOffset::NONE).encode().unwrap();
        assert_eq!(parse_frame(json.get()), frame);
        // A compiler has none itself, and a function of a file has none.
        let nested =
            json.get().replace(r#""url":"/r/a.js""#, r#""url":"","compiler":{"url":"b.js"}"#);
        assert!(parse_frame(&nested).compiler.is_some_and(|compiler| compiler.compiler.is_none()));
        let of_file = json.get().replacen(r#""url":"""#, r#""url":"/r/b.js""#, 1);
        assert_eq!(parse_frame(&of_file).compiler, None);
        for wrong in ["7", "[]", "null", r#""x""#] {
            let text = format!(r#"{{"scriptId":5,"lineNumber":0,"compiler":{wrong}}}"#);
            let compiler = parse_frame(&text).compiler;
            assert!(compiler.is_none_or(|compiler| compiler.url.is_empty()), "{wrong}");
        }
    }

    #[test]
    fn missing_members_are_none() {
        let none = CallFrame { function_name: String::new(), ..CallFrame::root() };
        for text in [
            "{}",
            r#"{"url":null,"scriptId":"x","lineNumber":null,"columnNumber":-7}"#,
            r#"{"scriptId":[1,{}],"lineNumber":{"a":[]},"columnNumber":true}"#,
        ] {
            assert!(serde_json::from_str::<ParsedFrame<'_>>(text).is_ok(), "{text}");
            assert_eq!(parse_frame(text), none, "{text}");
        }
        assert!(parse_frame(r#"{"functionName":"(idle)","scriptId":0}"#).is_meta());
    }
}
