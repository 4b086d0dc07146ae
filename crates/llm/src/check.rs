//! Checks whether the configured models exist, for `muninn doctor`.

use std::collections::HashSet;
use std::sync::PoisonError;

use serde_json::Value;
use tokio::time::timeout;

use super::{
    ChatMessage, ChatModel, ChatRequest, ModelError, Purpose, RemoteEmbedder, Sampling,
    TimedOutWait,
};

/// Suffixes with which `OpenRouter` takes every model that it lists. It does not list them; its other suffixes, such as
/// `:free`, are models in its list.
const ROUTING_SUFFIXES: [&str; 4] = [":nitro", ":floor", ":exacto", ":online"];

/// The role of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Chat,
    Utility,
    Embedding,
}

/// The result of a check.
#[derive(Debug)]
pub enum ModelAvailability {
    /// The service lists the model.
    Listed,
    /// The service lists other models only, but the model answers: it may be an alias or a deployment.
    AnswersUnlisted,
    /// The service lists other models only, and the model does not answer.
    NotListed(ModelError),
    /// The service has no list, but the model answers.
    Answers,
    /// The service has no list, and the model does not answer.
    Fails(ModelError),
}

/// A model and its result.
#[derive(Debug)]
pub struct ModelCheck {
    pub role: Role,
    pub model: String,
    pub finding: ModelAvailability,
}

impl ModelCheck {
    /// Whether the model can be used.
    pub fn is_good(&self) -> bool {
        match self.finding {
            ModelAvailability::Listed
            | ModelAvailability::AnswersUnlisted
            | ModelAvailability::Answers => true,
            ModelAvailability::NotListed(_) | ModelAvailability::Fails(_) => false,
        }
    }
}

impl ChatModel {
    /// Looks for the configured names in the service's list of models. If it has no list, requests one token
    /// from each model; otherwise from each that it does not list, because aliases and deployments often are in no list.
    ///
    /// Returns an error if the service itself fails, for example because of a wrong key. A problem of a single
    /// model is in its finding.
    pub async fn check(
        &self,
        embedder: Option<&RemoteEmbedder>,
    ) -> Result<Vec<ModelCheck>, ModelError> {
        let listed = self.listed().await?;
        let mut checked = vec![
            self.check_one(Role::Chat, Purpose::Answer, listed.as_ref())
                .await,
        ];
        if self.utility_model != self.chat_model {
            checked.push(
                self.check_one(Role::Utility, Purpose::Utility, listed.as_ref())
                    .await,
            );
        }
        if let Some(embedder) = embedder {
            let finding = match listed.as_ref() {
                Some(listed) if is_listed(listed, embedder.model()) => ModelAvailability::Listed,
                Some(_) | None => {
                    let answer = embedder.embed(&["Hello".to_owned()]).await;
                    answered(answer, listed.is_some())
                }
            };
            checked.push(ModelCheck {
                role: Role::Embedding,
                model: embedder.model().to_owned(),
                finding,
            });
        }
        Ok(checked)
    }

    async fn check_one(
        &self,
        role: Role,
        purpose: Purpose,
        listed: Option<&HashSet<String>>,
    ) -> ModelCheck {
        let finding = match listed {
            Some(listed) if is_listed(listed, self.model(purpose)) => ModelAvailability::Listed,
            Some(_) | None => {
                let answer = self.complete(&one_token(purpose), &mut |_| {}).await;
                answered(answer, listed.is_some())
            }
        };
        ModelCheck {
            role,
            model: self.model(purpose).to_owned(),
            finding,
        }
    }

