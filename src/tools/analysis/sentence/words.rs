//! Numbers and names as a person reads them.

use crate::analysis::json::ReportPlace;
use cpu_prof_core::format::url::EVALUATED;
use cpu_prof_core::profile::package::is_users;

/// Longest name in a sentence, in characters.
const MAX_NAME: usize = 60;

/// Returns `71 %`.
pub(super) fn percent(part: f64) -> String {
    format!("{:.0} %", (100.0 * part).clamp(0.0, 100.0))
}

/// Returns `0.9 s`, `12.3 s`, `80 ms`, `3 min`.
pub(super) fn time(us: f64) -> String {
    let ms = us / 1000.0;
    match ms {
        ..200.0 => format!("{ms:.0} ms"),
        ..100_000.0 => format!("{:.1} s", ms / 1000.0),
        _ => format!("{:.0} min", ms / 60_000.0),
    }
}

/// Returns `1 process` or `11 processes`.
pub(super) fn count(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

/// Returns `parse (parser.ts:88)`, `cloneDeep of lodash (lodash.js:9)`, or `JSON.parse` for a function without
/// a file. A function of a text is `render (VM86:1, compiled by ejs.js:673)`, or `run by ejs.js` where that is not known.
pub(super) fn function(place: &ReportPlace<'_>) -> String {
    let name = match place.name {
        "(anonymous)" => "a function without a name".to_owned(),
        name => shortened(name),
    };
    // A place in Node's code helps nobody.
    if place.file.is_empty() || place.package == "node:" {
        return name;
    }
    let file = place.file.rsplit(['/', '\\']).next().unwrap_or(place.file);
    let line = if place.line > 0 && !place.transpiled {
        format!(":{}", place.line)
    } else {
        String::new()
    };
    let package = match place.package {
        package if is_users(package) => String::new(),
        package => format!(" of {package}"),
    };
    if place.text > 0 {
        let runner = match file.trim_end_matches(EVALUATED).trim_end() {
            "" => String::new(),
            file if place.compiled_at > 0 => {
                format!(", compiled by {}:{}", shortened(file), place.compiled_at)
            }
            file => format!(", run by {}", shortened(file)),
        };
        return format!("{name}{package} (VM{}{line}{runner})", place.text);
    }
    format!("{name}{package} ({}{line})", shortened(file))
}

/// Returns the name of a function alone, for a caller.
pub(super) fn name(place: &ReportPlace<'_>) -> String {
    shortened(place.name)
}

/// Returns `a`, `a and b`, `a, b and c`.
pub(super) fn list(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| shortened(name)).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Returns a text without its middle if it is long.
pub(super) fn shortened(text: &str) -> String {
    let length = text.chars().count();
    if length <= MAX_NAME {
        return text.to_owned();
    }
    let start: String = text.chars().take(MAX_NAME / 2).collect();
    let end: String = text.chars().skip(length - MAX_NAME / 2 + 1).collect();
    format!("{start}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_places_are_short() {
        assert_eq!(percent(0.706), "71 %");
        assert_eq!(
            [4_000.0, 940_000.0, 12_345_678.0, 180e6].map(time),
            ["4 ms", "0.9 s", "12.3 s", "3 min"]
        );
        let place = |name, file, package| ReportPlace {
            name,
            file,
            line: 2,
            column: 1,
            transpiled: false,
            text: 0,
            compiled_at: 0,
            package,
        };
        assert_eq!(function(&place("f", "/r/src/a.js", "(own code)")), "f (a.js:2)");
        assert_eq!(function(&place("f", "C:\\r\\node_modules\\l\\a.js", "l")), "f of l (a.js:2)");
        assert_eq!(function(&place("JSON.parse", "", "(native)")), "JSON.parse");
        assert_eq!(function(&place("spawnSync", "node:child_process", "node:")), "spawnSync");
        assert_eq!(
            function(&place("(anonymous)", "/r/a.js", "(own code)")),
            "a function without a name (a.js:2)"
        );
        let text = |file| ReportPlace { text: 86, ..place("f", file, "(own code)") };
        assert_eq!(function(&text("/r/a.js (eval)")), "f (VM86:2, run by a.js)");
        assert_eq!(function(&text("(eval)")), "f (VM86:2)");
        let compiled = ReportPlace { compiled_at: 673, ..text("/r/a.js (eval)") };
        assert_eq!(function(&compiled), "f (VM86:2, compiled by a.js:673)");
        assert_eq!(shortened(&"x".repeat(200)).chars().count(), 60);
    }
}
