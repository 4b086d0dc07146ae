//! Finds whose words a question asks for: "what did Maria say about the key", "did anyone mention the key".

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use crate::retrieval::language::{WordList, is_asking, is_auxiliary};
use crate::retrieval::text::lowercase_words;

/// Verbs of saying.
const SAYING: WordList = WordList::of(
    "say says said mention mentions mentioned tell tells told write writes wrote talk talked promise promises promised \
    announce announced suggest suggested \
    sagen sagt sagte gesagt erwähnt erwähnte geschrieben schrieb erzählt versprochen versprach \
    dire dit écrit promis mentionné decir dijo dicho escribió escrito prometió prometido mencionado \
    disse dito escreveu escrito prometeu detto scritto promesso gezegd zei geschreven beloofd vermeld \
    powiedział powiedziała napisał napisała obiecał obiecała сказал сказала написал написала обещал обещала",
);
/// People whom nobody names.
const ANYBODY: WordList = WordList::of(
    "anyone anybody someone somebody jemand quelqu alguien alguém qualcuno iemand ktoś кто-нибудь",
);
/// What nobody names.
const ANYTHING: WordList =
    WordList::of("anything something etwas irgendwas chose algo qualcosa iets coś");

/// Whose words a question asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::memory) struct AskedSpeaker {
    /// One of the people whom the question means.
    pub(in crate::memory) is_named: bool,
    /// Words of the question that are not about what was said.
    left_out: Vec<String>,
}

impl AskedSpeaker {
    /// Reads lower-case words. `meant` has the names of the people whom they mean.
    pub(in crate::memory) fn of(words: &[String], meant: &HashSet<Arc<str>>) -> Self {
        let names: HashSet<String> = meant
            .iter()
            .flat_map(|name| lowercase_words(name))
            .collect();
        let Some(speaker) = words
            .iter()
            .position(|word| ANYBODY.has(word) || names.contains(word))
        else {
            return Self::default();
        };
        let is_subject = speaker
            .checked_sub(1)
            .is_some_and(|before| is_auxiliary(&words[before]) || is_asking(&words[before]));
        let behind = &words[speaker + 1..];
        if !is_subject || !behind.iter().any(|word| SAYING.has(word)) {
            return Self::default();
        }
        let says_nothing = |word: &&String| {
            names.contains(*word) || SAYING.has(word) || ANYBODY.has(word) || ANYTHING.has(word)
        };
        Self {
            is_named: names.contains(&words[speaker]),
            left_out: words.iter().filter(says_nothing).cloned().collect(),
        }
    }

    /// The words of a question that are about what was said.
    pub(in crate::memory) fn subject_of<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.left_out.is_empty() {
            return Cow::Borrowed(text);
        }
        let is_kept = |written: &&str| {
            let mut words = lowercase_words(written).into_iter();
            !words.any(|word| self.left_out.contains(&word))
        };
        let kept: Vec<&str> = text.split_whitespace().filter(is_kept).collect();
        Cow::Owned(kept.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_person_are_searched_without_their_name() {
        let meant: HashSet<Arc<str>> = HashSet::from(["Priya Shah".into()]);
        for (question, is_named, subject) in [
            ("what did Priya say?", true, "what did"),
            (
                "what did Priya Shah say about the key?",
                true,
                "what did about the key?",
            ),
            ("did priya mention the key?", true, "did the key?"),
            (
                "was hat Priya über die Kasse gesagt?",
                true,
                "was hat über die Kasse",
            ),
            (
                "did anyone say anything about butter?",
                false,
                "did about butter?",
            ),
            (
                "who told Priya about the key?",
                false,
                "who told Priya about the key?",
            ),
            ("when is Priya's exam?", false, "when is Priya's exam?"),
            ("what is the key?", false, "what is the key?"),
        ] {
            let speaker = AskedSpeaker::of(&lowercase_words(question), &meant);
            assert_eq!(speaker.is_named, is_named, "{question}");
            assert_eq!(speaker.subject_of(question), subject, "{question}");
        }
    }
}