    /// The service's models, if it lists them.
    async fn listed(&self) -> Result<Option<HashSet<String>>, ModelError> {
        let body = timeout(self.timeouts.total, self.service.get("/models")).await;
        match body.unwrap_or(Err(ModelError::TimedOut(TimedOutWait::Unfinished(
            self.timeouts.total,
        )))) {
            Ok(body) => {
                let body: Option<Value> = serde_json::from_slice(&body).ok();
                let ids = body.as_ref().and_then(read_list);
                *self.listed.lock().unwrap_or_else(PoisonError::into_inner) = body;
                Ok(ids)
            }
            Err(
                ModelError::Refused(_)
                | ModelError::UnknownModel { .. }
                | ModelError::Failed(_)
                | ModelError::BadAnswer(_),
            ) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn read_list(body: &Value) -> Option<HashSet<String>> {
    let ids = entries(body)?.iter();
    Some(
        ids.filter_map(|model| Some(model["id"].as_str()?.to_owned()))
            .collect(),
    )
}

/// The entries of a list of models. Together sends them alone.
pub(super) fn entries(body: &Value) -> Option<&[Value]> {
    let entries = body.as_array().or_else(|| body["data"].as_array())?;
    Some(entries)
}

/// The names under which a model may be listed, the most exact first: Ollama appends `:latest`, Google has a folder, and
/// `OpenRouter` lists no suffixes that only choose a provider.
pub(super) fn listed_names(model: &str) -> Vec<String> {
    let mut names = vec![
        model.to_owned(),
        format!("{model}:latest"),
        format!("models/{model}"),
    ];
    let mut suffixes = ROUTING_SUFFIXES.iter();
    let base = suffixes.find_map(|suffix| model.strip_suffix(*suffix));
    names.extend(base.map(str::to_owned));
    names
}

fn is_listed(listed: &HashSet<String>, model: &str) -> bool {
    listed_names(model).iter().any(|name| listed.contains(name))
}

/// `is_unlisted`: the service has a list, without the model.
fn answered<T>(answer: Result<T, ModelError>, is_unlisted: bool) -> ModelAvailability {
    match answer {
        // One token is not enough for a model that reasons.
        Ok(_) | Err(ModelError::OnlyReasoned(_)) if is_unlisted => {
            ModelAvailability::AnswersUnlisted
        }
        Ok(_) | Err(ModelError::OnlyReasoned(_)) => ModelAvailability::Answers,
        Err(error) if is_unlisted => ModelAvailability::NotListed(error),
        Err(error) => ModelAvailability::Fails(error),
    }
}

fn one_token(purpose: Purpose) -> ChatRequest {
    ChatRequest {
        messages: vec![ChatMessage::User("Hello".to_owned())],
        images: Vec::new(),
        model: None,
        tools: Vec::new(),
        known_tools: Vec::new(),
        shape: None,
        sampling: Sampling::default(),
        max_tokens: 1,
        purpose,
        person: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_model_is_found_in_the_list_of_each_service() {
        for (body, expected) in [
            (json!({"object": "list", "data": [{"id": "small"}]}), true),
            (json!({"data": [{"id": "small:latest"}]}), true),
            (json!({"data": [{"id": "models/small"}]}), true),
            (json!([{"id": "other"}, {"id": "small"}]), true),
            (
                json!({"data": [{"id": "smaller"}, {"name": "small"}]}),
                false,
            ),
        ] {
            let listed = read_list(&body).unwrap();
            assert_eq!(is_listed(&listed, "small"), expected, "{body}");
        }
        assert_eq!(read_list(&json!({"models": []})), None);
    }

    #[test]
    fn a_model_with_a_suffix_that_chooses_a_provider_is_listed_without_it() {
        let list = json!({"data": [{"id": "a/small"}, {"id": "a/large"}, {"id": "a/large:free"}]});
        let listed = read_list(&list).unwrap();
        for (model, expected) in [
            ("a/small:nitro", true),
            ("a/small:floor", true),
            ("a/small:exacto", true),
            ("a/small:online", true),
            ("a/large:free", true),
            ("a/large:free:online", true),
            ("a/small:free", false),
            ("a/small:nitr", false),
            ("a/smal:nitro", false),
        ] {
            assert_eq!(is_listed(&listed, model), expected, "{model}");
        }
    }
}
