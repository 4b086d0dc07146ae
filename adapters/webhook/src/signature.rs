//! Signs and verifies time and body, in both directions. Pure: the time is passed in.
//!
//! The header [`HEADER`] is `t=TIME,v1=SIGNATURE`: the time in seconds of the epoch, and the HMAC-SHA256 over
//! `TIME.BODY` in hexadecimal digits.

use std::collections::HashMap;

use hmac::{Hmac, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

pub(crate) const HEADER: &str = "muninn-signature";

/// Maximum difference between the time of a request and ours, in seconds.
const WINDOW: i64 = 300;

/// Maximum remembered signatures; with more in ten minutes, requests are refused.
const MOST_REMEMBERED: usize = 100_000;

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Rejection {
    #[error("the header Muninn-Signature is missing or is not `t=TIME,v1=SIGNATURE`")]
    Unsigned,
    #[error("the signature is wrong; it is the HMAC-SHA256 over TIME.BODY with WEBHOOK_SECRET")]
    Wrong,
    #[error("the time of the signature is more than five minutes away; check both clocks")]
    Old,
    #[error("this request came already; sign it again with the current time")]
    Replayed,
    #[error("too many requests in a few minutes")]
    TooMany,
}

/// Returns the header's value for a body that is sent now.
pub fn sign(secret: &SecretString, now: i64, body: &[u8]) -> String {
    let signature = hex::encode(mac(secret, now, body).finalize().into_bytes());
    format!("t={now},v1={signature}")
}

/// Verifies a header; returns the signature, which must be used only once.
pub(crate) fn verify(
    secret: &SecretString,
    now: i64,
    header: &str,
    body: &[u8],
) -> Result<(i64, Vec<u8>), Rejection> {
    let (time, signature) = header
        .strip_prefix("t=")
        .and_then(|rest| rest.split_once(",v1="))
        .ok_or(Rejection::Unsigned)?;
    let time: i64 = time.parse().map_err(|_| Rejection::Unsigned)?;
    let signature = hex::decode(signature).map_err(|_| Rejection::Unsigned)?;
    // In constant time, so that the duration reveals nothing.
    let checked = mac(secret, time, body).verify_slice(&signature);
    checked.map_err(|_| Rejection::Wrong)?;
    if now.abs_diff(time) > WINDOW.unsigned_abs() {
        return Err(Rejection::Old);
    }
    Ok((time, signature))
}

fn mac(secret: &SecretString, time: i64, body: &[u8]) -> Hmac<Sha256> {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes())
        .expect("a key of any length");
    mac.update(format!("{time}.").as_bytes());
    mac.update(body);
    mac
}

/// The signatures used within the window, to detect repetitions.
#[derive(Debug, Default)]
pub(crate) struct UsedSignatures(HashMap<Vec<u8>, i64>);

impl UsedSignatures {
    /// Records a verified signature as used.
    pub(crate) fn take(
        &mut self,
        now: i64,
        (time, signature): (i64, Vec<u8>),
    ) -> Result<(), Rejection> {
        if self.0.contains_key(&signature) {
            return Err(Rejection::Replayed);
        }
        if self.0.len() >= MOST_REMEMBERED {
            // Older requests are refused for their time.
            self.0.retain(|_, time| now - *time <= WINDOW);
        }
        if self.0.len() >= MOST_REMEMBERED {
            return Err(Rejection::TooMany);
        }
        self.0.insert(signature, time);
        Ok(())
    }

    /// Allows a signature again, because the bot did not accept the request.
    pub(crate) fn give_back(&mut self, signature: &[u8]) {
        self.0.remove(signature);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: i64 = 1_700_000_000;

    fn secret() -> SecretString {
        "a secret of some length".into()
    }

    fn verify_at(now: i64, header: &str, body: &[u8]) -> Result<(i64, Vec<u8>), Rejection> {
        verify(&secret(), now, header, body)
    }

    #[test]
    fn a_signature_is_the_published_one() {
        // printf '1700000000.{}' | openssl dgst -sha256 -hmac 'a secret of some length'
        let expected = format!("t={NOW},v1={KNOWN}");
        assert_eq!(sign(&secret(), NOW, b"{}"), expected);
    }

    const KNOWN: &str = "9008b8e96ac884fb56cbbbb39d8c4b578c2c6de7951cbcce7f1f18311f3cd9f2";

    #[test]
    fn what_is_not_signed_now_is_refused() {
        let body = b"{}";
        let good = sign(&secret(), NOW, body);
        assert!(verify_at(NOW, &good, body).is_ok());
        for (now, header, body, why) in [
            (NOW + 300, good.clone(), "{}", None),
            (NOW - 300, good.clone(), "{}", None),
            (NOW + 301, good.clone(), "{}", Some(Rejection::Old)),
            (NOW - 301, good.clone(), "{}", Some(Rejection::Old)),
            (i64::MIN, good.clone(), "{}", Some(Rejection::Old)),
            (NOW, good.clone(), "{ }", Some(Rejection::Wrong)),
            (
                NOW,
                good.replace("t=17", "t=18"),
                "{}",
                Some(Rejection::Wrong),
            ),
            (NOW, good[..60].to_owned(), "{}", Some(Rejection::Wrong)),
            (NOW, String::new(), "{}", Some(Rejection::Unsigned)),
            (
                NOW,
                "t=now,v1=00".to_owned(),
                "{}",
                Some(Rejection::Unsigned),
            ),
            (NOW, "t=1,v1=zz".to_owned(), "{}", Some(Rejection::Unsigned)),
            (NOW, "t=1,v1=".to_owned(), "{}", Some(Rejection::Wrong)),
        ] {
            let found = verify_at(now, &header, body.as_bytes()).err();
            assert_eq!(found, why, "{header}");
        }
    }

    #[test]
    fn a_request_is_taken_once() {
        let mut taken = UsedSignatures::default();
        let signed = |number: i64| (NOW, number.to_be_bytes().to_vec());
        assert_eq!(taken.take(NOW, signed(1)), Ok(()));
        assert_eq!(taken.take(NOW, signed(1)), Err(Rejection::Replayed));
        taken.give_back(&signed(1).1);
        assert_eq!(taken.take(NOW, signed(1)), Ok(()));
        for number in 2..=MOST_REMEMBERED as i64 {
            assert_eq!(taken.take(NOW, signed(number)), Ok(()));
        }
        assert_eq!(taken.take(NOW, signed(0)), Err(Rejection::TooMany));
        assert_eq!(taken.take(NOW + WINDOW + 1, signed(0)), Ok(()));
    }

    proptest! {
        #[test]
        fn another_body_secret_or_time_is_told(
            body in proptest::collection::vec(any::<u8>(), 0..40),
            other in proptest::collection::vec(any::<u8>(), 0..40),
            later in 1_i64..300,
            key in "[a-z]{16,30}",
        ) {
            let header = sign(&secret(), NOW, &body);
            prop_assert!(verify_at(NOW + later, &header, &body).is_ok());
            prop_assert_eq!(verify_at(NOW, &header, &other).is_ok(), body == other);
            let with_other_key = sign(&key.into(), NOW, &body);
            prop_assert_eq!(verify_at(NOW, &with_other_key, &body), Err(Rejection::Wrong));
            let moved = header.replace(&NOW.to_string(), &(NOW + later).to_string());
            prop_assert_eq!(verify_at(NOW, &moved, &body), Err(Rejection::Wrong));
        }

        #[test]
        fn any_header_gets_an_answer(header in "\\PC{0,80}") {
            prop_assert!(verify_at(NOW, &header, b"").is_err());
        }
    }
}
