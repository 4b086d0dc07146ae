//! Discord's error responses: a status, a code and a message, and for an invalid form the error of
//! each field.

use serde_json::{Map, Value, json};

/// One error in one field of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// Dotted path, with list indices: `embeds.0.title`.
    pub(crate) at: String,
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Wrong {
    pub(crate) fn new(
        at: impl Into<String>,
        code: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            at: at.into(),
            code,
            message: message.into(),
        }
    }
}

/// A refusal.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    pub(crate) status: u16,
    pub(crate) code: u32,
    pub(crate) message: String,
    pub(crate) wrongs: Vec<Wrong>,
    /// It depends on the server's state, which a client cannot know.
    pub(crate) state: bool,
}

macro_rules! refusals {
    ($($name:ident => $status:literal, $code:literal, $message:literal;)*) => {
        impl ApiError {
            $(
                pub(crate) fn $name() -> Self {
                    Self::new($status, $code, $message)
                }
            )*
        }
    };
}

// Codes and messages of Discord's documentation, "JSON Error Codes".
refusals! {
    unauthorized => 401, 0, "401: Unauthorized";
    not_found => 404, 0, "404: Not Found";
    method_not_allowed => 405, 0, "405: Method Not Allowed";
    unknown_application => 404, 10002, "Unknown Application";
    unknown_channel => 404, 10003, "Unknown Channel";
    unknown_guild => 404, 10004, "Unknown Guild";
    unknown_member => 404, 10007, "Unknown Member";
    unknown_message => 404, 10008, "Unknown Message";
    unknown_user => 404, 10013, "Unknown User";
    unknown_webhook => 404, 10015, "Unknown Webhook";
    unknown_interaction => 404, 10062, "Unknown interaction";
    already_acknowledged => 400, 40060, "Interaction has already been acknowledged.";
    missing_access => 403, 50001, "Missing Access";
    not_in_direct_messages => 403, 50003, "Cannot execute action on a DM channel";
    not_the_author => 403, 50005, "Cannot edit a message authored by another user";
    empty_message => 400, 50006, "Cannot send an empty message";
    cannot_message_user => 403, 50007, "Cannot send messages to this user";
    no_text_here => 400, 50008, "Cannot send messages in a non-text channel";
    missing_permissions => 403, 50013, "Missing Permissions";
    wrong_channel_kind => 400, 50024, "Cannot execute action on this channel type";
    bad_webhook_token => 401, 50027, "Invalid Webhook Token";
    bad_json => 400, 50109, "The request body contains invalid JSON.";
    too_large => 413, 40005, "Request entity too large";
    archived => 400, 50083, "Tried to perform an operation on an archived thread";
    no_history => 403, 160_002, "Cannot reply without permission to read message history";
    thread_exists => 400, 160_004, "A thread has already been created for this message";
    locked => 403, 160_005, "Thread is locked";
    too_many_threads => 400, 160_006, "Maximum number of active threads reached";
}

impl ApiError {
    pub(crate) fn new(status: u16, code: u32, message: &str) -> Self {
        Self {
            status,
            code,
            message: message.to_owned(),
            wrongs: Vec::new(),
            state: false,
        }
    }

    pub(crate) fn invalid_form(wrongs: Vec<Wrong>) -> Self {
        Self {
            wrongs,
            ..Self::new(400, 50035, "Invalid Form Body")
        }
    }

    /// Whether it is the client's fault, whatever the server's state.
    pub(crate) fn is_clients_fault(&self) -> bool {
        match self.code {
            _ if self.state => false,
            40005 | 50006 | 50035 | 50109 | 40060 | 10014 | 50008 | 50024 => true,
            0 => self.status == 404 || self.status == 405,
            _ => false,
        }
    }

    pub(crate) fn body(&self) -> Value {
        let mut body = json!({ "message": self.message, "code": self.code });
        if !self.wrongs.is_empty() {
            let mut errors = Map::new();
            for wrong in &self.wrongs {
                place(&mut errors, &wrong.at, wrong);
            }
            body["errors"] = Value::Object(errors);
        }
        body
    }
}

fn place(errors: &mut Map<String, Value>, at: &str, wrong: &Wrong) {
    let (first, rest) = at.split_once('.').unwrap_or((at, ""));
    if first.is_empty() {
        let list = errors.entry("_errors").or_insert_with(|| json!([]));
        if let Some(list) = list.as_array_mut() {
            list.push(json!({ "code": wrong.code, "message": wrong.message }));
        }
        return;
    }
    let inner = errors.entry(first).or_insert_with(|| json!({}));
    if let Some(inner) = inner.as_object_mut() {
        place(inner, rest, wrong);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_where_it_is() {
        let error = ApiError::invalid_form(vec![
            Wrong::new(
                "content",
                "BASE_TYPE_MAX_LENGTH",
                "Must be 2000 or fewer in length.",
            ),
            Wrong::new(
                "embeds.0.title",
                "BASE_TYPE_REQUIRED",
                "This field is required",
            ),
        ]);
        let expected = json!({
            "code": 50035, "message": "Invalid Form Body",
            "errors": {
                "content": { "_errors": [{ "code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer in length." }] },
                "embeds": { "0": { "title": { "_errors": [{ "code": "BASE_TYPE_REQUIRED", "message": "This field is required" }] } } },
            },
        });
        assert_eq!(error.body(), expected);
    }
}
