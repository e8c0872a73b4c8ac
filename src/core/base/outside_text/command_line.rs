//! Command lines without secrets: values of options and variables whose names mean a secret, users in URLs,
//! code, and long random texts.

use super::address::{data_contents, marked};
use super::opaque::{is_base64, is_opaque};
use super::request_path::is_uuid;
use super::secret_name::means_secret;
use super::short::{LEFT_OUT, MAX_NAME, start_of};

/// Clients that take a secret in an option of one letter, often with the value behind it: `mysql -psecret`.
const CLIENTS: [(&str, char); 17] = [
    ("7z", 'p'),
    ("curl", 'u'),
    ("http", 'a'),
    ("https", 'a'),
    ("ldapsearch", 'w'),
    ("mariadb", 'p'),
    ("mariadb-dump", 'p'),
    ("mongo", 'p'),
    ("mongodump", 'p'),
    ("mongorestore", 'p'),
    ("mongosh", 'p'),
    ("mysql", 'p'),
    ("mysqladmin", 'p'),
    ("mysqldump", 'p'),
    ("redis-cli", 'a'),
    ("sqlcmd", 'P'),
    ("sshpass", 'p'),
];

/// Options of Node whose value is code.
const CODE: [&str; 5] = ["-e", "--eval", "-p", "--print", "-pe"];

/// Returns the arguments of a program, in their order and number. The first `paths` of them are paths of Node
/// and of a script, which stay as they are.
pub fn words<T: AsRef<str>>(given: &[T], paths: usize) -> Vec<String> {
    let mut cleaner = Cleaner::default();
    let word = |(index, word): (usize, &T)| match index < paths {
        true => cleaner.path(word.as_ref()),
        false => cleaner.word(word.as_ref()),
    };
    given.iter().enumerate().map(word).collect()
}

/// Returns the options of Node: code is left out as well.
pub fn node_options<T: AsRef<str>>(given: &[T]) -> Vec<String> {
    let mut cleaner = Cleaner::default();
    let mut is_before_code = false;
    let option = |word: &T| {
        let word = word.as_ref();
        if std::mem::take(&mut is_before_code) {
            return LEFT_OUT.to_owned();
        }
        if !is_code(word) {
            return cleaner.word(word);
        }
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        is_before_code = name.len() == word.len();
        if value.is_empty() { word.to_owned() } else { format!("{name}={LEFT_OUT}") }
    };
    given.iter().map(option).collect()
}

/// Returns whether Node runs code of its options, and no script.
pub(crate) fn runs_code<T: AsRef<str>>(options: &[T]) -> bool {
    options.iter().any(|option| is_code(option.as_ref()))
}

/// Returns whether the value of an option of Node is code.
fn is_code(option: &str) -> bool {
    CODE.contains(&option.split('=').next().unwrap_or_default())
}

/// Returns the words of a command that runs Node. `script_at` is the place of the script, or of the code.
pub fn command<T: AsRef<str>>(given: &[T], script_at: usize) -> Vec<String> {
    let (node, program) = given.split_at(script_at.min(given.len()));
    let (file, options) = node.split_at(node.len().min(1));
    let is_before_code = options.last().is_some_and(|option| CODE.contains(&option.as_ref()));
    let mut program = words(program, usize::from(!is_before_code));
    if is_before_code {
        program.iter_mut().take(1).for_each(|code| *code = LEFT_OUT.to_owned());
    }
    let file = file.iter().map(|file| file.as_ref().to_owned());
    file.chain(node_options(options)).chain(program).collect()
}

/// Returns the label of a process, whose command line was written as one text: `web.js: -p 1 (pid 42)`.
pub fn process_label(label: &str) -> String {
    let (text, pid) = label.split_at(label.rfind("(pid ").unwrap_or(label.len()));
    let mut cleaner = Cleaner::default();
    let words: Vec<_> = text.split(' ').map(|word| cleaner.word(word)).collect();
    words.join(" ") + pid
}

/// Cleans the words of a command line, one after the other.
#[derive(Default)]
struct Cleaner {
    /// Whether the next word is a secret.
    is_secret: bool,
    /// The letters of secret options of the clients so far.
    letters: Vec<char>,
}

impl Cleaner {
    fn path(&mut self, word: &str) -> String {
        self.note_client(word);
        marked(word).unwrap_or_else(|| word.to_owned())
    }

    fn word(&mut self, word: &str) -> String {
        let is_secret = std::mem::take(&mut self.is_secret) && !word.starts_with("--");
        if is_secret && !word.is_empty() {
            return LEFT_OUT.to_owned();
        }
        let start = start_of(word, MAX_NAME);
        let cleaned = self.option(start).unwrap_or_else(|| self.text(start));
        let is_cut = start.len() < word.len() && !cleaned.ends_with(LEFT_OUT);
        if is_cut { cleaned + LEFT_OUT } else { cleaned }
    }

