//! Searches that are typed as a noun phrase: "phone number of the security firm", "order B-1042". They ask without a question
//! word, a verb or a question mark, and state nothing. A text that has a value, a verb or a predicate states something, however
//! it begins.

use super::clause::WHO_DOES;
use super::framing::{begins_with, longest};
use crate::language::{self, Guess, Language, WordList};

/// How such searches begin, word by word, as in [`super::framing`]: what is sought, and the word that says of what.
const SOUGHT: &[&str] = &[
    "the? phone|telephone|mobile|fax|account|contact number|numbers|details of|for the|our|a|an?",
    "the? opening|office|business hours|times of|for|at|on|over|in the|our?",
    "the? email|postal|delivery? address|addresses of|for the|our|a|an?",
    "the? status|price|prices|cost|costs|deadline|date|dates|agenda|schedule|summary of|for the|our|a|an?",
    "die|der|das? telefonnummer|handynummer|adresse|anschrift|mailadresse|emailadresse|öffnungszeiten|preis|preise|status|\
     termin|datum|frist|übersicht|zusammenfassung von|vom|der|des|für|an|am|zu|zum|zur dem|den|die|der|das|unser|unsere|\
     unserem|unseren|unserer?",
    "le|la|les? numéro|horaires de? téléphone|ouverture de|du|des|pour|à la|le|les|notre?",
    "le|la|les? adresse|prix|tarif|tarifs|statut|date|dates|délai|résumé de|du|des|pour la|le|les|notre?",
    "el|la|los|las? número|horario|horarios de teléfono|apertura de|del|para|en la|el|los|las|nuestro|nuestra?",
    "el|la|los|las? dirección|precio|precios|estado|fecha|fechas|plazo|resumen de|del|para la|el|los|las|nuestro|nuestra?",
    "o|a|os|as? número|horário|horários de telefone|funcionamento|abertura de|do|da|dos|das|para|no|na o|a|os|as|nosso|nossa?",
    "o|a|os|as? endereço|morada|preço|preços|estado|status|data|datas|prazo|resumo de|do|da|dos|das|para o|a|os|as|nosso|nossa?",
    "il|i|gli? numero|orario|orari di telefono|apertura di|del|della|dello|dei|degli|delle|per|a il|lo|la|i|gli|le?",
    "l|il|lo|la|i|gli|le? indirizzo|prezzo|prezzi|stato|data|scadenza|riassunto di|del|della|dello|dei|degli|delle|per il|lo|la|i|\
     gli|le?",
    "het|de? telefoonnummer|adres|openingstijden|prijs|prijzen|status|datum|deadline|overzicht|samenvatting van|voor|op|met de|\
     het|een|onze|ons?",
    "numer telefonu do|dla",
    "godziny otwarcia w|we|na",
    "adres|cena|status|data|termin nowego|nowej|naszego|naszej|dla",
    "номер телефона для|нашего|нашей|нового|новой",
    "часы работы в|во|на",
    "адрес|цена|статус|дата|срок нового|новой|нашего|нашей|для",
    "status zamówienia|faktury|zgłoszenia",
    "статус заказа|счёта|счета|заявки",
];
/// The same where the value itself is a word: "name of the cat Miso" states one, so a single word must follow.
const SOUGHT_OF_ONE: &[&str] = &[
    "the? name|names|password|code|pin|owner|author of|for the|our",
    "the number of|for the|our",
    "der|die|das? name|namen|passwort|code|pin|nummer von|vom|der|des|für dem|den|die|der|das|unser|unsere|unserem|unseren|\
     unserer?",
    "le|la? nom|code de|du la|le|les|notre?",
    "el|la? nombre|contraseña|código de|del la|el|nuestro|nuestra?",
    "o|a? nome|senha|código de|do|da nosso|nossa?",
    "il|la? nome|password|codice di|del|della",
    "de|het? naam|wachtwoord|code van|voor de|het|onze|ons?",
    "hasło|kod do|dla",
    "пароль|код от|для",
];
/// What has a number by which it is looked up: a number behind one of these is no value.
const RECORDS: WordList = WordList::of(
    "order invoice ticket case contract customer bestellung auftrag rechnung vertrag kunde kundin commande facture contrat client \
     pedido factura contrato cliente encomenda fatura ordine fattura contratto bestelling factuur contract klant zamówienie \
     zamówienia faktura faktury zgłoszenie zgłoszenia umowa заказ заказа счёт счёта счета заявка заявки договор договора",
);
/// Last words that say something of what is named: "address of the office changed".
const PREDICATES: WordList = WordList::of(
    "attached below broken closed done due fixed free gone here high higher late later low lower missing new off old open paid \
     ready same shut soon tbd today tomorrow tonight unclear unknown unpaid wrong yesterday \
     abgelaufen abgesagt bekannt bezahlt falsch fehlt fertig fest geändert gesperrt gestiegen gesunken gleich heute hoch kaputt \
     morgen neu niedrig offen unbekannt unklar verlängert verschoben weg \
     changé changée changés confirmée confirmé demain fausse faux inconnu inconnue payée payé prête prêt reportée reporté \
     cambiada cambiado confirmada confirmado equivocada lista listo mañana pagada pagado pendiente \
     adiada adiado alterada alterado amanhã errada errado paga pago pendente pronta pronto \
     cambiata cambiato confermata confermato domani errata errato pagata pagato pronta pronto rinviata rinviato \
     betaald bevestigd fout gewijzigd klaar morgen onbekend veranderd verplaatst \
     gotowe gotowy jutro nieznany opłacone zapłacone zmieniona zmienione zmieniony \
     выросла готов завтра изменён изменена изменился изменилась неизвестен оплачен оплачена",
);
/// Maximum words of a search.
const MAX_WORDS: usize = 14;
/// Maximum words behind the beginning.
const MAX_WORDS_BEHIND: usize = 5;
/// Maximum characters of a part of a record's number without a digit, as in "B-1042" and "KA 20871".
const MAX_PREFIX: usize = 3;

