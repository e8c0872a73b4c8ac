//! The arguments of a process as macOS keeps them: a count, the program's path, the words of the
//! command line, and the environment. Each text ends in a NUL.

/// The command line and the environment of a process.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProcessArguments {
    pub(super) words: Vec<String>,
    environment: Vec<String>,
}

impl ProcessArguments {
    /// Reads what `KERN_PROCARGS2` gives; none if the text is cut off.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let (count, rest) = bytes.split_first_chunk()?;
        let count = usize::try_from(i32::from_ne_bytes(*count)).ok()?;
        let path_end = rest.iter().position(|byte| *byte == 0)?;
        let rest = &rest[path_end..];
        // NULs align what follows the path.
        let start = rest.iter().position(|byte| *byte != 0)?;
        let mut texts = rest[start..].split(|byte| *byte == 0);
        let words: Vec<String> = texts.by_ref().take(count).map(lossy).collect();
        // An empty text ends the environment: texts of the system follow.
        let environment = texts.take_while(|text| !text.is_empty()).map(lossy).collect();
        (words.len() == count).then_some(Self { words, environment })
    }

    /// Returns a variable; the inner none if the environment is without it. None if there is no
    /// environment, which the kernel hides for some programs.
    pub(super) fn variable(&self, name: &str) -> Option<Option<String>> {
        let value = |entry: &String| entry.strip_prefix(name)?.strip_prefix('=').map(str::to_owned);
        (!self.environment.is_empty()).then(|| self.environment.iter().find_map(value))
    }
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(count: i32, texts: &str) -> Option<ProcessArguments> {
        ProcessArguments::parse(&[&count.to_ne_bytes(), texts.as_bytes()].concat())
    }

    #[test]
    fn words_and_variables_are_found() {
        let texts = "/bin/node\0\0\0\0node\0\0a b\0PATH=/bin\0NODE_OPTIONS=-r x=y\0\0ptr_munge=1\0";
        let found = parse(3, texts).unwrap();
        assert_eq!(found.words, ["node", "", "a b"]);
        assert_eq!(found.variable("NODE_OPTIONS"), Some(Some("-r x=y".to_owned())));
        assert_eq!(found.variable("PATH"), Some(Some("/bin".to_owned())));
        assert_eq!(found.variable("NODE"), Some(None));
        assert_eq!(found.variable("ptr_munge"), Some(None));
    }

    #[test]
    fn an_environment_that_is_hidden_is_unknown() {
        let found = parse(1, "/bin/node\0\0node\0\0ptr_munge=1\0").unwrap();
        assert_eq!(found.variable("NODE_OPTIONS"), None);
    }

    #[test]
    fn damaged_arguments_are_none() {
        assert_eq!(ProcessArguments::parse(&[]), None);
        assert_eq!(ProcessArguments::parse(&[1, 0, 0]), None);
        for (count, texts) in
            [(1, ""), (1, "/bin/node"), (1, "/bin/node\0\0"), (-1, "/n\0n\0"), (9, "/n\0n\0")]
        {
            assert_eq!(parse(count, texts), None, "{count} {texts:?}");
        }
    }
}
