//! Decodes the JSON of a source map.

use std::borrow::Cow;

use memchr::{memchr_iter, memchr2_iter};
use oxc_sourcemap::{JSONSourceMap, Token};
use serde::Deserialize;
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::map::SourceMap;
use cpu_prof_core::profile::frame::MAX_NAME;

/// Memory that a name takes beside its text, in all lists of it: bytes.
const NAME: usize = 128;

/// Why a source map cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MapError {
    /// The text is not the JSON of a source map.
    #[error("it is not a source map: {}", reason(.0))]
    Json(#[from] serde_json::Error),
    /// The JSON has no mappings.
    #[error("it is not a source map: it has no mappings")]
    NoMappings,
    /// The mappings are damaged.
    #[error("its mappings are damaged: {0}")]
    Mappings(#[from] oxc_sourcemap::Error),
    /// The decoded map would be too large.
    #[error("it is too large: decoding takes more than the {0} MB that are left for code and maps")]
    TooLarge(usize),
}

/// Returns what is wrong with a text. Serde's own message can quote the file, which anybody can have
/// named.
fn reason(error: &serde_json::Error) -> String {
    match error.classify() {
        Category::Data => format!("a value has the wrong type, at line {}", error.line()),
        _ => error.to_string(),
    }
}

/// A map as it is written. The texts of the sources are skipped.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MapJson<'a> {
    #[serde(borrow, default)]
    source_root: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    sources: Option<&'a RawValue>,
    #[serde(borrow, default)]
    names: Option<&'a RawValue>,
    #[serde(default)]
    mappings: Option<String>,
    #[serde(borrow, default)]
    sections: Option<Vec<SectionJson<'a>>>,
}

/// A map of a part of the generated code.
#[derive(Debug, Deserialize)]
struct SectionJson<'a> {
    offset: OffsetJson,
    #[serde(borrow)]
    map: MapJson<'a>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct OffsetJson {
    line: u32,
    column: u32,
}

/// The parts of a map so far.
#[derive(Default)]
struct MapParts {
    tokens: Vec<Token>,
    sources: Vec<String>,
    names: Vec<String>,
}

/// Decodes a map, which may consist of sections. Takes its memory off the bytes that are `left`.
pub fn decode(json: &str, left: &mut usize) -> Result<SourceMap, MapError> {
    // Servers put such a line before JSON, so that no other site can run the JSON as a script.
    let json = match json.strip_prefix(")]}") {
        Some(rest) => rest.split_once('\n').map_or("", |(_, json)| json),
        None => json.strip_prefix('\u{feff}').unwrap_or(json),
    };
    let mut parts = MapParts::default();
    parts.add(serde_json::from_str(json)?, OffsetJson { line: 0, column: 0 }, left)?;
    Ok(SourceMap::new(parts.tokens, parts.sources, parts.names))
}

impl MapParts {
    /// Adds a map, or its sections. `offset` is the place of the map's first line.
    fn add(
        &mut self,
        json: MapJson<'_>,
        offset: OffsetJson,
        left: &mut usize,
    ) -> Result<(), MapError> {
        let MapJson { source_root, sources, names, mappings, sections } = json;
        if mappings.is_none() && sections.is_none() {
            return Err(MapError::NoMappings);
        }
        for SectionJson { offset: inner, map } in sections.into_iter().flatten() {
            let column = if inner.line == 0 { offset.column } else { 0 };
            let line = offset.line.saturating_add(inner.line);
            let column = column.saturating_add(inner.column);
            self.add(map, OffsetJson { line, column }, left)?;
        }
        let (mappings, root) = (mappings.unwrap_or_default(), source_root.unwrap_or_default());
        let size = size_of_tokens(&mappings)
            + size_of_names(names, 0)
            + size_of_names(sources, root.len());
        *left = left.checked_sub(size).ok_or(MapError::TooLarge(*left >> 20))?;
        let sources: Vec<Option<Cow<'_, str>>> = list(sources)?;
        let names: Vec<String> = list(names)?;
        let parts = oxc_sourcemap::SourceMap::from_json(JSONSourceMap {
            version: 3,
            file: None,
            mappings,
            source_root: None,
            sources: vec![String::new(); sources.len()],
            sources_content: None,
            names,
            debug_id: None,
            x_google_ignore_list: None,
        })?
        .into_parts();
        let (first_source, first_name) = (self.sources.len() as u32, self.names.len() as u32);
        if self.tokens.is_empty() && (offset.line, offset.column) == (0, 0) {
            self.tokens = parts.tokens.into_vec();
        } else {
            self.tokens.extend(parts.tokens.iter().map(|token| {
                let column = if token.get_dst_line() == 0 { offset.column } else { 0 };
                Token::new(
                    token.get_dst_line().saturating_add(offset.line),
                    token.get_dst_col().saturating_add(column),
                    token.get_src_line(),
                    token.get_src_col(),
                    token.get_source_id().map(|source| source + first_source),
                    token.get_name_id().map(|name| name + first_name),
                )
            }));
        }
        let short = |name: Cow<'_, str>| {
            if name.len() > MAX_NAME { String::new() } else { name.into_owned() }
        };
        self.names.extend(parts.names.into_iter().map(short));
        let name = |source: Option<Cow<'_, str>>| with_root(&root, &source.unwrap_or_default());
        self.sources.extend(sources.into_iter().map(name));
        Ok(())
    }
}

