//! Words of change: which words say that something has changed, withdraw something, or limit a statement.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::super::values::MEASURES;
use super::super::when::{MONTHS, is_of_today_or_tomorrow, weekdays};
use crate::retrieval::language::WordList;

/// Words that say that something has changed.
const CHANGING: &str = "instead rather anymore withdrawn withdraw withdraws revoked revoke correction corrected cancelled \
    canceled cancel postponed postpone rescheduled moved moves moving move shifted changed changes change replaced replaces \
    replace switched switch raised raise lowered reduced cut extended shortened delayed brought dropped drops goes \
    swapped takes now new no longer back \
    statt stattdessen anstatt korrektur verschoben verlegt geändert ersetzt abgesagt sondern doch erhöht gesenkt übernimmt \
    steigt sinkt jetzt nun neu neue neuer neues neuen mehr \
    plutôt lieu finalement correction annulé reporté déplacé décalé changé remplace remplacé passe désormais maintenant \
    nouveau nouvelle \
    vez cambia cambió cambié cambio cambiado corrección cancelado cancelada movido mudou mudado adiado correção ahora nuevo \
    nueva agora novo nova \
    invece anziché cambiato spostato spostata annullato correzione rinviato adesso ora nuovo nuova \
    plaats verplaatst gewijzigd afgezegd correctie veranderd nu nieuw nieuwe voortaan \
    zamiast zmiana zmieniono przeniesione przesunięte odwołane przełożone teraz nowy nowa nowe \
    вместо перенесли перенесён перенесена изменили изменилось отменили исправление теперь новый новая новое";
/// Words that withdraw something, even if no value changes.
const REVOKING: &str = "off back anymore withdrawn withdraw withdraws revoked revoke cancelled canceled cancel dropped drops allowed \
    forbidden banned stopped stops ends ended over gone declined sold left no \
    abgesagt zurück entfällt gestrichen erlaubt verboten kein keine \
    annulé annulée supprimé terminé interdit cancelado cancelada quitado eliminado prohibido \
    annullato annullata abolito vietato afgezegd vervalt geschrapt verboden toegestaan \
    odwołane odwołany odwołana zakazane отменили отменён отменена запрещено больше";
/// Those of them that withdraw all that they are about: nothing of a cancelled party still holds.
const WITHDRAWING: &str = "withdrawn withdraw withdraws revoked revoke cancelled canceled cancel dropped drops \
    abgesagt entfällt gestrichen annulé annulée supprimé cancelado cancelada eliminado annullato annullata abolito \
    afgezegd vervalt geschrapt odwołane odwołany odwołana отменили отменён отменена";
/// Words that limit a statement to some cases.
const SCOPED: &str = "only except exception exceptions excluding unless exempt pilot \
    ausnahme ausnahmen ausgenommen außer nur sauf excepté exception seulement excepto salvo excepción sólo solo exceto \
    exceção somente eccetto tranne eccezione behalve uitzondering alleen oprócz wyjątek tylko кроме исключение только";

/// Words that say that something is so only once.
const EXCEPTIONAL: WordList = WordList::of(
    "exceptionally ausnahmsweise exceptionnellement excepcionalmente eccezionalmente wyjątkowo",
);
/// Words that say that there is none of something.
const NONE: WordList = WordList::of("no kein keine keinen geen pas sin sem");
/// Words before a weekday on which something is so.
const ON_DAY: WordList = WordList::of("on this am diesen le ce el este na op w в");
/// Words that say so for good: "no more meetings on Friday".
const FOR_GOOD: WordList = WordList::of("more longer anymore now mehr jetzt ab from plus");

/// The role of a word in a statement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WordRole {
    pub(super) changes: bool,
    pub(super) revokes: bool,
    pub(super) withdraws: bool,
    pub(super) is_scoped: bool,
    /// A month or a unit: part of a value.
    pub(super) is_of_value: bool,
}

static MARKS: LazyLock<HashMap<&'static str, WordRole>> = LazyLock::new(|| {
    let mut marks: HashMap<&'static str, WordRole> = HashMap::new();
    let mut mark = |words: &'static str, set: fn(&mut WordRole)| {
        for word in words.split_whitespace() {
            set(marks.entry(word).or_default());
        }
    };
    mark(CHANGING, |mark| mark.changes = true);
    mark(REVOKING, |mark| mark.revokes = true);
    mark(WITHDRAWING, |mark| mark.withdraws = true);
    mark(SCOPED, |mark| mark.is_scoped = true);
    for words in MEASURES.iter().chain(&MONTHS) {
        mark(words.words(), |mark| mark.is_of_value = true);
    }
    marks
});

/// Whether lower-case words say that something is so on one day only: "exceptionally", "today", "no standup on Friday".
/// `is_lasting` is whether they say that something has changed and not only that it does not take place.
pub(super) fn are_of_one_day(words: &[String], is_lasting: bool) -> bool {
    let has = |list: WordList| words.iter().any(|word| list.has(word));
    let is_on_weekday = |pair: &[String]| ON_DAY.has(&pair[0]) && !weekdays(&pair[1..]).is_empty();
    let has_none_on_weekday = || words.windows(2).any(is_on_weekday) && has(NONE) && !has(FOR_GOOD);
    has(EXCEPTIONAL) || (!is_lasting && (is_of_today_or_tomorrow(words) || has_none_on_weekday()))
}

/// The role of a lower-case word.
pub(super) fn word_role(word: &str) -> WordRole {
    MARKS.get(word).copied().unwrap_or_default()
}
