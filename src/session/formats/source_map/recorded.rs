//! Reads the maps that traces hold, of code that is in no file.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::model::ScriptKey;
use cpu_prof_core::format::number::Number;
use cpu_prof_core::format::script_id::without_offset;
use cpu_prof_core::format::url::true_url;

/// Reads the `args` of an event `ScriptSourceMap`: the script, and the JSON of its map.
pub fn read_args(args: &str) -> Option<(ScriptKey, String)> {
    #[derive(Deserialize)]
    struct MapArgs<'a> {
        #[serde(borrow)]
        data: MapData<'a>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct MapData<'a> {
        script_id: Number,
        #[serde(borrow)]
        url: Cow<'a, str>,
        #[serde(borrow)]
        source_map: &'a RawValue,
    }
    let MapData { script_id, url, source_map } =
        serde_json::from_str::<MapArgs<'_>>(args).ok()?.data;
    let url = true_url(&url).into_owned();
    Some((ScriptKey { url, script_id: without_offset(script_id.0) }, source_map.get().to_owned()))
}
