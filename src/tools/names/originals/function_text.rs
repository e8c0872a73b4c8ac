//! Finds a function in source text: at the place that V8 gives, or by its name.

/// Bytes of text that are looked at on each side of a place.
const NEAR: usize = 256;

/// Bytes of an identifier that are looked at. A generated name can be long, and a file can be one name.
const MAX_WORD: usize = 4096;

/// Returns whether V8 could give this place to a function of this name: after the name of a function
/// or a method, at the parameters of an arrow function, or at a class. Otherwise, the text is not the
/// code that ran.
pub(super) fn is_function(before: &str, after: &str, v8_name: &str) -> bool {
    let before = near_end(before);
    match after.chars().next() {
        Some('(') => {
            let word = word_at_end(before.trim_end());
            let is_keyword =
                matches!(word, "" | "function" | "async" | "constructor" | "get" | "set");
            is_keyword || identifier(v8_name).is_none_or(|name| name == word)
        }
        Some(first) if is_identifier_part(first) => {
            let word = word_at_start(after);
            let next = near_start(&after[word.len()..]).trim_start();
            matches!(word, "class" | "async" | "static")
                || next.starts_with("=>")
                || v8_name.starts_with('<')
        }
        _ => v8_name.starts_with('<'),
    }
}

/// Returns whether a piece of code with this text before a function is a part of the function's head:
/// its name, or what the function is assigned to.
pub(super) fn is_head(between: &str) -> bool {
    between.len() < NEAR && !between.contains([';', '{', '}', '(', ')', ','])
}

/// Returns whether this text between a function and the next code is the function's own opening: the
/// parameters, and one brace.
pub(super) fn is_opening(between: &str) -> bool {
    between.len() < NEAR && between.matches('{').count() <= 1 && !between.contains([';', '}'])
}

/// Returns the name of a function without the objects that only generated code has: `render` for
/// `exports.render`, and for `r.render` of minified code.
pub(super) fn name_in_source(v8_name: &str) -> &str {
    match v8_name.rsplit_once('.') {
        Some(("exports" | "module.exports" | "default", name)) => name,
        Some((object, name)) if object.len() <= 2 && identifier(name).is_some() => name,
        _ => v8_name,
    }
}

/// Returns the name that the text on both sides of a function's start gives to the function:
/// `const name = (…) => …`, `name: function`, `function name`.
pub(super) fn declared_name<'a>(before: &'a str, after: &'a str) -> Option<&'a str> {
    let after = near_start(after);
    let after = after.strip_prefix("async ").unwrap_or(after).trim_start();
    if let Some(rest) = after.strip_prefix("function") {
        let name = word_at_start(rest.trim_start_matches(['*', ' ']));
        if !name.is_empty() {
            return Some(name);
        }
    }
    // A map can lead to the first parameter.
    let before = before.strip_suffix('(').unwrap_or(before);
    let line = near_end(before).rsplit(['\n', ';', '{', '}', ',', '(']).next()?.trim();
    let line = line.strip_suffix("async").unwrap_or(line).trim_end();
    let target = line.strip_suffix(['=', ':'])?.trim_end();
    let is_assigned = line.ends_with('=');
    // The type of a constant stands between its name and the function.
    let target = if is_assigned { target.split(':').next()?.trim_end() } else { target };
    Some(word_at_end(target)).filter(|name| !name.is_empty())
}

/// Returns the function that a text begins by calling: a minifier puts a function in the place of its
/// only call.
pub(super) fn called_name(after: &str) -> Option<&str> {
    let name = word_at_start(after);
    let is_call = after[name.len()..].starts_with('(') && identifier(name).is_some();
    (is_call && !NO_CALLS.contains(&name)).then_some(name)
}

/// Returns a name for a function without a name, by the call that the function is passed to:
/// `callback of map`, or `callback of test('adds')` where the call begins with a text.
pub(super) fn callback_name(before: &str) -> Option<String> {
    let before = near_end(before).trim_end();
    let before = ["function", "function*", "async"]
        .iter()
        .fold(before, |text, word| text.strip_suffix(word).unwrap_or(text).trim_end());
    let (call, arguments) = open_call(before)?;
    let name = word_at_end(call.trim_end());
    if name.is_empty() || NO_CALLS.contains(&name) {
        return None;
    }
    Some(match first_text(arguments) {
        Some(text) => format!("callback of {name}({text})"),
        None => format!("callback of {name}"),
    })
}

