//! The names of C++ functions that `cpp_demangle` does not know: those with the constraints of C++20, of which
//! Node 26 has four thousand. Only the path of the function is read; parameters and arguments of templates
//! are passed over.

/// Operators, by their codes.
const OPERATORS: [(&str, &str); 22] = [
    ("cl", "()"),
    ("ix", "[]"),
    ("eq", "=="),
    ("ne", "!="),
    ("lt", "<"),
    ("gt", ">"),
    ("le", "<="),
    ("ge", ">="),
    ("ss", "<=>"),
    ("ls", "<<"),
    ("rs", ">>"),
    ("pl", "+"),
    ("mi", "-"),
    ("ml", "*"),
    ("dv", "/"),
    ("aS", "="),
    ("pL", "+="),
    ("pp", "++"),
    ("pt", "->"),
    ("de", "*"),
    ("nt", "!"),
    ("co", "~"),
];

/// What stands for the arguments of a template.
const ARGUMENTS: &str = "<…>";

/// Returns the path of the function that a symbol encodes; none if the symbol is of another kind.
pub(super) fn function_path(symbol: &str) -> Option<String> {
    let mut code = Code { rest: symbol.strip_prefix("_Z")? };
    let is_nested = code.take("N");
    if is_nested {
        while ["r", "V", "K", "R", "O"].iter().any(|qualifier| code.take(qualifier)) {}
    }
    let mut parts: Vec<String> = Vec::new();
    loop {
        if is_nested && code.take("E") {
            break;
        }
        if code.take("St") {
            parts.push("std".to_owned());
            continue;
        }
        code.take("L");
        if code.take("I") {
            code.pass_arguments()?;
            let part = parts.last_mut()?;
            if part.ends_with('<') {
                part.push(' ');
            }
            part.push_str(ARGUMENTS);
        } else if code.take("B") {
            code.identifier()?;
        } else if code.next().is_some_and(|next| next.is_ascii_digit()) {
            let name = code.identifier()?;
            let is_anonymous = name.starts_with("_GLOBAL__N");
            parts.push(if is_anonymous { "(anonymous namespace)" } else { name }.to_owned());
        } else if ["C1", "C2", "C3"].iter().any(|constructor| code.take(constructor)) {
            parts.push(class_name(&parts)?);
        } else if ["D0", "D1", "D2"].iter().any(|destructor| code.take(destructor)) {
            let name = class_name(&parts)?;
            parts.push(format!("~{name}"));
        } else {
            let (_, sign) = OPERATORS.iter().find(|(operator, _)| code.take(operator))?;
            parts.push(format!("operator{sign}"));
        }
        let is_whole = parts.len() > 1 || parts.first().is_some_and(|part| part != "std");
        if !is_nested && is_whole && code.next() != Some(b'I') && code.next() != Some(b'B') {
            break;
        }
    }
    (!parts.is_empty()).then(|| parts.join("::"))
}

fn class_name(parts: &[String]) -> Option<String> {
    let class = parts.last()?;
    Some(class.strip_suffix(ARGUMENTS).unwrap_or(class).to_owned())
}

/// The rest of a symbol.
struct Code<'a> {
    rest: &'a str,
}

impl<'a> Code<'a> {
    fn next(&self) -> Option<u8> {
        self.rest.bytes().next()
    }

    fn take(&mut self, start: &str) -> bool {
        let rest = self.rest.strip_prefix(start);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn pass(&mut self, bytes: usize) -> Option<()> {
        self.rest = self.rest.get(bytes..)?;
        Some(())
    }

    /// Passes everything up to a sign, and the sign.
    fn pass_to(&mut self, sign: char) -> Option<()> {
        let at = self.rest.find(sign)?;
        self.pass(at + 1)
    }

    /// Reads an identifier after its length.
    fn identifier(&mut self) -> Option<&'a str> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let length: usize = self.rest[..digits].parse().ok()?;
        self.pass(digits)?;
        let name = self.rest.get(..length).filter(|name| !name.is_empty())?;
        self.pass(length)?;
        Some(name)
    }

