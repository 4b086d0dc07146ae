//! Posts announcements in channels.

use std::sync::Arc;

use async_trait::async_trait;
use muninn_platform::{Announce, Announced, AudienceId, SafeText, Vocabulary};

use crate::content;
use crate::errors::Kind;
use crate::hub::Hub;
use crate::ids::{self, Place};
use crate::vocabulary::VOCABULARY;

pub(crate) struct Announcer(pub(crate) Arc<Hub>);

#[async_trait]
impl Announce for Announcer {
    async fn announce(&self, audience: &AudienceId, text: &SafeText) -> Announced {
        let place = Place::parse(audience.as_str());
        let Some(place) = place.filter(|place| place.private_to.is_none()) else {
            return Announced::Refused("it is no channel of Discord".to_owned());
        };
        let mut said = None;
        for text in content::texts(std::slice::from_ref(text)) {
            let message = content::announcement(&text);
            let sent = self
                .0
                .outbox
                .persist(|| self.0.api.send(place.channel, &message));
            match sent.await {
                Ok(sent) => said = said.or(Some(ids::sent(sent.channel_id, sent.id))),
                // A partly posted announcement is not started again.
                Err(_) if said.is_some() => break,
                Err(failure) => match failure.kind {
                    Kind::Away | Kind::Limited | Kind::LoggedOut => return Announced::NotYet,
                    Kind::Refused(_) => {
                        return Announced::Refused(format!("Discord refuses it: {failure}"));
                    }
                },
            }
        }
        said.map_or(Announced::NotYet, Announced::Said)
    }

    fn vocabulary(&self) -> &'static Vocabulary {
        &VOCABULARY
    }
}
