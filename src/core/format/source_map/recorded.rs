//! The maps that traces hold, of code that is in no file.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::data_url;
use crate::format::ascii_json::encode;

/// Name of the events that hold maps.
pub const SCRIPT_SOURCE_MAP: &str = "ScriptSourceMap";

/// A map without the texts of the sources, which are most of it.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct ShortMap {
    version: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source_root: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sources: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    names: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mappings: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sections: Option<Vec<ShortSection>>,
}

#[derive(Debug, Deserialize, Serialize)]
struct ShortSection {
    offset: Value,
    map: ShortMap,
}

/// Returns the JSON of the map in a `data:` URL, without the texts of the sources; none if the URL
/// holds no map.
pub fn short_map(url: &str) -> Option<Vec<u8>> {
    let map: ShortMap = serde_json::from_str(&data_url::text(url)?).ok()?;
    let mut out = Vec::new();
    encode(&mut out, &map);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_the_sources_are_left_out() {
        let map = r#"{"version":3,"file":"x","sources":["é.ts"],"sourcesContent":["let a"],"names":[],
            "mappings":"AAAA","sections":[{"offset":{"line":0,"column":0},"map":{"version":3,"sourcesContent":[]}}]}"#;
        let short = short_map(&format!("data:application/json,{map}")).unwrap();
        assert_eq!(
            String::from_utf8(short).unwrap(),
            r#"{"version":3,"sources":["\u00e9.ts"],"names":[],"mappings":"AAAA","sections":[{"offset":{"column":0,"line":0},"map":{"version":3}}]}"#
        );
        for other in ["data:,{}", "data:,x", "a.js.map", "data:application/json;base64,e30"] {
            assert!(short_map(other).is_none(), "{other}");
        }
    }
}
