//! Node's own options, as far as they are defaults of the settings.

use std::path::PathBuf;

const DIAGNOSTIC_DIR: &str = "--diagnostic-dir";

/// Returns the folder that `--diagnostic-dir` names for all files that Node writes. `exec_argv` is
/// `process.execArgv`, which takes precedence over `NODE_OPTIONS`.
pub(crate) fn diagnostic_dir(exec_argv: &[String], node_options: &str) -> Option<PathBuf> {
    last_value(exec_argv).or_else(|| last_value(&split(node_options))).map(PathBuf::from)
}

/// Returns the value of the last `--diagnostic-dir`.
fn last_value(args: &[String]) -> Option<String> {
    let mut found = None;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let (name, value) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (arg.as_str(), None),
        };
        // Node takes underscores for hyphens.
        if name.replace('_', "-") == DIAGNOSTIC_DIR {
            found = value.or_else(|| args.next().map(String::as_str));
        }
    }
    found.filter(|value| !value.is_empty()).map(str::to_owned)
}

/// Splits `NODE_OPTIONS` as Node does: at spaces outside of double quotes, inside of which a
/// backslash escapes a character.
pub(super) fn split(node_options: &str) -> Vec<String> {
    let mut args = Vec::new();
    let (mut is_quoted, mut is_new) = (false, true);
    let mut chars = node_options.chars();
    while let Some(mut c) = chars.next() {
        match c {
            '\\' if is_quoted => match chars.next() {
                Some(escaped) => c = escaped,
                None => break,
            },
            ' ' if !is_quoted => {
                is_new = true;
                continue;
            }
            '"' => {
                is_quoted = !is_quoted;
                continue;
            }
            _ => {}
        }
        if std::mem::take(&mut is_new) {
            args.push(String::new());
        }
        if let Some(arg) = args.last_mut() {
            arg.push(c);
        }
    }
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(exec_argv: &[&str], node_options: &str) -> Option<String> {
        let exec_argv: Vec<String> = exec_argv.iter().map(|arg| (*arg).to_owned()).collect();
        diagnostic_dir(&exec_argv, node_options).map(|dir| dir.to_str().unwrap().to_owned())
    }

    #[test]
    fn every_form_is_found() {
        for (exec_argv, node_options, expected) in [
            (&["--diagnostic-dir=/a"][..], "", Some("/a")),
            (&["--diagnostic-dir", "a b"], "", Some("a b")),
            (&["--diagnostic_dir=a=b"], "", Some("a=b")),
            (&["--diagnostic-dir=1", "-r", "x", "--diagnostic-dir=2"], "", Some("2")),
            (&["--diagnostic-dir=/a"], "--diagnostic-dir=/b", Some("/a")),
            (&[], "--no-warnings  --diagnostic-dir=/b", Some("/b")),
            (&[], r#""--diagnostic-dir=a \"b\" \\c" -r x"#, Some(r#"a "b" \c"#)),
            (&[], r#"--diagnostic-dir "a b""#, Some("a b")),
            (&[], r"--diagnostic-dir=C:\a\b", Some(r"C:\a\b")),
            (&[], r#"--diagnostic-dir="C:\\my a\\b""#, Some(r"C:\my a\b")),
            (&["--diagnostic-dirs=/a", "--diagnostic-dir"], "", None),
            (&[], "--diagnostic-dir=", None),
            (&[], "", None),
        ] {
            assert_eq!(find(exec_argv, node_options).as_deref(), expected, "{exec_argv:?}");
        }
    }

    #[test]
    fn an_unfinished_quote_ends_with_the_text() {
        assert_eq!(split(r#"a "b c\"#), ["a", "b c"]);
        assert_eq!(split(r#" "a b" c"#), ["a b", "c"]);
    }
}
