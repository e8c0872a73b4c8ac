//! Names of options, variables and members whose values are secret.

/// Words that mean a secret anywhere in a name.
const SECRET: [&str; 33] = [
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "csrf",
    "dsn",
    "jsessionid",
    "jwt",
    "key",
    "otp",
    "pass",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "pin",
    "pwd",
    "salt",
    "sas",
    "secret",
    "secrets",
    "session",
    "sessionid",
    "sid",
    "sig",
    "signature",
    "token",
    "xsrf",
];

/// Ends of words that are written together: `PGPASSWORD`, `dbpasswd`.
const ENDS: [&str; 6] = ["password", "passwd", "secret", "token", "apikey", "passphrase"];

/// Returns whether the value of a name is secret: `--db-password`, `AWS_SECRET_ACCESS_KEY`, `authToken`.
pub(super) fn means_secret(name: &str) -> bool {
    words_of(name).any(|word| {
        let word = word.to_ascii_lowercase();
        SECRET.contains(&&*word) || ENDS.iter().any(|end| word.ends_with(end))
    })
}

/// Returns the words of a name in any of the usual spellings.
fn words_of(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_ascii_alphanumeric()).flat_map(humps)
}

/// Returns the parts of a word in camel case: `authToken`, `userID`.
fn humps(word: &str) -> Vec<&str> {
    let bytes = word.as_bytes();
    let mut parts = Vec::new();
    let mut from = 0;
    for at in 1..bytes.len() {
        let begins_hump = bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase();
        if begins_hump {
            parts.push(&word[from..at]);
            from = at;
        }
    }
    parts.push(&word[from..]);
    parts
}