/// Words before a parenthesis that call nothing.
const NO_CALLS: [&str; 10] =
    ["if", "for", "while", "switch", "return", "await", "async", "typeof", "catch", "function"];
/// Characters of a text in a name.
const MAX_TEXT: usize = 60;

/// Returns the text before the last parenthesis that is open, and the text behind the parenthesis.
fn open_call(text: &str) -> Option<(&str, &str)> {
    if !text.ends_with(['(', ',']) {
        return None;
    }
    let mut closed = 0;
    let mut quote = None;
    for (at, character) in text.char_indices().rev() {
        match (character, quote) {
            ('\'' | '"' | '`', None) => quote = Some(character),
            (_, Some(open)) if character == open => quote = None,
            (_, Some(_)) => {}
            (')' | ']' | '}', None) => closed += 1,
            ('(', None) if closed == 0 => return Some((&text[..at], &text[at + 1..])),
            ('[' | '{', None) if closed == 0 => return None,
            ('(' | '[' | '{', None) => closed -= 1,
            (';', None) => return None,
            _ => {}
        }
    }
    None
}

/// Returns the text that arguments begin with, in its quotes.
fn first_text(arguments: &str) -> Option<String> {
    let arguments = arguments.trim_start();
    let quote = arguments.chars().next().filter(|first| matches!(first, '\'' | '"' | '`'))?;
    let (text, _) = arguments[1..].split_once(quote)?;
    let short: String = text.chars().take(MAX_TEXT).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    let is_plain = !text.contains(['\n', '\\']);
    is_plain.then(|| format!("'{short}{more}'"))
}

/// Returns the identifier that stands in the code of a function with this name of V8's; none if the
/// name is not that of code: `b` for `a.b`, `x` for `get x`.
pub(super) fn identifier(v8_name: &str) -> Option<&str> {
    let name = v8_name.rsplit(['.', ' ']).next().unwrap_or_default();
    let is_identifier = !name.is_empty()
        && name.chars().all(is_identifier_part)
        && !name.starts_with(|first: char| first.is_ascii_digit());
    is_identifier.then_some(name)
}

fn is_identifier_part(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$' | '#' | '\u{200c}' | '\u{200d}')
}

/// Returns the identifier that a text begins with, empty for other texts.
pub(super) fn word_at_start(text: &str) -> &str {
    let is_other =
        |(at, character): &(usize, char)| *at >= MAX_WORD || !is_identifier_part(*character);
    let end = text.char_indices().find(is_other).map_or(text.len(), |(end, _)| end);
    &text[..end]
}

fn word_at_end(text: &str) -> &str {
    &text[text.trim_end_matches(is_identifier_part).len()..]
}

fn near_end(text: &str) -> &str {
    let start = text.len().saturating_sub(NEAR);
    (start..=text.len()).find_map(|start| text.get(start..)).unwrap_or_default()
}

