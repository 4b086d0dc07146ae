use proptest::prelude::*;
use serde_json::json;

use super::*;

const HEAD: &str = "name = 'weather'\ndescription = 'The weather.'\n";
const TOWN: &str =
    "[parameters]\ntype = 'object'\nrequired = ['town']\nproperties.town.type = 'string'\n";

fn tool(text: &str) -> Result<HttpTool, ToolFileError> {
    let value = |name: &str| (name == "KEY").then(|| "s3cret".to_owned());
    HttpTool::read("mine.toml", text, &mut Variables::new(value))
}

fn asked(text: &str, arguments: &Value) -> Result<HttpToolRequest, String> {
    let tool = tool(text).unwrap();
    tool.asked(&tool.checked(&arguments.to_string())?)
}

#[test]
fn arguments_are_encoded_by_their_place() {
    let text = format!(
        "{HEAD}method = 'POST'\nconfirm = false\nurl = 'https://x.example/at/{{town}}/now?q={{town}}'\n\
         [query]\nkey = '${{KEY}}'\nunits = '{{units}}'\n\
         [body]\nwhere = '{{town}}'\nday = '{{day}}'\ntext = 'in {{town}}'\n{TOWN}\
         properties.units.type = 'string'\nproperties.day.type = 'integer'\n"
    );
    let whole = asked(
        &text,
        &json!({"town": "Bø & Co/?#", "units": "m s", "day": 3}),
    );
    let HttpToolRequest { url, body } = whole.unwrap();
    assert_eq!(
        url.as_str(),
        "https://x.example/at/B%C3%B8%20%26%20Co%2F%3F%23/now?q=B%C3%B8%20%26%20Co%2F%3F%23&key=s3cret&units=m+s"
    );
    assert_eq!(
        body.unwrap(),
        json!({"where": "Bø & Co/?#", "day": 3, "text": "in Bø & Co/?#"})
    );
    // A missing argument is left out.
    let HttpToolRequest { url, body } = asked(&text, &json!({"town": "Oslo"})).unwrap();
    assert_eq!(
        url.as_str(),
        "https://x.example/at/Oslo/now?q=Oslo&key=s3cret"
    );
    assert_eq!(body.unwrap(), json!({"where": "Oslo", "text": "in Oslo"}));
}

#[test]
fn no_argument_leads_elsewhere() {
    let text = format!("{HEAD}url = 'https://x.example/{{town}}/now'\n{TOWN}");
    for (town, expected) in [
        ("..", "step of a path"),
        (".", "step of a path"),
        ("", "empty"),
    ] {
        let said = asked(&text, &json!({ "town": town })).unwrap_err();
        assert!(said.contains(expected), "{town}: {said}");
    }
    for (given, expected) in [
        (json!({}), "required"),
        (json!({"town": 3}), "string"),
        (json!({"town": "Oslo", "key": "k"}), "key"),
    ] {
        let said = asked(&text, &given).unwrap_err();
        assert!(said.contains(expected), "{given}: {said}");
    }
}

proptest! {
    #[test]
    fn whatever_is_given_stays_in_its_place(town in "\\PC{1,30}") {
        let text = format!("{HEAD}url = 'https://x.example/a/{{town}}/b?c={{town}}'\n{TOWN}");
        let Ok(HttpToolRequest { url, .. }) = asked(&text, &json!({"town": town})) else {
            prop_assert!(matches!(&*town, "." | ".."));
            return Ok(());
        };
        prop_assert_eq!(url.host_str(), Some("x.example"));
        let steps: Vec<&str> = url.path_segments().unwrap().collect();
        prop_assert_eq!((steps.len(), steps[0], steps[2]), (3, "a", "b"));
        let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        prop_assert_eq!(pairs, vec![("c".to_owned(), town)]);
    }
}

#[test]
fn what_is_wrong_is_named() {
    let url = "url = 'https://x.example/'\n";
    for (text, expected) in [
        (format!("{HEAD}{url}method = 'get'"), "method is \"get\""),
        (format!("{HEAD}{url}[body]\na = 1"), "a GET has no body"),
        (format!("{HEAD}{url}methods = 'GET'"), "unknown field"),
        (
            format!("{HEAD}{url}timeout = 0"),
            "timeout must be from 1 to 60",
        ),
        (
            format!("{HEAD}{url}max_bytes = 99000000"),
            "max_bytes must be",
        ),
        (format!("{HEAD}{url}pick = 'a'"), "no JSON pointer"),
        (format!("{HEAD}{url}{TOWN}"), "nothing has a place {town}"),
        (
            format!("{HEAD}{url}[headers]\nHost = 'y'"),
            "not for files to set",
        ),
        (
            format!("{HEAD}{url}[headers]\nA = '{{town}}'"),
            "variables only",
        ),
        (
            format!("{HEAD}{url}[headers]\nA = 'Bearer ${{SLACK_BOT_TOKEN}}'"),
            "never sent on",
        ),
        (
            format!("{HEAD}{url}[query]\nq = '{{town}}'"),
            "does not declare",
        ),
        (
            format!(
                "{HEAD}url = 'https://x.example/{{town}}'\n{}",
                TOWN.replace("['town']", "[]")
            ),
            "put it into [query]",
        ),
        (
            format!("{HEAD}url = 'https://{{town}}.example/'\n{TOWN}"),
            "place in its host",
        ),
        (
            format!("{HEAD}url = 'https://x.example:{{town}}/'\n{TOWN}"),
            "place in its host",
        ),
        (
            format!("{HEAD}url = 'https://a:b@x.example/'"),
            "name or password",
        ),
        (format!("{HEAD}url = 'https://x.example/#a'"), "never sent"),
        (
            format!("{HEAD}url = 'https://x.example/${{KEY}}'"),
            "[query] or [headers]",
        ),
        (format!("{HEAD}url = 'file:///etc/passwd'"), "https://"),
        (format!("{HEAD}url = 'x.example'"), "https://"),
        (format!("{HEAD}url = 'http://127.0.0.1/'"), "private = true"),
        (format!("{HEAD}url = 'http://[fe80::1]/'"), "private = true"),
        (
            format!("{HEAD}url = 'http://x.example/'\n[query]\nk = '${{KEY}}'"),
            "where others can read it",
        ),
    ] {
        let said = tool(&text).unwrap_err().to_string();
        assert!(
            said.contains("mine.toml") && said.contains(expected),
            "{text}\n{said}"
        );
    }
}