/// Whether the clause that is all of a text only names what is sought. `written` is the text as it was typed, and `words` are
/// the clause's words in lower case.
pub(super) fn is_sought(guess: Guess, written: &str, words: &[&str]) -> bool {
    let length = |phrases| longest(phrases, words, words.first(), begins_with);
    let named = || {
        let one_of_many = length(SOUGHT).map(|length| (length, MAX_WORDS_BEHIND));
        one_of_many.or_else(|| length(SOUGHT_OF_ONE).map(|length| (length, 1)))
    };
    let goes_on = |(length, most): (usize, usize)| {
        (1..=most).contains(&(words.len() - length)) && only_names(guess, written, words, length)
    };
    words.len() <= MAX_WORDS && (names_record(words) || named().is_some_and(goes_on))
}

/// "order B-1042", "Rechnung 2026-00017".
fn names_record(words: &[&str]) -> bool {
    let Some((first, behind)) = words.split_first() else {
        return false;
    };
    let is_prefix = |word: &str| match word.chars().count() {
        1 => true,
        2..=MAX_PREFIX => matches!(word, "no" | "nr") || !language::is_function_word(word),
        _ => false,
    };
    RECORDS.has(first)
        && behind.last().is_some_and(|last| has_digit(last))
        && behind.iter().all(|word| has_digit(word) || is_prefix(word))
}

/// Whether the words from a place on are only the name of something: they have no verb, no predicate and no value.
fn only_names(guess: Guess, written: &str, words: &[&str], from: usize) -> bool {
    let behind = &words[from..];
    let Some(last) = behind.last() else {
        return false;
    };
    let is_past = |word: &str| guess.language() == Language::English && word.ends_with("ed");
    let is_value = |at: usize| has_digit(words[at]) && !follows_record(&words[..at]);
    !guess.is_stop_word(last)
        && !PREDICATES.has(last)
        && !behind
            .iter()
            .any(|word| says_or_refers(word) || is_past(word))
        && !(from..words.len()).any(is_value)
        && ends_like_a_name(guess, written, behind.len())
}