fn near_start(text: &str) -> &str {
    let end = NEAR.min(text.len());
    (0..=end).rev().find_map(|end| text.get(..end)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_function_in_the_place_of_its_call_has_its_name() {
        assert_eq!(called_name("slowSum(80))"), Some("slowSum"));
        for after in ["", "(a) => 1", "async (a) => 1", "function(a) {}", "a => 1", "1(", "if (a)"]
        {
            assert_eq!(called_name(after), None, "{after}");
        }
    }

    #[test]
    fn callbacks_are_named_by_their_calls() {
        for (before, name) in [
            ("items.map(", Some("callback of map")),
            ("items.map(async ", Some("callback of map")),
            ("test('adds', ", Some("callback of test('adds')")),
            ("test(\"it's\", async function ", Some("callback of test('it's')")),
            ("app.get(`/users`, { a: [1] }, f(2), ", Some("callback of get('/users')")),
            ("x = new Promise(", Some("callback of Promise")),
            ("reduce(init, ", Some("callback of reduce")),
            ("test('a;b(', ", Some("callback of test('a;b(')")),
            ("(", None),
            ("if (", None),
            ("x = (", None),
            ("[", None),
            ("{ a: f(1), b: ", None),
            ("f([", None),
            ("f([1, ", None),
            ("x = ", None),
            ("", None),
        ] {
            assert_eq!(callback_name(before).as_deref(), name, "{before}");
        }
        let long = format!("it('{}', ", "x".repeat(100));
        assert_eq!(callback_name(&long), Some(format!("callback of it('{}…')", "x".repeat(60))));
    }

    proptest! {
        #[test]
        fn any_text_can_stand_before_a_function(before in "[a-z'\"`(){}\\[\\], ;日\\\\]{0,300}") {
            callback_name(&before);
        }
    }

    #[test]
    fn functions_are_told_from_other_code() {
        for (before, after, name) in [
            ("function foo", "(a) {", "foo"),
            ("function ", "(a) {", "foo"),
            ("function foo ", "(a) {", "foo"),
            ("function* ", "(a) {", "foo"),
            ("x = ", "(a) => 1", "x"),
            ("x = ", "a => 1", "x"),
            ("x = ", "async a => 1", "x"),
            ("{ get x", "() {", "get x"),
            ("{ #x", "() {", "#x"),
            ("{ [Symbol.iterator]", "() {", "[Symbol.iterator]"),
            ("{ constructor", "() {", "Foo"),
            ("", "class Foo {", "Foo"),
            ("a.b.c = function", "() {", "a.b.c"),
            ("class { ", "x = 1", "<instance_members_initializer>"),
            ("日", "(a) {", "日"),
        ] {
            assert!(is_function(before, after, name), "{before}|{after}");
        }
        for (before, after, name) in [
            ("bar", "(a)", "foo"),
            ("", "return x", "foo"),
            ("", "", "foo"),
            ("", " x", ""),
            ("", "x + 1", ""),
        ] {
            assert!(!is_function(before, after, name), "{before}|{after}");
        }
    }

    #[test]
    fn the_identifier_of_a_name() {
        for (name, expected) in [
            ("foo", Some("foo")),
            ("a.b.c", Some("c")),
            ("get x", Some("x")),
            ("#x", Some("#x")),
            ("$a_1", Some("$a_1")),
            ("", None),
            ("a.<computed>", None),
            ("[Symbol.iterator]", None),
            ("123", None),
        ] {
            assert_eq!(identifier(name), expected, "{name}");
        }
    }

    #[test]
    fn the_heads_and_openings_of_functions() {
        for (between, head, opening) in [
            ("", true, true),
            ("async ", true, true),
            ("render=function", true, true),
            ("},873", false, false),
            ("f(a,", false, true),
            ("(t,r,e)=>{", false, true),
            ("()=>{var t={873(t){", false, false),
            ("(){return 1;", false, false),
        ] {
            assert_eq!((is_head(between), is_opening(between)), (head, opening), "{between}");
        }
    }

    #[test]
    fn objects_of_generated_code_are_left_out() {
        for (name, expected) in [
            ("render", "render"),
            ("exports.render", "render"),
            ("r.render", "render"),
            ("Table.render", "Table.render"),
            ("r.<computed>", "r.<computed>"),
            ("get x", "get x"),
        ] {
            assert_eq!(name_in_source(name), expected);
        }
    }

    #[test]
    fn declarations_have_names() {
        for (before, after, name) in [
            ("const render = ", "(row: Row) => 1", Some("render")),
            ("const render = (", "row: Row) => 1", Some("render")),
            ("const render: Fn<A> = ", "async (row) => 1", Some("render")),
            ("a\n  render: ", "function () {", Some("render")),
            ("export default ", "function render() {", Some("render")),
            ("export ", "async function* render() {", Some("render")),
            ("this.render = async ", "() => 1", Some("render")),
            ("list.map(", "(x) => x", None),
            ("a == ", "(x)", None),
            ("", "(x)", None),
        ] {
            assert_eq!(declared_name(before, after), name, "{before}|{after}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_looked_at(before in "\\PC{0,300}", after in "\\PC{0,300}", name in "\\PC{0,9}") {
            let _ = (is_function(&before, &after, &name), declared_name(&before, &after));
        }
    }
}
