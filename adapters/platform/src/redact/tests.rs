use proptest::prelude::*;

use super::*;

fn many(part: &str, count: usize) -> String {
    part.repeat(count)
}

/// Letters and digits that do not look like words, or like a known secret to a scanner.
fn random(length: usize) -> String {
    "q7Zk2Xv9Lm4Rt8Wb3Nc6Yd1Hf5Js0PgTuEoAiQxKz"
        .chars()
        .cycle()
        .take(length)
        .collect()
}

/// Secrets are assembled here, so that scanners of repositories do not take them for real ones.
#[test]
fn secrets_go_and_the_rest_stays() {
    for (before, secret, after) in [
        ("use ", format!("sk-{}", many("aB3", 16)), " please"),
        ("", format!("sk-proj-{}", many("a_3-", 16)), ""),
        ("", format!("sk-ant-api03-{}", many("a_3-", 16)), "\n"),
        ("token=", format!("ghp_{}", many("a1B2", 9)), ";"),
        ("", format!("github_pat_{}", many("a1_B2", 12)), ""),
        ("", format!("xoxb-{}", many("123-abc", 4)), "."),
        ("key ", format!("AKIA{}", many("ABCD", 4)), "!"),
        ("", format!("AIza{}", many("a1_-B", 7)), ""),
        ("", format!("eyJ{0}.eyJ{0}.{0}", many("abcd", 4)), " ok"),
        (
            "",
            format!(
                "-----BEGIN RSA {0}-----\nMII\n-----END RSA {0}-----",
                "PRIVATE KEY"
            ),
            "\nbye",
        ),
        ("", format!("-----BEGIN {}-----\nMIIcut", "PRIVATE KEY"), ""),
        ("postgres://ada:", "s3cr3t!".to_owned(), "@db.example/x"),
        ("redis://:", "s3cr3t".to_owned(), "@cache:6379"),
        ("Authorization: Bearer ", many("abc.", 5), ""),
        ("AWS_SECRET_ACCESS_KEY=", random(40), ""),
        ("aws_secret_access_key = ", random(40), "\nregion = eu"),
        ("export STRIPE_SECRET=", "abc".to_owned(), ""),
        (
            "MY_SERVICE_TOKEN=",
            "some-token-value".to_owned(),
            " npm start",
        ),
        ("DB_PASSWORD=", "correct;horse".to_owned(), "\nDB_USER=ada"),
        ("DB_PASSWORD: ", "swordfish".to_owned(), ""),
        ("ENCRYPTION_KEY=\"", "not a b1t random".to_owned(), "\""),
        ("password=", "hunter2".to_owned(), ""),
        ("password: ", "hunter2".to_owned(), ""),
        ("Password: `", "hunter2".to_owned(), "`, as ever"),
        ("**password**: ", "Tr0ub4dor&3".to_owned(), ""),
        ("password=", "swordfish".to_owned(), ""),
        ("the password is ", "hunter2!x".to_owned(), ", don't tell"),
        ("Das Passwort lautet ", "geheim123".to_owned(), "."),
        ("user: ada\npassword: ", "swordfish".to_owned(), "\n"),
        ("{\"password\": \"", "swordfish".to_owned(), "\"}"),
        ("{\"client_secret\":\"", random(24), "\",\"a\":1}"),
        ("Server=db;Password=", "Qwert,78".to_owned(), ";User=sa"),
        ("https://x.example/?token=", random(20), "&page=2"),
        ("X-Api-Key: ", random(32), ""),
        ("const API_KEY: &str = \"", random(16), "\";"),
        ("", format!("SG.{}.{}", random(22), random(43)), ""),
        (
            "//registry.example/:_authToken=",
            format!("npm_{}", random(36)),
            "",
        ),
        (
            "https://",
            format!("discord.com/api/webhooks/123456789012345678/{}", random(68)),
            "",
        ),
        (
            "https://",
            format!("discordapp.com/api/v10/webhooks/12345/{}", random(68)),
            " ok",
        ),
        (
            "curl -u ",
            format!("ada:{}", random(16)),
            " https://x.example",
        ),
    ] {
        let text = format!("{before}{secret}{after}");
        let said = without_secrets(&text);
        assert_eq!(said, format!("{before}{MARK}{after}"), "{text}");
        assert_eq!(without_secrets(&said), said);
        assert!(is_redacted(&said) && !is_redacted(&text));
    }
}

