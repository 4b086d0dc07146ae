//! Embeddings, and the check of what is configured.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use muninn::llm::{
    Embedder, Limiter, ModelAvailability, ModelConfig, ModelError, RemoteEmbedder, Role,
};
use serde_json::json;

use crate::support::model_server::{Embeddings, Reply};
use crate::{model, start};

fn embedder(config: &ModelConfig) -> RemoteEmbedder {
    RemoteEmbedder::new(config, "embedding", Arc::new(Limiter::new(&config.limits))).unwrap()
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[tokio::test]
async fn embeds_in_order_and_in_batches() {
    let server = start().await;
    let embedder = Embedder::Remote(embedder(&server.config()));
    assert_eq!(embedder.name(), None);
    let mut texts: Vec<String> = (0..150).map(|n| format!("text number {n}")).collect();
    texts[3] = "  ".to_owned();
    texts[100] = "word ".repeat(20_000);
    let vectors = embedder.embed(&texts).await.unwrap();
    assert_eq!(embedder.name(), Some("openai/embedding/64"));
    assert_eq!(vectors.len(), 150);
    for (at, vector) in vectors.iter().enumerate() {
        let length = vector.iter().flatten().map(|x| x * x).sum::<f32>();
        assert!(if at == 3 {
            vector.is_none()
        } else {
            (length - 1.0).abs() < 1e-4
        });
    }
    let sizes: Vec<usize> = server
        .embedded()
        .iter()
        .map(|request| request.inputs().len())
        .collect();
    assert_eq!(sizes, [64, 64, 21]);
    let alone = embedder.embed(&texts[149..]).await.unwrap();
    assert_eq!(alone[0], vectors[149]);
    assert!(embedder.embed(&[]).await.unwrap().is_empty());
    server.finish();
}

/// Texts of more than so many words are refused, each word `dense` for a hundred; the error does or does not give
/// numbers.
fn limited(most: usize, tells: bool) -> Embeddings {
    let words = |text: &str| {
        let dense = text.matches("dense").count();
        text.split_whitespace().count() + 99 * dense
    };
    Embeddings::Refusing(Box::new(move |texts| {
        let sent = texts.iter().map(|text| words(text)).max()?;
        let message = if tells {
            format!(
                "This model's maximum context length is {most} tokens. However, you requested {sent} tokens in the \
                 input for embedding generation. Please reduce the length of the input."
            )
        } else {
            "input is too large to process. increase the physical batch size".to_owned()
        };
        (sent > most).then(|| (400, json!({ "message": message }).to_string()))
    }))
}

#[tokio::test]
async fn of_a_text_that_is_too_long_the_beginning_is_embedded_and_the_others_are_whole() {
    for tells in [true, false] {
        let server = start().await;
        let embedder = embedder(&server.config());
        let mut texts = owned(&["short one", "cat ", "short two", "dog "]);
        texts[1] = texts[1].repeat(4_000);
        texts[3] = texts[3].repeat(4_000);
        let beginnings = owned(&["short one", "cat", "short two", "dog"]);
        let expected = embedder.embed(&beginnings).await.unwrap();
        server.embeds(limited(512, tells));
        let vectors = embedder.embed(&texts).await.unwrap();
        for (got, expected) in vectors.iter().zip(&expected) {
            let (got, expected) = (got.as_ref().unwrap(), expected.as_ref().unwrap());
            let cosine: f32 = got.iter().zip(expected).map(|(a, b)| a * b).sum();
            assert!(cosine > 0.999, "{tells}: {cosine}");
        }
        let asked = server.embedded().len();
        assert!(asked <= 20, "{tells}: {asked}");
        // What fits is known now.
        embedder.embed(&texts).await.unwrap();
        assert_eq!(server.embedded().len(), asked + 1, "{tells}");
        server.finish();
    }
}

#[tokio::test]
async fn a_single_text_with_too_many_tokens_for_a_request_is_shortened() {
    for words in [
        "Too many tokens overall, split into more batches.",
        "Too many tokens in batch. Max is 16384 got 17555",
    ] {
        let server = start().await;
        let embedder = embedder(&server.config());
        server.embeds(Embeddings::Refusing(Box::new(move |texts| {
            let refusal = json!({ "message": words, "code": 3210 });
            let sent = texts.iter().map(|text| text.split_whitespace().count());
            (sent.sum::<usize>() > 512).then(|| (400, refusal.to_string()))
        })));
        let texts = ["cat ".repeat(4_000)];
        let vectors = embedder.embed(&texts).await.unwrap();
        assert!(vectors[0].is_some(), "{words}");
        // What fits is known now.
        let asked = server.embedded().len();
        embedder.embed(&texts).await.unwrap();
        assert_eq!(server.embedded().len(), asked + 1, "{words}");
        server.finish();
    }
}

#[tokio::test]
async fn a_text_of_which_nothing_fits_has_no_vector_and_shortens_no_other() {
    for tells in [true, false] {
        let server = start().await;
        let embedder = embedder(&server.config());
        server.embeds(limited(512, tells));
        let long = "cat ".repeat(150);
        let texts = [&*long, &*"dense".repeat(40), "short"].map(str::to_owned);
        let vectors = embedder.embed(&texts).await.unwrap();
        let have: Vec<bool> = vectors.iter().map(Option::is_some).collect();
        assert_eq!(have, [true, false, true], "{tells}");
        server.embeds(Embeddings::Words(64));
        embedder.embed(&texts[..1]).await.unwrap();
        let last = server.embedded().pop().unwrap();
        assert_eq!(last.inputs(), [long], "{tells}");
        server.finish();
    }
}

#[tokio::test]
async fn a_text_at_which_the_service_fails_has_no_vector_and_the_others_have() {
    let nan = r#"{"error":{"message":"failed to encode response: json: unsupported value: NaN"}}"#;
    let fails: [Box<dyn Fn() -> Embeddings>; 2] = [
        Box::new(move || {
            Embeddings::Refusing(Box::new(move |texts| {
                let is_there = texts.iter().any(|text| text.contains("bad"));
                is_there.then(|| (500, nan.to_owned()))
            }))
        }),
        Box::new(|| {
            Embeddings::Scripted(Box::new(|texts| {
                let vector = |text: &String| match text.contains("bad") {
                    true => json!([0.5, null]),
                    false => json!([0.6, 0.8]),
                };
                let items = texts
                    .iter()
                    .map(|text| json!({ "embedding": vector(text) }));
                json!({ "data": items.collect::<Vec<_>>() })
            }))
        }),
    ];
    for fails in fails {
        let server = start().await;
        server.embeds(fails());
        let embedder = embedder(&server.config());
        for (texts, expected) in [
            (&["one", "bad", "two"][..], &[true, false, true][..]),
            (&["bad"], &[false]),
        ] {
            let vectors = embedder.embed(&owned(texts)).await.unwrap();
            let have: Vec<bool> = vectors.iter().map(Option::is_some).collect();
            assert_eq!(have, expected);
        }
        server.finish();
    }
}

#[tokio::test]
async fn a_text_that_the_service_refuses_has_no_vector_and_the_others_have() {
    let filtered = r#"{"error":{"message":"the prompt was filtered","code":"content_filter"}}"#;
    let server = start().await;
    server.embeds(Embeddings::Refusing(Box::new(move |texts| {
        let is_there = texts.iter().any(|text| text.contains("bad"));
        is_there.then(|| (400, filtered.to_owned()))
    })));
    let texts = owned(&["one", "bad", "two"]);
    let vectors = embedder(&server.config()).embed(&texts).await.unwrap();
    let have: Vec<bool> = vectors.iter().map(Option::is_some).collect();
    assert_eq!(have, [true, false, true]);
    server.finish();
}

#[tokio::test]
async fn as_many_texts_are_sent_as_the_service_takes() {
    for (most, status, words) in [
        (32, 422, "batch size 64 > maximum allowed batch size 32"),
        (
            10,
            400,
            "batch size is invalid, it should not be larger than 10.: input.contents",
        ),
        (1, 400, "Too many inputs. The max number of inputs is 1."),
        (16, 400, "Too many tokens overall, split into more batches."),
        (16, 400, "Too many tokens in batch. Max is 16384 got 17555"),
        (
            16,
            400,
            "Request to model 'voyage-code-3' failed. The max allowed tokens per submitted batch is 120000. Your batch has \
             124417 tokens after truncation. Please lower the number of tokens in the batch.",
        ),
    ] {
        let server = start().await;
        server.embeds(Embeddings::Refusing(Box::new(move |texts| {
            let refusal = json!({ "message": words, "code": status });
            (texts.len() > most).then(|| (status, refusal.to_string()))
        })));
        let embedder = embedder(&server.config());
        let texts: Vec<String> = (0..70).map(|n| format!("text {n}")).collect();
        let vectors = embedder.embed(&texts).await.unwrap();
        assert!(vectors.iter().all(Option::is_some), "{words}");
        // How many it takes is known now.
        let before = server.embedded().len();
        embedder.embed(&texts[..64]).await.unwrap();
        let after = server.embedded().split_off(before);
        assert!(after.iter().all(|it| it.inputs().len() <= most), "{words}");
        let order = after.iter().flat_map(|it| it.inputs());
        assert!(order.eq(texts[..64].iter().cloned()), "{words}");
        server.finish();
    }
}

#[tokio::test]
async fn the_format_of_vectors_is_not_named_where_that_is_refused() {
    for refusal in [
        r#"{"detail":"Value 'float' supplied for argument 'encoding_format' is not valid -- accepted values are 'base64'"}"#,
        r#"{"error":{"message":"litellm.UnsupportedParamsError: gemini does not support parameters: {'encoding_format': 'float'}","code":"400"}}"#,
    ] {
        let server = start().await;
        let is_first = AtomicBool::new(true);
        server.embeds(Embeddings::Refusing(Box::new(move |_| {
            let is_first = is_first.swap(false, Ordering::Relaxed);
            is_first.then(|| (400, refusal.to_owned()))
        })));
        let embedder = embedder(&server.config());
        for _again in 0..2 {
            let vectors = embedder.embed(&owned(&["a"])).await.unwrap();
            assert!(vectors[0].is_some(), "{refusal}");
        }
        let named: Vec<bool> = server
            .embedded()
            .iter()
            .map(|request| request.body.get("encoding_format").is_some())
            .collect();
        assert_eq!(named, [true, false, false], "{refusal}");
        server.finish();
    }
}

#[tokio::test]
async fn texts_are_embedded_as_passages_where_the_service_wants_to_know_what_they_are_for() {
    for (status, refusal) in [
        (
            400,
            r#"{"error":"'input_type' parameter is required for asymmetric models"}"#,
        ),
        (
            422,
            r#"{"detail":[{"type":"missing","loc":["body","input_type"],"msg":"Field required"}]}"#,
        ),
    ] {
        let server = start().await;
        let is_first = AtomicBool::new(true);
        server.embeds(Embeddings::Refusing(Box::new(move |_| {
            let is_first = is_first.swap(false, Ordering::Relaxed);
            is_first.then(|| (status, refusal.to_owned()))
        })));
        let embedder = embedder(&server.config());
        for _again in 0..2 {
            let vectors = embedder.embed(&owned(&["a"])).await.unwrap();
            assert!(vectors[0].is_some(), "{refusal}");
        }
        let sent: Vec<Option<String>> = server
            .embedded()
            .iter()
            .map(|request| Some(request.body.get("input_type")?.as_str()?.to_owned()))
            .collect();
        let passage = Some("passage".to_owned());
        assert_eq!(sent, [None, passage.clone(), passage], "{refusal}");
        server.finish();
    }
}

#[tokio::test]
async fn vectors_in_base64_are_read() {
    let server = start().await;
    // 3.0 and 4.0; the second one is cut off.
    for (written, is_read) in [("AABAQAAAgEA=", true), ("AABAQAAAgA==", false)] {
        let items = json!([{ "index": 0, "embedding": written }]);
        server.embeds(Embeddings::Scripted(Box::new(
            move |_| json!({ "data": items }),
        )));
        let vectors = embedder(&server.config()).embed(&owned(&["a"])).await;
        match vectors {
            Ok(vectors) => assert_eq!(vectors, [Some(vec![0.6, 0.8])], "{written}"),
            Err(error) => assert!(!is_read, "{written}: {error}"),
        }
    }
    server.finish();
}

#[tokio::test]
async fn a_service_that_fails_at_every_text_is_not_asked_for_each() {
    let server = start().await;
    let boom = r#"{"error":{"message":"boom"}}"#;
    server.embeds(Embeddings::Refused(500, boom.to_owned()));
    let mut config = server.config();
    config.retries.max = 0;
    let texts: Vec<String> = (0..64).map(|n| format!("text {n}")).collect();
    let outcome = embedder(&config).embed(&texts).await;
    assert!(matches!(outcome, Err(ModelError::Failed(_))), "{outcome:?}");
    assert_eq!(server.embedded().len(), 2);
    server.finish();
}

#[tokio::test]
async fn vectors_are_put_in_the_order_of_their_indexes() {
    let server = start().await;
    let items = json!([
        { "index": 1, "embedding": [0.0, 5.0] },
        { "index": 0, "embedding": [3.0e38, 0.0] },
        { "index": 2, "embedding": [0.0, 0.0] },
    ]);
    server.embeds(Embeddings::Scripted(Box::new(
        move |_| json!({ "data": items }),
    )));
    let vectors = embedder(&server.config())
        .embed(&owned(&["a", "b", "c"]))
        .await
        .unwrap();
    assert_eq!(vectors, [Some(vec![1.0, 0.0]), Some(vec![0.0, 1.0]), None]);
    server.finish();
}

#[tokio::test]
async fn vectors_that_make_no_sense_are_refused() {
    let bad = [
        json!({ "data": [] }),
        json!({ "data": [{ "index": 0, "embedding": [1.0] }, { "index": 0, "embedding": [1.0] }] }),
        json!({ "data": [{ "index": 0, "embedding": [1.0] }, { "index": 2, "embedding": [1.0] }] }),
        json!({ "data": [{ "index": 0, "embedding": [1.0] }, { "index": 1, "embedding": [1.0, 0.0] }] }),
        json!({ "data": [{ "index": 0, "embedding": [] }, { "index": 1, "embedding": [] }] }),
        json!({ "data": [{ "index": 0, "embedding": [1e39] }, { "index": 1, "embedding": [1.0] }] }),
        json!({ "data": [{ "index": 0, "embedding": [null] }, { "index": 1, "embedding": [1.0] }] }),
        json!([]),
    ];
    for body in bad {
        let server = start().await;
        let shown = body.to_string();
        server.embeds(Embeddings::Scripted(Box::new(move |_| body.clone())));
        let outcome = embedder(&server.config()).embed(&owned(&["a", "b"])).await;
        assert!(
            matches!(outcome, Err(ModelError::BadAnswer(_))),
            "{shown}: {outcome:?}"
        );
        server.finish();
    }
}

#[tokio::test]
async fn embedding_errors_have_their_names() {
    let server = start().await;
    let embedder = embedder(&server.config());
    let missing = r#"{"error":{"message":"model \"x\" not found"}}"#;
    server.embeds(Embeddings::Refused(404, missing.to_owned()));
    let unknown = embedder.embed(&owned(&["a"])).await;
    assert!(
        matches!(unknown, Err(ModelError::UnknownModel { .. })),
        "{unknown:?}"
    );
    server.set_down(true);
    let down = embedder.embed(&owned(&["a"])).await;
    assert!(matches!(down, Err(ModelError::Failed(_))), "{down:?}");
    server.finish();
}

#[tokio::test]
async fn check_finds_the_names() {
    let server = start().await;
    server.lists(Some(&["chat:latest", "embedding"]));
    // What is not listed is asked.
    server
        .expects(|request| request.model() == "utility")
        .replies(Reply::refusal(404, "model_not_found", "no such model"));
    let config = server.config();
    let checked = model(&config)
        .check(Some(&embedder(&config)))
        .await
        .unwrap();
    let good: Vec<(Role, bool)> = checked
        .iter()
        .map(|one| (one.role, one.is_good()))
        .collect();
    assert_eq!(
        good,
        [
            (Role::Chat, true),
            (Role::Utility, false),
            (Role::Embedding, true)
        ]
    );
    server.finish();
}

#[tokio::test]
async fn a_model_that_is_not_listed_but_answers_is_good() {
    let server = start().await;
    server.lists(Some(&["chat"]));
    server
        .expects(|request| request.model() == "utility" && request.body["max_tokens"] == 1)
        .replies(Reply::text("Hello"));
    let config = server.config();
    let checked = model(&config)
        .check(Some(&embedder(&config)))
        .await
        .unwrap();
    assert!(
        matches!(checked[0].finding, ModelAvailability::Listed),
        "{checked:?}"
    );
    for unlisted in &checked[1..] {
        assert!(
            matches!(unlisted.finding, ModelAvailability::AnswersUnlisted) && unlisted.is_good(),
            "{checked:?}"
        );
    }
    assert_eq!(checked.len(), 3);
    server.finish();
}

#[tokio::test]
async fn check_asks_where_nothing_is_listed() {
    let server = start().await;
    server.lists(None);
    server
        .expects(|request| request.model() == "chat" && request.body["max_tokens"] == 1)
        .replies(Reply::chunks([]).finish("length"));
    // It may have reasoned without showing that.
    server
        .expects(|request| request.model() == "chat" && request.body["max_tokens"] == 4)
        .replies(Reply::chunks([]).finish("length"));
    server
        .expects(|request| request.model() == "utility")
        .replies(Reply::refusal(404, "model_not_found", "no such model"));
    let checked = model(&server.config()).check(None).await.unwrap();
    assert!(
        matches!(checked[0].finding, ModelAvailability::Answers),
        "{checked:?}"
    );
    let unknown = &checked[1].finding;
    assert!(
        matches!(
            unknown,
            ModelAvailability::Fails(ModelError::UnknownModel { .. })
        ),
        "{checked:?}"
    );
    server.finish();
}