fn says_or_refers(word: &str) -> bool {
    language::is_auxiliary(word) || WHO_DOES.has(word) || language::begins_question(word)
}

/// Whether the words before a number end with what the number is of.
fn follows_record(before: &[&str]) -> bool {
    let mut back = before.iter().rev();
    let named = back.find(|word| !has_digit(word) && word.chars().count() > MAX_PREFIX);
    named.is_some_and(|word| RECORDS.has(word))
}

/// Whether the last words of what was typed end like a name, by their capitals: "of the office Harbour Street" ends with a value,
/// and "der Öffnungszeiten verschoben" with a predicate.
fn ends_like_a_name(guess: Guess, written: &str, length: usize) -> bool {
    let typed = written.split(|c: char| !c.is_alphanumeric());
    let typed: Vec<&str> = typed.filter(|word| !word.is_empty()).collect();
    let behind = &typed[typed.len().saturating_sub(length)..];
    let is_capital = |word: &&str| word.chars().next().is_some_and(char::is_uppercase);
    let Some((last, before)) = behind.split_last() else {
        return false;
    };
    if has_digit(last) {
        return true;
    }
    if guess.language() == Language::German {
        return is_capital(last) || !typed.iter().any(is_capital);
    }
    !is_capital(last) || before.iter().all(is_capital)
}

fn has_digit(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use crate::speech::{Act, QUESTION, speech_act};

    #[test]
    fn a_noun_phrase_that_names_what_is_sought_asks() {
        for text in [
            "phone number of the security firm",
            "opening hours at Christmas",
            "status of order B-1042",
            "order B-1042",
            "the price of the new oven",
            "name of the cat",
            "password for the wifi",
            "Adresse vom neuen Büro",
            "Telefonnummer der Hausverwaltung",
            "Öffnungszeiten an Weihnachten",
            "Rechnung 2026-00017",
            "numéro de téléphone de la société de sécurité",
            "horaires d'ouverture de la piscine",
            "dirección de la nueva oficina",
            "preço do novo forno",
            "numero di telefono della ditta",
            "openingstijden van het zwembad",
            "numer telefonu do hydraulika",
            "status zamówienia B-1042",
            "адрес нового офиса",
            "часы работы в праздники",
        ] {
            assert_eq!(speech_act(text), QUESTION, "{text}");
        }
    }

    #[test]
    fn a_noun_phrase_with_a_value_or_a_predicate_states_something() {
        let statement = Act {
            asks: false,
            states: true,
        };
        for text in [
            "phone number of the security firm: 0800 555 0199",
            "phone number of the security firm 0800 555 0199",
            "Price of the oven 400 euros",
            "price of eggs went up",
            "address of the new office changed",
            "address of the office Harbour Street",
            "status of order B-1042 paid",
            "date of the gala moved to Friday",
            "deadline for the report extended by a week",
            "name of the cat Miso",
            "password for the wifi heron42",
            "order 40 croissants",
            "paid B-1042",
            "lunch at noon",
            "keys behind the fridge",
            "Tom in hospital",
            "meeting with Bauer on Monday",
            "Adresse vom neuen Büro: Hafenstraße 3",
            "Adresse vom neuen Büro falsch",
            "Termin der Sitzung verschoben",
            "Öffnungszeiten an Weihnachten 10 bis 14 Uhr",
            "Neuer Code am Kopierer ab heute 8831",
            "adresse du nouveau bureau changée",
            "precio de la entrada 12 euros",
            "preço do forno alterado",
            "prezzo del biglietto 9 euro",
            "adres van het kantoor gewijzigd",
            "numer telefonu do hydraulika 600 700 800",
            "адрес нового офиса изменился",
        ] {
            assert_eq!(speech_act(text), statement, "{text}");
        }
    }
}
