//! Checks whether the configured models exist, for `muninn doctor`.

use std::collections::HashSet;
use std::sync::PoisonError;

use serde_json::Value;
use tokio::time::timeout;

use super::{
    ChatMessage, ChatModel, ChatRequest, ModelError, Purpose, RemoteEmbedder, Sampling,
    TimedOutWait,
};

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
    /// The service lists other models only.
    NotListed,
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
            ModelAvailability::Listed | ModelAvailability::Answers => true,
            ModelAvailability::NotListed | ModelAvailability::Fails(_) => false,
        }
    }
}

impl ChatModel {
    /// Looks for the configured names in the service's list of models. If it has no list, requests one token
    /// from each model.
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
                Some(listed) => find(listed, embedder.model()),
                None => answered(embedder.embed(&["Hello".to_owned()]).await),
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
            Some(listed) => find(listed, self.model(purpose)),
            None => answered(self.complete(&one_token(purpose), &mut |_| {}).await),
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

/// The names under which a model may be listed: Ollama appends `:latest`, and Google has a folder.
pub(super) fn listed_names(model: &str) -> [String; 3] {
    [
        model.to_owned(),
        format!("{model}:latest"),
        format!("models/{model}"),
    ]
}

fn find(listed: &HashSet<String>, model: &str) -> ModelAvailability {
    if listed_names(model).iter().any(|name| listed.contains(name)) {
        ModelAvailability::Listed
    } else {
        ModelAvailability::NotListed
    }
}

fn answered<T>(answer: Result<T, ModelError>) -> ModelAvailability {
    match answer {
        // One token is not enough for a model that reasons.
        Ok(_) | Err(ModelError::OnlyReasoned(_)) => ModelAvailability::Answers,
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
        for (body, is_listed) in [
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
            let found = find(&listed, "small");
            assert_eq!(
                matches!(found, ModelAvailability::Listed),
                is_listed,
                "{body}"
            );
        }
        assert_eq!(read_list(&json!({"models": []})), None);
    }
}
