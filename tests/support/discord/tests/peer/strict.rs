//! Violations are noticed, whatever the client makes of the response.

use loopback_discord::{Discord, TOKEN};
use serde_json::{Value, json};

struct RestClient {
    http: reqwest_012::Client,
    url: String,
}

impl RestClient {
    fn new(discord: &Discord) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest_012::Client::builder()
            .user_agent("DiscordBot (https://example.org, 1)")
            .build()
            .unwrap();
        Self {
            http,
            url: format!("{}/api/v10", discord.url()),
        }
    }

    async fn sends(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let request = self
            .http
            .request(method.parse().unwrap(), format!("{}{path}", self.url));
        let response = request
            .header("authorization", format!("Bot {TOKEN}"))
            .header("content-type", "application/json")
            .body(body.to_string())
            .send()
            .await
            .unwrap();
        {
            let status = response.status().as_u16();
            let text = response.text().await.unwrap();
            (status, serde_json::from_str(&text).unwrap_or_default())
        }
    }
}

fn quiet(mut body: Value) -> Value {
    body["allowed_mentions"] = json!({ "parse": [] });
    body
}

#[tokio::test]
async fn bodies_are_held_to_the_rules() {
    let discord = Discord::start().await;
    let guild = discord.guild("Ravens");
    let general = guild.text("general");
    let client = RestClient::new(&discord);
    let post = format!("/channels/{}/messages", general.id());
    let commands = format!("/applications/{}/commands", discord.bot());
    let button = json!({ "type": 2, "style": 2, "label": "a", "custom_id": "x".repeat(101) });
    let table = [
        (
            "POST",
            &post,
            quiet(json!({ "content": "x".repeat(2_001) })),
            50035,
        ),
        ("POST", &post, quiet(json!({ "content": "  " })), 50006),
        (
            "POST",
            &post,
            quiet(json!({ "content": "x", "nonce": "n".repeat(26) })),
            50035,
        ),
        (
            "POST",
            &post,
            quiet(json!({ "content": "x", "components": [{ "type": 1, "components": [button] }] })),
            50035,
        ),
        (
            "PUT",
            &commands,
            json!([{ "name": "Not So", "description": "d" }]),
            50035,
        ),
        ("GET", &"/nothing".to_owned(), json!({}), 0),
        ("DELETE", &"/gateway".to_owned(), json!({}), 0),
    ];
    for (method, path, body, code) in table {
        discord.excuses(if code == 0 { path } else { "code\":50" });
        let (status, answer) = client.sends(method, path, body).await;
        assert!((400..500).contains(&status));
        assert_eq!(answer["code"], code, "{answer}");
    }
    discord.finish();
}

#[tokio::test]
#[should_panic(expected = "allowed_mentions is missing")]
async fn a_message_that_may_call_somebody_fails_the_test() {
    let discord = Discord::start().await;
    let general = discord.guild("Ravens").text("general");
    let client = RestClient::new(&discord);
    let (status, _) = client
        .sends(
            "POST",
            &format!("/channels/{}/messages", general.id()),
            json!({ "content": "x" }),
        )
        .await;
    assert_eq!(status, 200);
    discord.finish();
}

#[tokio::test]
async fn a_nonce_is_good_for_one_message() {
    let discord = Discord::start().await;
    let general = discord.guild("Ravens").text("general");
    let client = RestClient::new(&discord);
    let post = format!("/channels/{}/messages", general.id());
    let body = quiet(json!({ "content": "x", "nonce": "n1", "enforce_nonce": true }));
    let (_, first) = client.sends("POST", &post, body.clone()).await;
    let (_, second) = client.sends("POST", &post, body).await;
    assert_eq!(first["id"], second["id"]);
    discord.finish();
}

#[tokio::test]
#[should_panic(expected = "nothing asked for POST /channels/{channel_id}/messages")]
async fn a_failure_that_nobody_met_fails_the_test() {
    let discord = Discord::start().await;
    discord
        .next("POST", "/channels/{channel_id}/messages")
        .fails(500);
    discord.finish();
}

#[tokio::test]
async fn one_callback_is_enough() {
    let discord = Discord::start().await;
    let guild = discord.guild("Ravens");
    let chat = guild.person("ann").at(&guild.text("general"));
    let client = RestClient::new(&discord);
    let commands = format!("/applications/{}/commands", discord.bot());
    let (status, _) = client
        .sends(
            "PUT",
            &commands,
            json!([{ "name": "why", "description": "d" }]),
        )
        .await;
    assert_eq!(status, 200);
    let asked = chat.command("why", &[]);
    let unknown = format!("/interactions/{}/another/callback", asked.id());
    let (status, answer) = client.sends("POST", &unknown, json!({ "type": 5 })).await;
    assert_eq!((status, &answer["code"]), (404, &json!(10062)));
    let callback = format!("/interactions/{}/{}/callback", asked.id(), asked.token());
    assert_eq!(
        client
            .sends("POST", &callback, json!({ "type": 5 }))
            .await
            .0,
        204
    );
    discord.excuses("40060");
    let (status, answer) = client.sends("POST", &callback, json!({ "type": 5 })).await;
    assert_eq!((status, &answer["code"]), (400, &json!(40060)));
    discord.finish();
}
