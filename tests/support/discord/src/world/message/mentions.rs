//! Whom a message pings.

use serde_json::Value;

use super::{StoredMessage, kinds};
use crate::Id;
use crate::permissions::Permissions;
use crate::world::World;

/// Whom a message may ping; if absent, everybody whom it mentions.
struct Allowed<'a>(Option<&'a Value>);

impl Allowed<'_> {
    fn parses(&self, what: &str) -> bool {
        let Some(allowed) = self.0 else { return true };
        let parse = allowed["parse"].as_array();
        parse.is_none_or(|parse| parse.iter().any(|of| of == what))
    }

    fn lists(&self, list: &str, id: Id) -> bool {
        let list = self.0.and_then(|allowed| allowed[list].as_array());
        list.is_some_and(|list| list.contains(&id.json()))
    }

    fn calls(&self, kind: &str, id: Id) -> bool {
        self.parses(kind) || self.lists(kind, id)
    }

    fn calls_author(&self) -> bool {
        self.0.is_none_or(|allowed| allowed["replied_user"] == true)
    }
}

/// Returns the ids in mentions that begin with `open`, each once.
fn named(content: &str, open: &str) -> Vec<Id> {
    let mut ids = Vec::new();
    for part in content.split(open).skip(1) {
        let text = part
            .split_once('>')
            .map(|(text, _)| text.trim_start_matches('!'));
        if let Some(id) = text.and_then(Id::parse)
            && !ids.contains(&id)
        {
            ids.push(id);
        }
    }
    ids
}

impl World {
    /// Finds whom a message pings, by its text and by replying.
    pub(super) fn read_mentions(&self, message: &mut StoredMessage) {
        let content = &message.draft.content;
        let allowed = Allowed(message.draft.allowed_mentions.as_ref());
        let users = named(content, "<@").into_iter();
        let users = users.filter(|id| self.users.contains_key(id) && allowed.calls("users", *id));
        let mut mentions: Vec<Id> = users.collect();
        let roles = named(content, "<@&").into_iter();
        let mention_roles = roles.filter(|id| allowed.calls("roles", *id)).collect();
        let earlier = message
            .draft
            .reference
            .filter(|_| message.draft.kind == kinds::REPLY);
        let earlier = earlier.and_then(|id| self.message(message.channel, id));
        if let Some(earlier) = earlier
            && allowed.calls_author()
            && !mentions.contains(&earlier.author)
            && earlier
                .draft
                .webhook
                .is_none_or(|webhook| self.apps.contains_key(&webhook))
        {
            mentions.push(earlier.author);
        }
        let names_all = content.contains("@everyone") || content.contains("@here");
        let may_call = self.channels.get(&message.channel).is_some_and(|channel| {
            let permissions = self.permissions(message.author, channel);
            channel.guild.is_some() && permissions.contains(Permissions::MENTION_EVERYONE)
        });
        message.mention_everyone = names_all && may_call && allowed.parses("everyone");
        message.mentions = mentions;
        message.mention_roles = mention_roles;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn mentions_are_read_out_of_the_text() {
        let ids = named("<@1> and <@!2>, <@1> again, <@&3>, <@x>, <@4", "<@");
        assert_eq!(ids, [Id::new(1), Id::new(2)]);
        assert_eq!(named("<@&3> <@3>", "<@&"), [Id::new(3)]);
    }

    #[test]
    fn what_is_allowed_is_what_is_parsed_or_listed() {
        let (nothing, listed) = (
            json!({ "parse": [] }),
            json!({ "parse": ["roles"], "users": ["1"] }),
        );
        let table = [
            (None, true, true, true),
            (Some(&nothing), false, false, false),
            (Some(&listed), true, true, false),
        ];
        for (allowed, user, role, author) in table {
            let allowed = Allowed(allowed);
            assert_eq!(allowed.calls("users", Id::new(1)), user);
            assert_eq!(allowed.calls("roles", Id::new(9)), role);
            assert_eq!(allowed.calls_author(), author);
        }
    }
}
