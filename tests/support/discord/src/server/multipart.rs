//! Parses bodies with files: `payload_json` beside `files[n]`.

use serde_json::Value;

/// A file that came with a message.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    /// The number by which the message refers to it.
    pub(crate) number: u64,
    pub(crate) name: String,
    pub(crate) media_type: String,
    pub(crate) content: Vec<u8>,
}

/// Returns the payload of such a body, and its files. `None` if it is not one.
pub(super) fn read(kind: &str, body: &[u8]) -> Option<(Value, Vec<Sent>)> {
    let boundary = kind.strip_prefix("multipart/form-data")?;
    let boundary = boundary.split_once("boundary=")?.1.trim_matches('"');
    let mut told = Value::Null;
    let mut files = Vec::new();
    for part in parts(body, format!("--{boundary}").as_bytes()) {
        let end = find(part, b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&part[..end]).into_owned();
        let content = &part[end + 4..];
        let content = content.strip_suffix(b"\r\n").unwrap_or(content);
        let name = between(&head, "name=\"", "\"")?;
        if name == "payload_json" {
            told = serde_json::from_slice(content).ok()?;
            continue;
        }
        let number = between(name, "files[", "]")?.parse().ok()?;
        let kind = head.to_ascii_lowercase();
        let kind = kind.split("content-type:").nth(1).unwrap_or_default();
        files.push(Sent {
            number,
            name: between(&head, "filename=\"", "\"")?.to_owned(),
            media_type: kind.lines().next().unwrap_or_default().trim().to_owned(),
            content: content.to_vec(),
        });
    }
    Some((told, files))
}

/// Returns the parts between the boundaries.
fn parts<'a>(mut body: &'a [u8], boundary: &[u8]) -> Vec<&'a [u8]> {
    let mut parts = Vec::new();
    while let Some(begin) = find(body, boundary) {
        body = &body[begin + boundary.len()..];
        let Some(end) = find(body, boundary) else {
            break;
        };
        parts.push(&body[..end]);
    }
    parts
}

fn find(body: &[u8], sought: &[u8]) -> Option<usize> {
    body.windows(sought.len()).position(|here| here == sought)
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    text.split_once(before)?.1.split_once(after).map(|it| it.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_with_its_files() {
        let body = "--x\r\nContent-Disposition: form-data; name=\"files[0]\"; filename=\"a.md\"\r\n\
                    Content-Type: text/markdown\r\n\r\n# A\r\n\r\n--x\r\n\
                    Content-Disposition: form-data; name=\"payload_json\"\r\n\r\n{\"a\":1}\r\n--x--\r\n";
        let (told, files) = read("multipart/form-data; boundary=x", body.as_bytes()).unwrap();
        assert_eq!(told["a"], 1);
        assert_eq!(files[0].content, b"# A\r\n");
        assert_eq!(
            (files[0].name.as_str(), files[0].media_type.as_str()),
            ("a.md", "text/markdown")
        );
        assert!(read("application/json", b"{}").is_none());
    }
}