    /// Returns an option without its value, if that is secret. Notes whether the next word is.
    fn option(&mut self, word: &str) -> Option<String> {
        let name = word.strip_prefix('-')?;
        let mut characters = name.chars();
        if let Some(letter) = characters.next().filter(|letter| self.letters.contains(letter)) {
            self.is_secret = name.len() == letter.len_utf8();
            return Some(if self.is_secret {
                word.to_owned()
            } else {
                format!("-{letter}{LEFT_OUT}")
            });
        }
        let is_name =
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte));
        self.is_secret = is_name && !name.starts_with("-no-") && means_secret(name);
        None
    }

    /// Returns a word, or a text of words that was given as one.
    fn text(&mut self, text: &str) -> String {
        if let Some(end) = data_contents(text).or_else(|| secret_value(text)) {
            return format!("{}{LEFT_OUT}", &text[..end]);
        }
        if text.contains(char::is_whitespace) {
            let mut inner = Self { is_secret: false, letters: self.letters.clone() };
            let words: Vec<_> =
                text.split(char::is_whitespace).map(|word| inner.word(word)).collect();
            return words.join(" ");
        }
        self.note_client(text);
        let (option, value) = match text.split_once('=') {
            Some((option, value)) if !option.contains('/') => (&text[..=option.len()], value),
            _ => ("", text),
        };
        let marked = marked(value).unwrap_or_else(|| value.to_owned());
        let cleaned = without_tokens(&without_user(&marked).unwrap_or(marked));
        format!("{option}{cleaned}")
    }

    fn note_client(&mut self, word: &str) {
        let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
        let name = name.strip_suffix(".exe").or_else(|| name.strip_suffix(".js")).unwrap_or(name);
        let letters =
            CLIENTS.iter().filter(|(client, _)| *client == name).map(|(_, letter)| letter);
        self.letters.extend(letters);
    }
}

/// Returns where a secret value in a text begins: `{"password":"…`, `Authorization: …`, `TOKEN=…`.
fn secret_value(text: &str) -> Option<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let mut from = 0;
    while let Some(at) = text[from..].find(is_part) {
        let start = from + at;
        let rest = &text[start..];
        let end = start + rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let name = &text[start..end];
        let after =
            text[end..].trim_start_matches(|c: char| c.is_whitespace() || "\"'\\".contains(c));
        let is_named = after.starts_with([':', '=']) && !after.starts_with("://");
        if is_named && after.len() > 1 && means_secret(name) {
            return Some(text.len() - after.len() + 1);
        }
        let is_scheme = name.eq_ignore_ascii_case("bearer") || name.eq_ignore_ascii_case("basic");
        let word = text[end..].strip_prefix(' ').and_then(|rest| rest.split(' ').next());
        if is_scheme && word.is_some_and(is_credential) {
            return Some(end + 1);
        }
        from = end;
    }
    None
}

/// Returns whether a word can be what stands behind `Bearer`, and not a word of a sentence.
fn is_credential(word: &str) -> bool {
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    word.len() >= MIN_TOKEN || word.len() >= 8 && has_digit
}

/// Returns a text without the user and the password before a host: `…@host`.
fn without_user(text: &str) -> Option<String> {
    /// What stands before a version and not before a host: `npm:react@18`.
    const PROTOCOLS: [&str; 7] = ["npm", "jsr", "workspace", "patch", "link", "file", "git"];
    let (before, host) = text.rsplit_once('@')?;
    let (user, password) = before.split_once(':')?;
    let is_user = !before.contains("://")
        && !user.is_empty()
        && !user.contains(['/', '\\'])
        && !PROTOCOLS.contains(&user);
    (is_user && !password.is_empty() && !password.starts_with('/') && !host.is_empty())
        .then(|| format!("{LEFT_OUT}@{host}"))
}

/// The shortest random text that is left out of a command line, in bytes: hashes of short names stay.
const MIN_TOKEN: usize = 20;

fn without_tokens(text: &str) -> String {
    if is_base64(text) {
        return LEFT_OUT.to_owned();
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_+=~".contains(c);
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (part, after) = rest.split_at(length);
        let is_token = part.len() >= MIN_TOKEN && (is_uuid(part) || is_opaque(part));
        cleaned.push_str(if is_token { LEFT_OUT } else { part });
        let next = after.find(is_part).unwrap_or(after.len());
        cleaned.push_str(&after[..next]);
        rest = &after[next..];
    }
    cleaned
}
