use super::short::MAX_NAME;
use super::*;
use proptest::prelude::*;

#[test]
fn requests_are_named_by_patterns() {
    let cases: Vec<(String, String)> =
        serde_json::from_str(include_str!("request_names.json")).unwrap();
    for (given, expected) in cases {
        assert_eq!(event_name(&given), expected, "{given}");
        assert_eq!(event_name(&expected), expected);
    }
}

#[test]
fn names_of_the_program_stay() {
    for name in
        ["ready", "is it?", "a#b", "GET it done?", "step 1; x=1", "Get /a?b", "", "user@host"]
    {
        assert_eq!(event_name(name), name);
    }
    for (name, expected) in [
        ("load https://u:p@h/a?b=c now", "load https://…@h/a?… now"),
        ("import data:text/javascript,secret", "import data:text/javascript,…"),
        ("see http://h/a", "see http://h/a"),
    ] {
        assert_eq!(event_name(name), expected);
    }
}

#[test]
fn names_are_short() {
    for name in [
        "x".repeat(9999),
        format!("GET /{}", "é/".repeat(9999)),
        format!("GET /{}", "abc-".repeat(9999)),
        format!("https://{}/", "h".repeat(9999)),
    ] {
        let short = event_name(&name);
        assert!(short.chars().count() <= MAX_NAME + 1, "{short}");
    }
}