/// Reads a list of names, which can be missing.
fn list<'a, T: Deserialize<'a> + Default>(json: Option<&'a RawValue>) -> Result<T, MapError> {
    Ok(json.map_or(Ok(T::default()), |json| serde_json::from_str(json.get()))?)
}

/// Returns the memory that the decoded mappings take at most.
fn size_of_tokens(mappings: &str) -> usize {
    size_of::<Token>() * memchr2_iter(b',', b';', mappings.as_bytes()).count()
}

/// Returns the memory that a list of names takes at most, with a root before each.
fn size_of_names(names: Option<&RawValue>, root: usize) -> usize {
    let Some(names) = names.map(RawValue::get) else { return 0 };
    let count = 1 + memchr_iter(b',', names.as_bytes()).count();
    names.len().saturating_add(count.saturating_mul(NAME.saturating_add(root)))
}

/// Puts the root of the sources before a source, as ECMA-426 says. A source whose name is too long
/// has none.
fn with_root(root: &str, source: &str) -> String {
    match root {
        _ if root.len() + source.len() > MAX_NAME => String::new(),
        "" => source.to_owned(),
        _ if source.is_empty() => String::new(),
        _ if root.ends_with('/') => format!("{root}{source}"),
        _ => format!("{root}/{source}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(json: &str) -> Result<SourceMap, MapError> {
        super::decode(json, &mut (1 << 30))
    }

    /// Source, line and column of the token at a place, and its name.
    fn at(map: &SourceMap, line: u32, column: u32) -> Option<(&str, u32, u32, Option<&str>)> {
        let token = map.tokens_until(line, column).next()?;
        let spot = token.original?;
        Some((map.sources[spot.source].as_str(), spot.line, spot.column, token.name))
    }

    #[test]
    fn tokens_are_found_by_line_and_column() {
        // Columns 0 and 4 of the first line, column 2 of the third, which comes from no source.
        let map = decode(
            r#"{"version":3,"sources":["a.ts",null],"names":["render"],"mappings":"AAAA,IAEIA;;E"}"#,
        )
        .unwrap();
        assert_eq!(at(&map, 0, 3), Some(("a.ts", 0, 0, None)));
        assert_eq!(at(&map, 0, 400), Some(("a.ts", 2, 4, Some("render"))));
        assert_eq!(at(&map, 1, 0), None);
        assert!(map.tokens_until(2, 1).next().is_none());
        assert_eq!(map.tokens_until(2, 2).next().unwrap().original, None);
        assert_eq!(map.tokens_after(0, 0).count(), 1);
        assert_eq!(map.tokens_after(9, 0).count(), 0);
    }

    #[test]
    fn sections_follow_each_other() {
        let map = decode(
            r#"{"version":3,"sections":[
                {"offset":{"line":0,"column":0},"map":{"version":3,"sources":["a.ts"],"names":["x"],"mappings":"AAAAA;AACA"}},
                {"offset":{"line":1,"column":10},"map":{"version":3,"sourceRoot":"src","sources":["b.ts"],"names":["y"],"mappings":"AAAA,CAACA;AACA"}},
                {"offset":{"line":5,"column":0},"map":{"sections":[{"offset":{"line":1,"column":3},"map":{"sources":["c.ts"],"mappings":"AAAA"}}]}}
            ]}"#,
        )
        .unwrap();
        assert_eq!(at(&map, 0, 0), Some(("a.ts", 0, 0, Some("x"))));
        assert_eq!(at(&map, 1, 9), Some(("a.ts", 1, 0, None)));
        assert_eq!(at(&map, 1, 10), Some(("src/b.ts", 0, 0, None)));
        assert_eq!(at(&map, 1, 11), Some(("src/b.ts", 0, 1, Some("y"))));
        assert_eq!(at(&map, 2, 0), Some(("src/b.ts", 1, 1, None)));
        assert_eq!(at(&map, 6, 3), Some(("c.ts", 0, 0, None)));
    }

    #[test]
    fn roots_stand_before_sources() {
        for (root, source, name) in [
            ("", "a.ts", "a.ts"),
            ("src", "a.ts", "src/a.ts"),
            ("/r/", "../a.ts", "/r/../a.ts"),
            ("src", "", ""),
        ] {
            assert_eq!(with_root(root, source), name);
        }
    }

    #[test]
    fn large_maps_are_refused_before_they_are_decoded() {
        let many = |text: &str| text.repeat(100_000);
        for (json, is_refused) in [
            (format!(r#"{{"mappings":"{}"}}"#, many("A,")), true),
            (format!(r#"{{"mappings":"","names":[{}""]}}"#, many("\"\",")), true),
            (format!(r#"{{"mappings":"","sources":[{}""]}}"#, many("null,")), true),
            (format!(r#"{{"mappings":"","sourcesContent":["{}"]}}"#, many("a,b;")), false),
        ] {
            let mut left = 1 << 20;
            let decoded = super::decode(&json, &mut left);
            assert_eq!(matches!(decoded, Err(MapError::TooLarge(1))), is_refused, "{decoded:?}");
        }
        let long = format!(r#"{{"mappings":"","sourceRoot":"{0}","sources":["a"]}}"#, many("r"));
        assert_eq!(decode(&long).unwrap().sources, [""]);
        let mut left = 1 << 20;
        super::decode(r#"{"sources":["a"],"mappings":"AAAA,CAAA"}"#, &mut left).unwrap();
        assert!(left < 1 << 20);
    }

    #[test]
    fn errors_do_not_quote_the_file() {
        for json in [r#"{"sections":"secret"}"#, r#"["secret"]"#, r#""secret""#, "secret"] {
            let error = decode(json).unwrap_err().to_string();
            assert!(error.contains("not a source map") && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn broken_maps_are_refused() {
        for json in [
            "",
            "null",
            "[]",
            "{",
            r#"{"mappings":3}"#,
            r#"{"sources":["a"],"mappings":"ACAA"}"#,
            r#"{"sources":["a"],"mappings":"AAAAC"}"#,
            r#"{"sources":["a"],"mappings":"AA"}"#,
            r#"{"sources":["a"],"mappings":"g"}"#,
            r#"{"sections":[{"offset":{"line":-1,"column":0},"map":{}}]}"#,
        ] {
            assert!(decode(json).is_err(), "{json}");
        }
        let empty = decode(")]}'\n{\"version\":3,\"sources\":[],\"mappings\":\"\"}");
        assert!(empty.unwrap().tokens_after(0, 0).next().is_none());
    }

    proptest! {
        #[test]
        fn any_mappings_are_decoded_or_refused(mappings in "[A-Za-z0-9+/,;=é]{0,60}") {
            let json = format!(r#"{{"sources":["a","b"],"names":["n"],"mappings":"{mappings}"}}"#);
            if let Ok(map) = decode(&json) {
                for line in 0..4 {
                    let _ = map.tokens_until(line, 7).count() + map.tokens_after(line, 7).count();
                }
            }
        }
    }
}
