//! Searches that are typed as a noun phrase: "phone number of the security firm", "order B-1042". They ask without a question
//! word, a verb or a question mark, and state nothing. A text that has a value, a verb or a predicate states something, however
//! it begins. A statement that is not kept is worse than a search that is kept as one, so what may be either states something.

use super::act::{Act, QUESTION};
use super::clause::WHO_DOES;
use super::framing::{begins_with, longest};
use crate::language::{self, Guess, Language, WordList};

/// How searches begin whose value always has digits, word by word, as in [`super::framing`]: what is sought, and the word that
/// says of what.
const SOUGHT_NUMBER: &[&str] =
    &["the? phone|telephone|mobile|fax|account|contact number|numbers of|for the|our|a|an?"];
/// The same in English where the value may be words: "deadline for the report friday" states one.
const SOUGHT_IN_ENGLISH: &[&str] = &[
    "the? contact details of|for the|our|a|an?",
    "the? opening|office|business hours|times of|for the|our?",
    "the? email|postal|delivery? address|addresses of|for the|our|a|an?",
    "the? status|price|prices|cost|costs|deadline|date|dates|agenda|schedule|summary of|for the|our|a|an?",
];
/// The same in other languages.
const SOUGHT_ELSEWHERE: &[&str] = &[
    "die|der|das? telefonnummer|handynummer|adresse|anschrift|mailadresse|emailadresse|öffnungszeiten|preis|preise|status|\
     termin|datum|frist|übersicht|zusammenfassung von|vom|der|des|für dem|den|die|der|das|unser|unsere|unserem|unseren|\
     unserer?",
    "le|la|les? numéro|horaires de? téléphone|ouverture de|du|des|pour la|le|les|notre?",
    "le|la|les? adresse|prix|tarif|tarifs|statut|date|dates|délai|résumé de|du|des|pour la|le|les|notre?",
    "el|la|los|las? número|horario|horarios de teléfono|apertura de|del|para la|el|los|las|nuestro|nuestra?",
    "el|la|los|las? dirección|precio|precios|estado|fecha|fechas|plazo|resumen de|del|para la|el|los|las|nuestro|nuestra?",
    "o|a|os|as? número|horário|horários de telefone|funcionamento|abertura de|do|da|dos|das|para o|a|os|as|nosso|nossa?",
    "o|a|os|as? endereço|morada|preço|preços|estado|status|data|datas|prazo|resumo de|do|da|dos|das|para o|a|os|as|nosso|nossa?",
    "il|i|gli? numero|orario|orari di telefono|apertura di|del|della|dello|dei|degli|delle|per il|lo|la|i|gli|le?",
    "l|il|lo|la|i|gli|le? indirizzo|prezzo|prezzi|stato|data|scadenza|riassunto di|del|della|dello|dei|degli|delle|per il|lo|la|i|\
     gli|le?",
    "het|de? telefoonnummer|adres|openingstijden|prijs|prijzen|status|datum|deadline|overzicht|samenvatting van|voor de|het|een|\
     onze|ons?",
    "numer telefonu do|dla",
    "adres|cena|status|data|termin nowego|nowej|naszego|naszej|dla",
    "номер телефона для|нашего|нашей|нового|новой",
    "адрес|цена|статус|дата|срок нового|новой|нашего|нашей|для",
];
/// The same where a single word must follow: "name of the cat Miso" states a value, and so does "opening hours at the back door".
const SOUGHT_OF_ONE: &[&str] = &[
    "the? name|names|password|code|pin|owner|author of|for the|our",
    "the number of|for the|our",
    "the? opening hours|times at|on|over",
    "der|die|das? name|namen|passwort|code|pin|nummer von|vom|der|des|für dem|den|die|der|das|unser|unsere|unserem|unseren|\
     unserer?",
    "die? öffnungszeiten an|zu",
    "le|la? nom|code de|du la|le|les|notre?",
    "el|la? nombre|contraseña|código de|del la|el|nuestro|nuestra?",
    "o|a? nome|senha|código de|do|da nosso|nossa?",
    "il|la? nome|password|codice di|del|della",
    "de|het? naam|wachtwoord|code van|voor de|het|onze|ons?",
    "hasło|kod do|dla",
    "godziny otwarcia w|we|na",
    "пароль|код от|для",
    "часы работы в|во|на",
];
/// The same where the number of a record must follow: "status zamówienia wysłane" states that it was sent.
const SOUGHT_OF_RECORD: &[&str] = &[
    "status zamówienia|faktury|zgłoszenia",
    "статус заказа|счёта|счета|заявки",
];
/// The beginnings behind which several words may follow; the maximum number of words side by side that surely name something
/// there ("security firm"), and the maximum that may ("ticket office", but also "printer jammed"). In other languages than
/// English, two words side by side are mostly a name and its value.
const SEARCHES: [(&[&str], usize, usize); 3] = [
    (SOUGHT_NUMBER, 2, 2),
    (SOUGHT_IN_ENGLISH, 1, 2),
    (SOUGHT_ELSEWHERE, 1, 1),
];
/// What is sought here has no number, so that one behind it is the record's: "status of order 25".
const STATUS: WordList = WordList::of("status statut estado stato статус");
/// What has a number by which it is looked up: a number behind one of these is no value.
const RECORDS: WordList = WordList::of(
    "order invoice ticket case contract customer bestellung auftrag rechnung vertrag kunde kundin commande facture contrat client \
     pedido factura contrato cliente encomenda fatura ordine fattura contratto bestelling factuur contract klant zamówienie \
     zamówienia faktura faktury zgłoszenie zgłoszenia umowa заказ заказа счёт счёта счета заявка заявки договор договора",
);
/// Last words that say something of what is named: "address of the office changed".
const PREDICATES: WordList = WordList::of(
    "attached below broken closed dead done down due fixed free gone here high higher late later low lower missing new off old open paid \
     private ready same secret shut soon tbd today tomorrow tonight unclear unknown unpaid useless wrong yesterday \
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
/// Words that are values: "deadline for the report friday", "price of the ticket ten euros".
const VALUES: WordList = WordList::of(
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun weekday weekdays \
     weekend weekends january february march april may june july august september october november december \
     one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty hundred thousand \
     half quarter noon midday midnight morning mornings afternoon afternoons evening evenings night nights end \
     beginning euro euros dollar dollars pound pounds cents percent ok okay fine good bad final pending same \
     montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag wochenende januar jänner februar märz mai juni juli \
     oktober dezember eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig hundert tausend halb mittag \
     mitternacht morgens abends ende anfang monatsende jahresende gut kostenlos frei \
     lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril mai juin juillet août septembre octobre \
     novembre décembre deux trois quatre cinq sept huit dix onze douze vingt trente cent mille midi minuit fin début gratuit \
     gratuite bon bonne \
     lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio agosto septiembre octubre \
     noviembre diciembre dos tres cuatro cinco seis siete ocho nueve diez once doce veinte treinta cien mil mediodía medianoche \
     final finales principios gratis \
     segunda terça quarta quinta sexta janeiro fevereiro março maio junho julho setembro outubro novembro dezembro dois duas três \
     quatro sete oito dez doze vinte trinta cem fim grátis \
     lunedì martedì mercoledì giovedì venerdì sabato domenica gennaio febbraio aprile maggio giugno luglio settembre ottobre \
     dicembre due tre quattro cinque sei sette otto dieci undici dodici venti trenta cento mezzogiorno mezzanotte inizio \
     maandag dinsdag woensdag donderdag vrijdag zaterdag zondag januari februari maart mei augustus twee drie vijf zes zeven \
     negen tien elf twaalf twintig dertig honderd duizend middernacht einde begin goed \
     poniedziałek wtorek środa środę czwartek piątek sobota sobotę niedziela niedzielę koniec początek południe północ \
     dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć sto \
     понедельник вторник среда среду четверг пятница пятницу суббота субботу воскресенье выходные конец начало полдень полночь \
     два три четыре пять шесть семь восемь девять десять сто",
);
/// Words that may stand in a name without being a part of it.
const LINKING: WordList = WordList::of(
    "of for the a an our my your their der die das dem den des von vom für unser unsere unserer unserem unseren du de d la le les l \
     notre del los las el para nuestro nuestra do da dos das os as nosso nossa di della dello dei degli delle il lo i gli per \
     van het een voor onze ons dla для",
);
/// Words before a name that do not make it a name and its value.
const ADJECTIVES: WordList = WordList::of(
    "new old main next last first second third nächste nächsten nächster nächstes letzte letzten letzter neue neuen neuer neues \
     neuem alte alten alter altes nouveau nouvel nouvelle ancien ancienne prochain prochaine nueva nuevo antigua antiguo próxima \
     próximo nova novo antiga antigo nuova nuovo vecchia vecchio prossima prossimo nieuw nieuwe oude volgende nowego nowej \
     starego starej нового новой старого старой",
);
/// Maximum words of a search.
const MAX_WORDS: usize = 14;
/// Maximum words behind the beginning.
const MAX_WORDS_BEHIND: usize = 5;
/// Maximum characters of a part of a record's number without a digit, as in "B-1042" and "KA 20871".
const MAX_PREFIX: usize = 3;

/// The act of the clause that is all of a text if it seems to only name what is sought: it asks, and states something, too, if it
/// may have a value. `written` is the text as it was typed, and `words` are the clause's words in lower case.
pub(super) fn act_of_search(guess: Guess, written: &str, words: &[&str]) -> Option<Act> {
    if words.len() > MAX_WORDS {
        return None;
    }
    let begins = |phrases: &[&str]| longest(phrases, words, words.first(), begins_with);
    let names = |from: usize, most: usize| {
        (1..=most).contains(&(words.len() - from)) && only_names(guess, written, words, from)
    };
    let has_number = |from: usize| words[from..].iter().any(|word| has_digit(word));
    let is_sure = names_record(words)
        || begins(SOUGHT_OF_ONE).is_some_and(|from| names(from, 1) && !has_number(from))
        || begins(SOUGHT_OF_RECORD)
            .is_some_and(|from| names(from, MAX_WORDS_BEHIND) && has_number(from));
    if is_sure {
        return Some(QUESTION);
    }
    SEARCHES.iter().find_map(|&(phrases, sure, most)| {
        let from = begins(phrases).filter(|&from| names(from, MAX_WORDS_BEHIND))?;
        let side_by_side = most_side_by_side(&words[from..]);
        // "Price of ticket 25" may mean that it costs 25.
        let is_number_of_record = || words[..from].iter().any(|word| STATUS.has(word));
        let is_sure = side_by_side <= sure && (!has_number(from) || is_number_of_record());
        (side_by_side <= most).then_some(Act {
            asks: true,
            states: !is_sure,
        })
    })
}

/// "order B-1042", "Rechnung 2026-00017".
fn names_record(words: &[&str]) -> bool {
    let Some((first, behind)) = words.split_first() else {
        return false;
    };
    RECORDS.has(first)
        && behind.last().is_some_and(|last| has_digit(last))
        && behind.iter().all(|word| has_digit(word) || is_prefix(word))
}

/// Whether a word names what has a number by which it is looked up: "order", "Rechnung".
pub fn is_numbered_record(word: &str) -> bool {
    RECORDS.has(word)
}

/// Whether a word may be a part of a record's number without a digit.
fn is_prefix(word: &str) -> bool {
    match word.chars().count() {
        1 => true,
        2..=MAX_PREFIX => matches!(word, "no" | "nr") || !language::is_function_word(word),
        _ => false,
    }
}

/// Whether the words from a place on seem to be only the name of something: they have no verb, no predicate and no known value,
/// and nothing that says where or when.
fn only_names(guess: Guess, written: &str, words: &[&str], from: usize) -> bool {
    let behind = &words[from..];
    let Some(last) = behind.last() else {
        return false;
    };
    let is_past = |word: &str| guess.language() == Language::English && word.ends_with("ed");
    let is_value = |at: usize| {
        VALUES.has(words[at]) || (has_digit(words[at]) && !follows_record(&words[..at]))
    };
    let precedes_number =
        |at: usize| is_prefix(words[at]) && words.get(at + 1).is_some_and(|next| has_digit(next));
    let may_stand = |at: usize| {
        let word = words[at];
        let is_known = LINKING.has(word) || ADJECTIVES.has(word);
        let says_where = language::is_function_word(word) && !precedes_number(at);
        is_known || !(says_or_refers(word) || says_where || is_past(word))
    };
    let ends_otherwise = LINKING.has(last) || ADJECTIVES.has(last) || PREDICATES.has(last);
    !ends_otherwise
        && (from..words.len()).all(|at| may_stand(at) && !is_value(at))
        && ends_like_a_name(guess, written, behind.len())
}

fn says_or_refers(word: &str) -> bool {
    language::is_auxiliary(word) || WHO_DOES.has(word) || language::begins_question(word)
}

/// The maximum number of words side by side that name something, without adjectives and the number of a record.
fn most_side_by_side(behind: &[&str]) -> usize {
    let parts = behind.split(|word| LINKING.has(word));
    let names = parts.map(|part| {
        let has_number = part.iter().any(|word| has_digit(word));
        let is_of_number =
            |word: &str| has_number && (has_digit(word) || word.chars().count() <= MAX_PREFIX);
        let is_named = |word: &&&str| !ADJECTIVES.has(word) && !is_of_number(word);
        part.iter().filter(is_named).count()
    });
    names.max().unwrap_or_default()
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
            "date of the next meeting",
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
            "Opening hours on Sunday ten to four",
            "opening hours at the back door",
            "office hours at the cafe",
            "deadline for the report friday",
            "deadline for the grant end of the month",
            "price of the ticket ten euros",
            "price of the oven four hundred euros",
            "status of the printer ok",
            "address of the office harbour street",
            "contact details for the caterer in the blue binder",
            "password for the wifi heron",
            "Termin für das Sommerfest Samstag",
            "Termin am Montag",
            "Adresse der Werkstatt Hafenstraße",
            "Frist für die Anmeldung Freitag",
            "date de la réunion vendredi",
            "fecha de la reunión viernes",
            "data della riunione venerdì",
            "datum van de vergadering vrijdag",
            "status zamówienia wysłane",
            "дата нового собрания пятница",
        ] {
            assert_eq!(speech_act(text), statement, "{text}");
        }
    }

    #[test]
    fn a_noun_phrase_that_may_have_a_value_asks_and_states_something() {
        let both = Act {
            asks: true,
            states: true,
        };
        for text in [
            "price of the summer ticket",
            "status of the printer flaky",
            "deadline for the report next week",
            "price of ticket 25",
            "Preis der Bestellung 400",
        ] {
            assert_eq!(speech_act(text), both, "{text}");
        }
    }
}