    /// Passes the arguments of a template, whose first letter is read.
    fn pass_arguments(&mut self) -> Option<()> {
        // What was opened and ends with an E.
        let mut open = vec![b'I'];
        while let Some(inner) = open.last().copied() {
            let next = self.next()?;
            let byte = |at: usize| self.rest.as_bytes().get(at).copied().unwrap_or_default();
            let (second, third) = (byte(1), byte(2));
            match next {
                // The value of a literal.
                b'0'..=b'9' if inner == b'L' => {
                    self.pass_to('E').map(|()| open.truncate(open.len() - 1))?
                }
                b'0'..=b'9' => self.identifier().map(drop)?,
                b'E' => {
                    // A constraint ends with the arguments that it is of.
                    if open.pop() == Some(b'Q') {
                        open.pop();
                    }
                    self.pass(1)?;
                }
                b'S' if second.is_ascii_digit()
                    || second.is_ascii_uppercase()
                    || second == b'_' =>
                {
                    self.pass_to('_')?;
                }
                b'T' if second.is_ascii_digit() || second == b'_' => self.pass_to('_')?,
                b'T' if second == b'L' => {
                    self.pass_to('_')?;
                    self.pass_to('_')?;
                }
                // Lists and calls in an expression.
                b't' | b'i' | b'c' if second == b'l' && matches!(inner, b'X' | b'Q' | b'l') => {
                    open.push(b'l');
                    self.pass(2)?;
                }
                // A name with namespaces in an expression.
                b's' if second == b'r' && third.is_ascii_digit() => {
                    open.push(b'r');
                    self.pass(2)?;
                }
                b'A' if second.is_ascii_digit() => self.pass_to('_')?,
                b'L' if second == b'_' => {
                    open.push(b'Z');
                    self.pass(3)?;
                }
                b'L' if second.is_ascii_lowercase() => self.pass_to('E')?,
                b'D' if matches!(second, b't' | b'T') => {
                    open.push(b'D');
                    self.pass(2)?;
                }
                b'S' | b'T' | b'D' => self.pass(2)?,
                b'U' if second == b'l' => {
                    open.push(b'U');
                    self.pass(2)?;
                }
                b'Q' if inner != b'I' => self.pass(1)?,
                b'N' | b'I' | b'J' | b'X' | b'L' | b'F' | b'Z' | b'Q' => {
                    open.push(next);
                    self.pass(1)?;
                }
                _ => self.pass(1)?,
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_without_arguments() {
        for (symbol, path) in [
            (
                "_ZN4node18SnapshotSerializer5WriteINS_13ImmediateInfo13SerializeInfoEQaantsr3stdE15is_arithmetic_vIT_Entsr3stdE7same_asIS4_NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEEEmRKS4_",
                Some("node::SnapshotSerializer::Write<…>"),
            ),
            (
                "_ZN2v88internal11PropertyKeyC2INS0_6ObjectENS0_6HandleEQsr3stdE16is_convertible_vIT0_IT_ENS0_12DirectHandleIS6_EEEEEPNS0_7IsolateES7_",
                Some("v8::internal::PropertyKey::PropertyKey<…>"),
            ),
            ("_ZN4node7ToUpperITkNSt6ranges5rangeEA5_cEEvT_", Some("node::ToUpper<…>")),
            ("_ZNSt6vectorIiLb1ELN1a1bE3EE5emptyEv", Some("std::vector<…>::empty")),
            ("_ZN12_GLOBAL__N_1L1fIL_Z1gvEEEvv", Some("(anonymous namespace)::f<…>")),
            ("_ZStlsIiQ1aEvv", Some("std::operator<< <…>")),
            ("_ZStquIiEvv", None),
            ("_ZN3FooD2Ev", Some("Foo::~Foo")),
            ("_Z1fv", Some("f")),
            ("_ZZ1fvE1g", None),
            ("_ZTV3Foo", None),
            ("_ZN9999999999999999999999a", None),
            ("_ZN3Foo", None),
            ("_ZN1aI", None),
            ("_ZN2éE", Some("é")),
            ("_ZN1éE", None),
            ("_Z", None),
            ("f", None),
        ] {
            assert_eq!(function_path(symbol).as_deref(), path, "{symbol}");
        }
    }
}