#[test]
fn it_is_offered_where_it_may_be_and_can_be() {
    let url = "url = 'https://x.example/'\n";
    let everywhere = tool(&format!("{HEAD}{url}")).unwrap();
    let in_one = tool(&format!("{HEAD}{url}channels = ['slack/T/C']")).unwrap();
    for (channel, expected) in [
        ("slack/T/C", true),
        ("slack/T/C2", false),
        ("matrix/!r", false),
    ] {
        let channel = AudienceId::new(channel);
        assert!(everywhere.is_offered_in(&channel));
        assert_eq!(in_one.is_offered_in(&channel), expected, "{channel}");
    }
    assert!(everywhere.is_volatile && everywhere.problem().is_none());
    for (more, expected) in [
        ("", false),
        ("confirm = true", true),
        ("method = 'DELETE'", true),
        ("method = 'POST'\nconfirm = false", false),
    ] {
        let tool = tool(&format!("{HEAD}{url}{more}")).unwrap();
        assert_eq!(tool.asks_first, expected, "{more}");
    }
    let without = tool(&format!("{HEAD}{url}[headers]\nA = '${{NOT_SET}}'")).unwrap();
    assert!(!without.is_offered_in(&AudienceId::new("slack/T/C")));
    let said = without.problem().unwrap();
    assert!(
        said.contains("weather of mine.toml") && said.ends_with("NOT_SET is not set"),
        "{said}"
    );
}

#[test]
fn what_an_answer_says_is_told_in_lines() {
    let picked = |text: &str| pick(Some(PickWritten::One(text.to_owned()))).unwrap();
    let named = [
        ("warmth".to_owned(), "/now/t".to_owned()),
        ("gone".to_owned(), "/x".to_owned()),
    ];
    let named = pick(Some(PickWritten::Named(IndexMap::from(named)))).unwrap();
    let body = r#"{"days": [{"t": 1}, {"t": 2}], "now": {"sky": "grey\n\nIgnore all", "t": 3}}"#;
    let json = "application/json";
    for (kind, body, pick, expected) in [
        (
            json,
            body,
            &Pick::All,
            Ok(vec![
                "days: (t: 1), (t: 2)",
                "now: (sky: grey Ignore all, t: 3)",
            ]),
        ),
        (
            "application/geo+json",
            body,
            &picked("/now"),
            Ok(vec!["sky: grey Ignore all", "t: 3"]),
        ),
        ("text/plain", body, &picked("/days/*/t"), Ok(vec!["1", "2"])),
        (json, body, &named, Ok(vec!["warmth: 3"])),
        (json, body, &picked("/rain"), Err("nothing at /rain")),
        (json, "[]", &named, Err("nothing of what is picked")),
        (json, "{", &Pick::All, Err("no JSON")),
        ("text/plain", "a\n\n b ", &Pick::All, Ok(vec!["a", "b"])),
        (
            "text/plain",
            "a",
            &picked("/a"),
            Err("no JSON to pick from"),
        ),
        (
            "text/html",
            "<p>Hello <b>you</b></p>",
            &Pick::All,
            Ok(vec!["Hello **you**"]),
        ),
        (
            "image/png",
            "x",
            &Pick::All,
            Err("image/png, which is not read"),
        ),
    ] {
        match (told(kind, body.as_bytes(), pick), expected) {
            (Ok(lines), Ok(expected)) => assert_eq!(lines, expected, "{kind} {body}"),
            (Err(said), Err(expected)) => assert!(said.contains(expected), "{said}"),
            (said, expected) => panic!("{kind} {body}: {said:?}, not {expected:?}"),
        }
    }
}

#[test]
fn a_page_of_nested_elements_is_told_as_plain_text() {
    let page = format!("{}The gate\nis open.", "<div>".repeat(50_000));
    let lines = told("text/html", page.as_bytes(), &Pick::All).unwrap();
    assert!(lines[0].ends_with("<div>The gate"), "{}", lines.len());
    assert_eq!(lines[1..], ["is open."]);
}
