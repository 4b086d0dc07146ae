//! Downloads files that people send, only when and as far as the bot wants them.

use muninn_platform::{Attachment, DownloadError, add_chunk, in_one_line};
use reqwest::Url;

use crate::hub::DiscordHub;
use crate::options::authority;

/// The hosts of Discord's files.
const HOSTS: [&str; 2] = ["cdn.discordapp.com", "media.discordapp.net"];

pub(crate) async fn download(
    hub: &DiscordHub,
    attachment: &Attachment,
    most: usize,
) -> Result<Vec<u8>, DownloadError> {
    attachment.read(most, fetch(hub, attachment, most)).await
}

/// Parses the address. `None` unless its host is one of Discord's or `own`.
fn address(text: &str, own: Option<&str>) -> Option<Url> {
    let address = Url::parse(text).ok()?;
    let host = address.host_str()?;
    let is_discords =
        address.scheme() == "https" && address.port().is_none() && HOSTS.contains(&host);
    let is_own = own.is_some() && own == authority(&address).as_deref();
    (is_discords || is_own).then_some(address)
}

async fn fetch(
    hub: &DiscordHub,
    attachment: &Attachment,
    most: usize,
) -> Result<Vec<u8>, DownloadError> {
    let own = hub.options.file_host.as_deref();
    let Some(address) = address(&attachment.id, own) else {
        return Err(DownloadError::Refused(
            "it is no file of Discord's".to_owned(),
        ));
    };
    // The error omits the URL, whose signature opens the file to everybody.
    let refused = |error: reqwest::Error| DownloadError::Refused(in_one_line(&error.without_url()));
    let answer = hub.api.files.get(address).send().await.map_err(refused)?;
    let mut answer = match answer.status().as_u16() {
        200 => answer,
        404 => return Err(DownloadError::Refused("it is gone".to_owned())),
        status => return Err(DownloadError::Refused(format!("status {status}"))),
    };
    let mut content = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(refused)? {
        add_chunk(&mut content, &piece, most)?;
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_discords_own_hosts_are_asked() {
        let own = Some("127.0.0.1:9000");
        for (address, is_asked) in [
            (
                "https://cdn.discordapp.com/attachments/1/2/a.txt?ex=1",
                true,
            ),
            ("https://media.discordapp.net/attachments/1/2/a.png", true),
            ("http://cdn.discordapp.com/attachments/1/2/a.txt", false),
            ("https://cdn.discordapp.com:444/a", false),
            ("https://cdn.discordapp.com.evil.example/a", false),
            ("https://cdn.discordapp.com@evil.example/a", false),
            ("https://127.0.0.1/a", false),
            ("http://127.0.0.1:9000/a", true),
            ("http://127.0.0.1:9001/a", false),
            ("file:///etc/passwd", false),
            ("nonsense", false),
        ] {
            assert_eq!(
                super::address(address, own).is_some(),
                is_asked,
                "{address}"
            );
        }
    }
}
