//! Names of functions of C++ and Rust, without parameters and the arguments of templates.

/// What stands for the arguments of a template.
const ARGUMENTS: &str = "<…>";

/// Names of operators, the longer before their starts.
const OPERATORS: [&str; 16] = [
    "()", "[]", "->*", "->", "<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "<", ">", "&&", "*", "&",
];

/// Shortens a name of C++: `std::vector<int>::push_back` to `std::vector<…>::push_back`.
pub(super) fn shorten_cpp(name: &str) -> String {
    let mut short = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(next) = rest.chars().next() {
        if let Some(operator) = operator_at(rest, &short) {
            short.push_str(&rest[..operator]);
            rest = &rest[operator..];
            continue;
        }
        let kept = if rest.starts_with("(anonymous namespace)") { 21 } else { next.len_utf8() };
        let skipped = match next {
            '<' => end_of(rest, '<', '>'),
            '(' if kept == 1 => end_of(rest, '(', ')'),
            '[' if rest.starts_with("[abi:") => end_of(rest, '[', ']'),
            _ => None,
        };
        match skipped {
            Some(end) => {
                if next == '<' {
                    short.push_str(ARGUMENTS);
                }
                rest = &rest[end..];
                // Of what a member may do with its object.
                for word in [" const", " volatile", " &&", " &"] {
                    let after = rest.strip_prefix(word);
                    rest = after.filter(|after| is_end(after)).unwrap_or(rest);
                }
            }
            None => {
                short.push_str(&rest[..kept]);
                rest = &rest[kept..];
            }
        }
    }
    for word in [" const", " volatile", " &&", " &"] {
        if let Some(before) = short.strip_suffix(word) {
            short.truncate(before.len());
        }
        short = short.replace(&format!("{word}::"), "::");
    }
    short
}

fn is_end(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with("::") || rest.starts_with(' ')
}

/// Returns the length of an operator's name that a text begins with.
fn operator_at(rest: &str, before: &str) -> Option<usize> {
    let sign = rest.strip_prefix("operator")?;
    if before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let operator = OPERATORS.iter().find(|operator| sign.starts_with(**operator))?;
    Some(rest.len() - sign.len() + operator.len())
}

/// Shortens a name of Rust: `core::ptr::drop_in_place::<T>` to `core::ptr::drop_in_place<…>`. Types whose
/// functions these are stay: `<alloc::vec::Vec<…> as core::ops::drop::Drop>::drop`.
pub(super) fn shorten_rust(name: &str) -> String {
    let mut short = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(next) = rest.chars().next() {
        let begins_type = short.is_empty()
            || short.ends_with(['<', '&', '(', ' ', '*', '['])
            || short.ends_with("::") && rest.starts_with("<impl ");
        if next == '<'
            && !begins_type
            && let Some(end) = end_of(rest, '<', '>')
        {
            if let Some(path) = short.strip_suffix("::") {
                short.truncate(path.len());
            }
            short.push_str(ARGUMENTS);
            rest = &rest[end..];
            continue;
        }
        short.push(next);
        rest = &rest[next.len_utf8()..];
    }
    short
}

/// Returns where what a bracket opens ends; none if nothing closes it.
fn end_of(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    let mut previous = ' ';
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        if open == '<'
            && let Some(operator) = operator_at(&text[at..], &text[..at])
        {
            at += operator;
            continue;
        }
        if next == open {
            depth += 1;
        } else if next == close && !(close == '>' && ['-', '='].contains(&previous)) {
            depth = depth.checked_sub(1)?;
        }
        at += next.len_utf8();
        previous = next;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}
