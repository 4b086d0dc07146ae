//! Posts announcements in rooms.

use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use matrix_sdk::ruma::TransactionId;
use muninn_platform::{Announce, Announced, AudienceId, Delivered, SafeText, Unconfirmed};

use crate::content::{self, Relation};
use crate::hub::MatrixHub;
use crate::ids;

pub(crate) struct MatrixAnnouncer(pub(crate) Arc<MatrixHub>);

impl MatrixAnnouncer {
    fn say<'a>(&'a self, audience: &'a AudienceId, text: &'a SafeText) -> BoxFuture<'a, Announced> {
        async move {
            // Of rooms that replaced each other, the one that people use now.
            let mut rooms = self.0.client.joined_rooms().into_iter();
            let room = rooms.find(|room| {
                self.0.audience_of(room.room_id()) == *audience && room.successor_room().is_none()
            });
            let Some(room) = room else {
                return Announced::Refused("I am not in that room".to_owned());
            };
            let content = content::message(text, &Relation::None);
            let transaction = TransactionId::new();
            let sent = self.0.outbox.send_or_doubt(&room, &content, &transaction);
            let Unconfirmed { error, is_in_doubt } = match sent.await {
                Ok(id) => {
                    let id = ids::elsewhere(room.room_id(), &id);
                    return Announced::Said(Delivered(vec![id]));
                }
                Err(unconfirmed) => unconfirmed,
            };
            match error {
                error if is_in_doubt => {
                    // Rather missing than posted twice: a later attempt has another text.
                    tracing::warn!(%error, room = %room.room_id(), "whether an announcement was taken is not known; it is not said again");
                    Announced::Said(Delivered::default())
                }
                error if error.request_failure().is_temporary() => Announced::NotYet,
                error => {
                    Announced::Refused(format!("the homeserver refuses it ({})", error.reason()))
                }
            }
        }
        .boxed()
    }
}

#[async_trait]
impl Announce for MatrixAnnouncer {
    async fn announce(&self, audience: &AudienceId, text: &SafeText) -> Announced {
        self.say(audience, text).await
    }
}