#[test]
fn the_secret_beside_an_access_key_id_goes_with_it() {
    let id = format!("AKIA{}", many("ABCD", 4));
    for text in [
        format!("{id}\n{}", random(40)),
        format!("id {id}, secret {} - thanks", random(40)),
        format!("{} belongs to {id}", random(40)),
    ] {
        let said = without_secrets(&text);
        assert!(!said.contains(&random(40)) && !said.contains(&id), "{said}");
    }
    let commit = "0123456789abcdef0123456789abcdef01234567";
    assert!(without_secrets(&format!("{id} since {commit}")).ends_with(commit));
}

#[test]
fn what_is_no_secret_stays() {
    for text in [
        "The password is on the board.",
        "the password is required, and the token is expired",
        "password: 12 characters at least",
        "password: ask Tomasz",
        "Password: 2026-03-01 was the last change",
        "the password is sha256-hashed and the secret is base64 encoded",
        "the token is valid for 30days",
        "the key: we ship on Friday at 10:30",
        "see https://example.org/a:b/c and mailto:ada@example.org",
        "sk-learn and task-force-one-two-three",
        "AKIA is a prefix",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "http://localhost:8080/@ada",
        "MODEL_API_KEY=sk-… and NEO4J_PASSWORD=<your password>",
        "DB_PASSWORD=$DB_PASSWORD or ${TOKEN} or %PASSWORD%",
        "MAX_TOKENS=4096 SORT_KEY=created_at CACHE_KEY=user:12",
        "id 3f2504e0-4f89-11d3-9a0c-0305e82c3301, sha256:9f86d081884c7d659a2feaa0c55ad015",
        "DISCORD_TOKEN is not set; NEO4J_PASSWORD is the only one",
        "const LONGEST_TOKEN: usize = 3_000;",
        "NEO4J_AUTH: neo4j/${NEO4J_PASSWORD:?set NEO4J_PASSWORD in .env}",
        "let with_password = |password: Option<&str>| Login::Password",
        "a \"password\" field and a 'token' field",
    ] {
        assert_eq!(without_secrets(text), text);
    }
}

#[test]
fn source_code_without_secrets_stays() {
    let code = r#"
def login(user, password=None, token=None):
    password = getpass.getpass("Password: ")
    token = request.headers["Authorization"]
    session = connect(user=user, password=password, api_key=settings.API_KEY)
    secret = os.environ.get("CLIENT_SECRET")
    return sorted(rows, key=lambda row: row.name)

struct Login { password: SecretString, token: Option<String>, api_key: &'static str, key: u64 }
let key = map.entry(name).or_default(); let next_token = page.next_token.clone();
interface User { password: string; accessToken?: string; apiKey: string }
const password = process.env.PASSWORD; this.token = token2;
if password == confirm && secret != other { self.password = hash(password); }
CREATE TABLE account (id BIGINT PRIMARY KEY, password VARCHAR(64) NOT NULL);
git rev-parse HEAD # 0123456789abcdef0123456789abcdef01234567
"#;
    for line in code.lines() {
        assert_eq!(without_secrets(line), line);
    }
}

proptest! {
    #[test]
    fn ordinary_words_stay(text in "[a-zA-Z ,.!?]{0,200}") {
        prop_assert_eq!(without_secrets(&text), text);
    }

    #[test]
    fn any_text_is_read_and_stays_redacted(text in any::<String>()) {
        let once = without_secrets(&text);
        prop_assert_eq!(without_secrets(&once), once);
    }

    #[test]
    fn what_is_made_of_telling_pieces_stays_redacted(pieces in prop::collection::vec(prop::sample::select(PIECES), 1..12)) {
        let once = without_secrets(&pieces.concat());
        prop_assert_eq!(without_secrets(&once), once);
    }

    #[test]
    fn a_secret_goes_wherever_it_stands(before in "\\PC{0,40}", after in "\\PC{0,40}") {
        let secret = format!("sk-proj-{}", random(40));
        let said = without_secrets(&format!("{before} {secret} {after}"));
        prop_assert!(!said.contains(&secret), "{said}");
    }
}

/// Pieces of secrets and of the text around them.
const PIECES: &[&str] = &[
    "token=",
    "password: ",
    "DB_PASSWORD=",
    "\"apiKey\": \"",
    "the password is ",
    "./",
    "hunter12",
    "abc-def_1",
    "sk-proj-abcdefghijklmnopqrstuvwx012345zI0NiJ9",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.",
    "https://user:pass1234@host/",
    "Bearer ",
    ".abc",
    "=",
    ":",
    ";",
    "&user=",
    "{",
    "(",
    "\"",
    "'",
    " ",
    "\n",
    MARK,
];