#[test]
fn details_of_requests_are_known() {
    assert!(holds_request(
        r#"{"req":{"method":"GET","url":"/","headers":{"cookie":"x"}},"res":{}}"#
    ));
    assert!(!holds_request(r#"{"devtools":{"dataType":"track-entry"}}"#));
    assert!(!holds_request(r#"{"req":1}"#));
}

#[test]
fn scripts_have_no_queries_and_no_code() {
    for (url, expected) in [
        ("data:text/javascript,secret()", "data:text/javascript,…"),
        ("DATA:text/javascript;base64,c2VjcmV0", "data:text/javascript,…"),
        ("data:,secret", "data:,…"),
        ("https://u:p@host/a.js?token=secret#x", "https://host/a.js"),
        ("file:///r/a.mjs?t=1", "file:///r/a.mjs"),
        ("/r/a.js?token=secret", "/r/a.js"),
        ("file:///r/a.js%3Ftoken=secret", "file:///r/a.js"),
    ] {
        assert_eq!(script_url(url), expected);
        assert_eq!(script_url(expected), expected);
    }
    for url in [
        "",
        "node:fs",
        "/r/what?.js",
        "/r/a#b.js",
        "file:///a%3Fb.js",
        "evalmachine.<anonymous>",
        "[eval]",
        "wasm://wasm/4f3a9c1d2b",
        "webpack://app/./a.js",
        r"C:\r\a.js",
        "blob:nodedata:1",
        "native V8",
    ] {
        assert_eq!(script_url(url), url);
    }
}

fn cleaned(given: &[&str]) -> String {
    words(given, 0).join(" ")
}

#[test]
fn values_of_secret_options_are_left_out() {
    for (arguments, expected) in [
        (&["--password=hunter2"][..], "--password=…"),
        (&["--password", "hunter2", "x"], "--password … x"),
        (&["--db-password=hunter2", "--dbPassword=hunter2"], "--db-password=… --dbPassword=…"),
        (&["--token=", "--token"], "--token= --token"),
        (&["-token=abc", "--access-key-id", "AKIA"], "-token=… --access-key-id …"),
        (&["--no-auth", "server.js"], "--no-auth server.js"),
        (&["--auth", "--port", "80"], "--auth --port 80"),
        (
            &["PGPASSWORD=hunter2", "api_key=hunter2", "authToken=hunter2"],
            "PGPASSWORD=… api_key=… authToken=…",
        ),
        (&["-H", "Authorization: Bearer hunter2 x"], "-H Authorization:…"),
        (&["--header=Cookie: a=b; c=d"], "--header=Cookie:…"),
        (&["Bearer hunter2hunter2"], "Bearer …"),
        (&[r#"{"user":"me","password":"hunter2","port":1}"#], r#"{"user":"me","password":…"#),
        (&["Server=h;Password=hunter2;Port=1"], "Server=h;Password=…"),
        (
            &["https://u:p@h/a?b=c", "postgres://u:p@h:5432/db"],
            "https://…@h/a?… postgres://…@h:5432/db",
        ),
        (&["a,https://u:p@h/x,https://u2:p2@h2"], "a,https://…@h/x,https://…@h2"),
        (
            &["redis://:p@h", "amqp://u:p/w@h/x", "https://u:p?w@h", "https://u:p"],
            "redis://…@h amqp://…@h/x https://…@h https://…",
        ),
        (
            &["https://[::1]:80/x", "http://h:80/@a/b", "ws://h"],
            "https://[::1]:80/x http://h:80/@a/b ws://h",
        ),
        (&["https://h/hooks/T0A1B2/a1b2c3d4e5f6a7b8c9d0e1"], "https://h/hooks/T0A1B2/…"),
        (&["--f=file:///r/a?x=y", "file:///r/a"], "--f=file:///r/a?… file:///r/a"),
        (&["['https://u:p@h/a?b=c']"], "['https://…@h/a?…']"),
        (&["mydata:x,data:text/javascript,secret"], "mydata:x,data:text/javascript,…"),
        (&["--url=https://u@h/", "u:p@h/x"], "--url=https://…@h/ …@h/x"),
        (&["--x=data:text/javascript,secret"], "--x=data:text/javascript,…"),
        (&["mysql", "-psecret", "-p", "secret", "db"], "mysql -p… -p … db"),
        (&["/usr/bin/curl", "-u", "me:pw", "-ume:pw"], "/usr/bin/curl -u … -u…"),
        (&["mysql -psecret db", "echo TOKEN=a b"], "mysql -p… db echo TOKEN=…"),
        (&["run --password hunter2 x"], "run --password … x"),
    ] {
        assert_eq!(cleaned(arguments), expected, "{arguments:?}");
    }
}

#[test]
fn long_random_words_are_left_out() {
    for secret in [
        "sk_live_51HxYzAbC123dEfGhI",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "AKIAIOSFODNN7EXAMPLE1",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "4f3a9c1d2b4f3a9c1d2b4f3a9c1d2b4f3a9c1d2b",
        "550e8400-e29b-41d4-a716-446655440000",
    ] {
        assert_eq!(cleaned(&[secret, &format!("--x={secret}")]), "… --x=…");
    }
    let jwt = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
    assert_eq!(cleaned(&[jwt]), "….….…");
}

#[test]
fn other_arguments_stay() {
    for arguments in [
        &["-p", ".", "--noEmit"][..],
        &["run-many", "-t", "build", "--parallel=3", "--projects=a,b"],
        &["--config", "vite.config.ts", "src/components/UserProfile2/EditForm.tsx"],
        &["react@18.3.1", "npm:react@18", "@scope/package@1.0.0", "git@github.com:org/repo.git"],
        &["--max-old-space-size=4096", "x86_64-unknown-linux-gnu", "eslint-plugin-jsx-a11y"],
        &[
            "http://localhost:3000/users",
            "--keyboard",
            "monkey",
            "--passthrough=yes",
            "C:\\a\\b.js",
        ],
        &["-t", "basic functionality works", "src/auth/login.spec.ts", "./key.pem", "cookies.txt"],
        &["a b", "", "é", "--", "-", "=", "*.spec.ts", "!(a|b)"],
    ] {
        assert_eq!(cleaned(arguments), arguments.join(" "));
    }
}

#[test]
fn paths_of_node_and_the_script_stay() {
    let script = "/r/node_modules/.pnpm/a@1.0.0_4f3a9c1d2b4f3a9c1d2b/node_modules/a/token=x.js";
    assert_eq!(
        words(&["/usr/bin/node", script, "--token", "x"], 2),
        ["/usr/bin/node", script, "--token", "…"]
    );
    assert_eq!(words(&["node", "data:text/javascript,secret"], 2)[1], "data:text/javascript,…");
    assert_eq!(words(&["node", "/r/.bin/mysqldump", "-psecret"], 2)[2], "-p…");
}

#[test]
fn code_of_node_is_left_out() {
    for (given, expected) in [
        (&["-e", "secret()"][..], "-e …"),
        (&["--eval=secret()", "-r", "x"], "--eval=… -r x"),
        (&["-pe", "secret()", "--input-type=module"], "-pe … --input-type=module"),
        (&["-p", "process.env"], "-p …"),
        (&["--import", "data:text/javascript,secret()"], "--import data:text/javascript,…"),
        (&["--import=data:text/javascript,secret()"], "--import=data:text/javascript,…"),
        (&["--import", "data:text/javascript,/* a secret */ 1"], "--import data:text/javascript,…"),
        (
            &["node --import data:text/javascript;base64,c2Vj"],
            "node --import data:text/javascript;base64,…",
        ),
        (&["--require", "@org/cpu-prof"], "--require @org/cpu-prof"),
    ] {
        assert_eq!(node_options(given).join(" "), expected);
    }
}

#[test]
fn the_command_of_another_process_is_cleaned() {
    for (given, script_at, expected) in [
        (
            &["/usr/bin/node", "-e", "secret()", "--token", "x"][..],
            2,
            "/usr/bin/node -e … --token …",
        ),
        (&["node", "-r", "x", "/r/a.js", "-p", "."], 3, "node -r x /r/a.js -p ."),
        (&["node", "--eval=secret()"], 2, "node --eval=…"),
        (&["node", "a.js", "--password=x"], 1, "node a.js --password=…"),
        (&["node"], 1, "node"),
        (&[], 9, ""),
    ] {
        assert_eq!(command(given, script_at).join(" "), expected);
    }
}

#[test]
fn a_command_line_of_one_text_is_cleaned() {
    for (label, expected) in [
        ("web.js: --password=hunter2 -p 1 (pid 42)", "web.js: --password=… -p 1 (pid 42)"),
        ("web.js: --password hunter2 (pid 42)", "web.js: --password … (pid 42)"),
        ("web.js: x --token (pid 42) #2", "web.js: x --token (pid 42) #2"),
        ("token: -p . [a label] (pid 42)", "token: -p . [a label] (pid 42)"),
        ("nx run-many", "nx run-many"),
        ("", ""),
    ] {
        assert_eq!(process_label(label), expected);
    }
}

proptest! {
    #[test]
    fn any_text_is_cleaned_once(text in "(\\PC|[=:@/?#; -]|password|https://|data:|GET /){0,30}") {
        let name = event_name(&text).into_owned();
        prop_assert_eq!(&event_name(&name), &name);
        let url = script_url(&text).into_owned();
        prop_assert_eq!(&script_url(&url), &url);
        let given = ["node", "a.js", &text];
        let once = words(&given, 2);
        prop_assert_eq!(once.len(), 3);
        prop_assert_eq!(&words(&once, 2), &once);
        process_label(&text);
        node_options(&[&text]);
    }
}
