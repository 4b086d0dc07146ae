//! Hands over files to one person: in a direct message, or else as an ephemeral response to their
//! command.

use muninn_platform::{HandedOver, NotHandedOver, OwnFile};

use crate::buttons::ButtonOwner;
use crate::content;
use crate::errors::{Failure, RefusalReason};
use crate::transport::AnswerTransport;
use muninn_texts::text;

/// Maximum file size in bytes: Discord accepts 10 MiB from a bot; the rest is for the request
/// around the file.
pub(crate) const LARGEST_FILE: u64 = 9 * 1024 * 1024;

/// Sends the files to the asker, one message each.
pub(crate) async fn hand_over(
    transport: &AnswerTransport,
    files: &[OwnFile],
) -> Result<HandedOver, NotHandedOver> {
    let hub = &transport.hub;
    let ButtonOwner { asker, place } = transport.belongs;
    let opening = || hub.api.open_direct(asker);
    let direct = match hub.outbox.retry(opening).await {
        Ok(direct) => direct,
        Err(failure) if failure.is(RefusalReason::NoDirect) => {
            return below_command(transport, files).await;
        }
        Err(failure) => return Err(why(&failure)),
    };
    for (number, file) in files.iter().enumerate() {
        let content = file.read().await?;
        let message = content::file(&file.name, &format!("{}.f{number}", transport.nonce));
        let (message, name) = (&message, file.name.as_str());
        let sending = || hub.api.send_file(direct, message, (name, content.clone()));
        match hub.outbox.retry(sending).await {
            Ok(_) => {}
            Err(failure) if failure.is(RefusalReason::NoDirect) => {
                return below_command(transport, files).await;
            }
            Err(failure) => return Err(why(&failure)),
        }
    }
    Ok(match place.guild {
        Some(_) => HandedOver::Directly,
        None => HandedOver::Here,
    })
}

/// Sends them as follow-ups to the command, if the person accepts no direct messages.
async fn below_command(
    transport: &AnswerTransport,
    files: &[OwnFile],
) -> Result<HandedOver, NotHandedOver> {
    let hub = &transport.hub;
    let token = transport.token().filter(|_| transport.is_private);
    let token = token.ok_or_else(|| NotHandedOver::new(text!("no-copy-direct")))?;
    for file in files {
        let content = file.read().await?;
        let message = content::private_file(&file.name);
        let (message, name) = (&message, file.name.as_str());
        let sending = || {
            let file = (name, content.clone());
            hub.api.follow_up_with_file(token, message, file)
        };
        hub.outbox
            .retry(sending)
            .await
            .map_err(|failure| why(&failure))?;
    }
    Ok(HandedOver::Here)
}

fn why(failure: &Failure) -> NotHandedOver {
    if failure.is(RefusalReason::NoDirect) {
        return NotHandedOver::new(text!("no-copy-direct"));
    }
    NotHandedOver::after(failure.request_failure(), "Discord", failure.to_string())
}
