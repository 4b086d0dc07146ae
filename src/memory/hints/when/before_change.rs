//! Finds "before the change" in languages whose word for "before" also means "in front of", "for" or "to": "vor der Änderung".

use super::tense::{has_verb_of_past, is_of_past, tells_state_of_past};
use super::time_words::TimeWords;
use crate::retrieval::language::WordList;

const BEFORE: WordList = WordList::of("vor vorm voor przed до перед");
/// Words between "before" and the change.
const BETWEEN: WordList = WordList::of(
    "der dem den die dieser diesem diesen letzten de het deze laatste tą tymi ostatnią ostatnimi этого этих этим последнего \
    последних последним",
);
/// Changes, in the forms in which they stand behind "before". What was before one of them has been replaced by it.
const CHANGES: WordList = WordList::of(
    "änderung änderungen umstellung wechsel anpassung erhöhung preiserhöhung senkung preissenkung verlegung verschiebung \
    wijziging wijzigingen verandering veranderingen aanpassing verhoging prijsverhoging verlaging verplaatsing \
    zmianą zmianami podwyżką obniżką przeniesieniem przesunięciem \
    изменения изменений изменением изменениями повышения повышением снижения снижением переноса переносом",
);
/// Words for "before" that begin a clause.
const BEFORE_CLAUSE: WordList = WordList::of("bevor voordat zanim");
/// Verbs of change in such a clause.
const CHANGED: WordList = WordList::of(
    "geändert umgestellt gewechselt angepasst erhöht gesenkt verlegt verschoben gewijzigd veranderd veranderde aangepast \
    verhoogd verlaagd verplaatst zmieniono zmienił zmieniła zmieniło zmieniły zmieniliśmy podniesiono przeniesiono przesunięto",
);

/// Whether the word at a position is a "before" with a change behind it, and the text asks how things were before that.
pub(super) fn is_before_change(words: &TimeWords<'_>, at: usize) -> bool {
    let written = words.written();
    let (word, behind) = (&written[at], &written[at + 1..]);
    let names_change = if BEFORE_CLAUSE.has(word) {
        behind.iter().any(|word| CHANGED.has(word))
    } else {
        let mut behind = behind.iter().skip_while(|word| BETWEEN.has(word));
        BEFORE.has(word) && behind.next().is_some_and(|word| CHANGES.has(word))
    };
    // "Wie is verantwoordelijk voor de wijziging?" is of now, and "was gibt es vor der Umstellung zu tun?" of what is to come.
    let language = words.language();
    let tells_of_past = [is_of_past, has_verb_of_past, tells_state_of_past];
    names_change && tells_of_past.iter().any(|tells| tells(written, language))
}
