use super::*;

/// A Wednesday.
fn now() -> NaiveDate {
    date("2026-05-20")
}

fn date(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

#[test]
fn what_was_so_then_is_told_from_what_is_first_or_old_now() {
    for (text, then) in [
        ("what was the very first date of the premiere?", true),
        ("what had he wanted at first?", true),
        ("what is the old door code?", true),
        ("what's the old phone number?", true),
        ("how much was it before?", true),
        ("and what was the original deadline?", true),
        ("who was on call until friday?", true),
        ("how old is Bobo?", false),
        ("how old was Bobo?", false),
        ("when is the first aid course?", false),
        ("when was the first aid course?", false),
        ("until when is the pool closed?", false),
        ("until when was the pool closed?", false),
        ("when does the old town office open?", false),
    ] {
        assert_eq!(Time::of(&lowercase_words(text), now()).then, then, "{text}");
    }
}

#[test]
fn what_was_before_a_change_is_told_from_what_is_to_be_done_before_it() {
    for (text, then) in [
        ("what was the rent before the change?", true),
        ("wie hoch war die Miete vor der Änderung?", true),
        ("Was galt vor der letzten Umstellung?", true),
        (
            "Kannst du mir sagen, was die Karte vor der Preiserhöhung gekostet hat?",
            true,
        ),
        ("Was kostete es, bevor der Preis erhöht wurde?", true),
        ("quel était le loyer avant le changement ?", true),
        ("¿cuánto costaba antes del cambio?", true),
        ("quanto custava antes da mudança?", true),
        ("quanto costava prima del cambiamento?", true),
        ("wat kostte het voor de wijziging?", true),
        ("wat kostte het voordat de prijs verhoogd werd?", true),
        ("ile to kosztowało przed zmianą?", true),
        ("сколько это стоило до последнего изменения?", true),
        ("Wo ist der Schlüssel vor der Tür?", false),
        ("Wer macht vor jeder Änderung die Sicherung?", false),
        ("Was muss ich vor der Änderung sichern?", false),
        ("Wer prüft es, bevor der Preis geändert wird?", false),
        ("Was gibt es vor Ort für eine Änderung?", false),
        ("wie heeft een idee voor de kantine?", false),
        ("wat moet ik doen voor de wijziging?", false),
        ("co trzeba zrobić przed zmianą?", false),
        ("кто дежурит до вечера?", false),
    ] {
        assert_eq!(Time::of(&lowercase_words(text), now()).then, then, "{text}");
    }
}

#[test]
fn words_name_the_day_with_which_a_time_begins() {
    for (text, day) in [
        ("yesterday", Some("2026-05-19")),
        ("since monday", Some("2026-05-18")),
        ("last week", Some("2026-05-11")),
        ("april", Some("2026-04-01")),
        ("13 april", Some("2026-04-13")),
        ("2026-04-13", Some("2026-04-13")),
        ("today", Some("2026-05-20")),
        ("tomorrow", None),
        ("2027-01-01", None),
        ("the beginning of time", None),
    ] {
        assert_eq!(beginning(text, now()), day.map(date), "{text}");
    }
}

#[test]
fn time_words_are_read_by_the_clock() {
    for (text, from, to) in [
        ("what broke yesterday?", "2026-05-19", "2026-05-20"),
        ("was ist gestern passiert", "2026-05-19", "2026-05-20"),
        ("who was commander last tuesday", "2026-05-19", "2026-05-20"),
        ("what went live on friday?", "2026-05-15", "2026-05-16"),
        (
            "was the lift repaired last week?",
            "2026-05-11",
            "2026-05-18",
        ),
        ("the bill in february", "2026-02-01", "2026-03-01"),
        ("the bill in december", "2025-12-01", "2026-01-01"),
        ("what did we say in may", "2026-05-01", "2026-06-01"),
        ("what did we say last may", "2025-05-01", "2025-06-01"),
        (
            "what did we repair in may last year",
            "2025-05-01",
            "2025-06-01",
        ),
        ("was war im märz letzten jahres", "2025-03-01", "2025-04-01"),
        (
            "qu'a dit paul en mars de l'année dernière",
            "2025-03-01",
            "2025-04-01",
        ),
        (
            "qué dijo ana en marzo del año pasado",
            "2025-03-01",
            "2025-04-01",
        ),
        (
            "что мы решили в марте прошлого года",
            "2025-03-01",
            "2025-04-01",
        ),
        ("who came on may 3rd last year", "2025-05-03", "2025-05-04"),
        (
            "what did the hosting cost in 2024",
            "2024-01-01",
            "2024-12-31",
        ),
        ("what changed since april", "2026-04-01", "2026-05-21"),
        ("what was decided two weeks ago", "2026-05-03", "2026-05-10"),
        ("and the day before yesterday", "2026-05-18", "2026-05-19"),
        (
            "what did they decide last night",
            "2026-05-19",
            "2026-05-20",
        ),
        ("what came on april 3rd", "2026-04-03", "2026-04-04"),
        (
            "what broke the day before good friday",
            "2026-04-02",
            "2026-04-03",
        ),
        ("was ist an ostern passiert", "2026-04-05", "2026-04-06"),
        (
            "what changed since easter monday",
            "2026-04-06",
            "2026-05-21",
        ),
        ("who worked at christmas", "2025-12-25", "2025-12-26"),
        ("was ist seit dienstag neu", "2026-05-19", "2026-05-21"),
    ] {
        let (from, to) = (date(from), date(to));
        let window = Time::of(&lowercase_words(text), now()).window;
        assert_eq!(window, Some(Window { from, to }), "{text}");
    }
    for text in [
        "may i deploy?",
        "do we march on?",
        "what do i have tomorrow",
        "who is it",
    ] {
        assert_eq!(
            Time::of(&lowercase_words(text), now()).window,
            None,
            "{text}"
        );
    }
}

#[test]
fn a_window_has_soft_edges() {
    let window = Time::of(&lowercase_words("what came last week"), now())
        .window
        .unwrap();
    let holds = |at: &str| window.holds(at.parse().unwrap());
    assert!((holds("2026-05-11") - 1.0).abs() < 1e-6);
    assert!((holds("2026-05-17") - 1.0).abs() < 1e-6);
    assert!(holds("2026-05-18") > 0.5 && holds("2026-05-10") > 0.5);
    assert!(holds("2026-03-01") < 0.01);
}

#[test]
fn a_day_is_named_by_date_or_by_nearness() {
    let day = Time::of(&lowercase_words("what do i have tomorrow"), now())
        .day
        .unwrap();
    assert_eq!(day, date("2026-05-21"));
    for (text, said, named) in [
        ("linear algebra 21 may, oral", "2026-03-01", true),
        ("on May 21st", "2026-03-01", true),
        ("the 21st of may", "2026-03-01", true),
        ("due 2026-05-21", "2026-03-01", true),
        ("see you on thursday", "2026-05-18", true),
        ("see you on thursday", "2026-05-03", false),
        ("tomorrow at nine", "2026-05-20", true),
        ("21 people may come", "2026-05-20", false),
    ] {
        assert_eq!(
            names_day(&lowercase_words(text), said.parse().unwrap(), day),
            named,
            "{text}"
        );
    }
}

#[test]
fn words_about_time_are_those_of_their_language() {
    for (text, window) in [
        ("wie lautet hier der türcode?", None),
        ("ist hier jemand", None),
        ("waar is hier de sleutel", None),
        ("qui était là hier ?", Some("2026-05-19")),
        ("où est mon badge ?", None),
        ("mon badge ?", None),
        ("what happened on mon", Some("2026-05-18")),
        ("non ho mai visto la chiave", None),
        ("was war im mai", Some("2026-05-01")),
        ("cuál es la marca de la impresora", None),
        ("qual é a marca 3 da lista", None),
        ("kto dzwonił od marca", Some("2026-03-01")),
        ("what did jan say?", None),
        ("what did april say?", None),
        ("is june here?", None),
        ("what did maja say?", None),
        ("qué dijo julio?", None),
        ("the april bill", Some("2026-04-01")),
        ("the minutes from april", Some("2026-04-01")),
        ("las ventas de mayo", Some("2026-05-01")),
        ("gdzie jest faktura z marca?", Some("2026-03-01")),
        ("what did we pay in jan", Some("2026-01-01")),
        ("die rechnung vom april", Some("2026-04-01")),
        ("qu'a-t-on dit avant-hier ?", Some("2026-05-18")),
        ("qué pasó antes de ayer", Some("2026-05-18")),
        ("o que aconteceu antes de ontem", Some("2026-05-18")),
        ("che cosa è successo l'altro ieri", Some("2026-05-18")),
        ("chi ha chiamato ieri", Some("2026-05-19")),
        ("o que decidimos na segunda-feira?", Some("2026-05-18")),
        ("quem ligou na terça?", Some("2026-05-19")),
        ("o que decidimos na quarta-feira?", Some("2026-05-13")),
        ("quem trabalhou na quinta passada?", Some("2026-05-14")),
        ("o que decidimos na sexta?", Some("2026-05-15")),
        ("o que decidimos na segunda reunião?", None),
        ("qué se dijo la segunda vez", None),
    ] {
        let read = Time::of(&lowercase_words(text), now()).window;
        assert_eq!(read.map(|it| it.from), window.map(date), "{text}");
    }
    let praise = lowercase_words("prima, wann ist das treffen?");
    assert!(!Time::of(&praise, now()).then);
}

#[test]
fn a_date_without_a_year_has_come_in_a_question_of_the_past() {
    // Christmas is nearer than the last one, and next Easter is nearer than the last.
    let late = date("2026-11-28");
    for (text, from, to) in [
        ("what came on april 3rd", "2026-04-03", "2026-04-04"),
        ("what changed since 13 april", "2026-04-13", "2026-11-29"),
        (
            "what broke the day before good friday",
            "2026-04-02",
            "2026-04-03",
        ),
        ("was ist an ostern passiert", "2026-04-05", "2026-04-06"),
        (
            "what changed since easter monday",
            "2026-04-06",
            "2026-11-29",
        ),
        ("who worked at christmas", "2025-12-25", "2025-12-26"),
        ("the bill in february", "2026-02-01", "2026-03-01"),
        ("the bill in december", "2025-12-01", "2026-01-01"),
        ("what did we say in may", "2026-05-01", "2026-06-01"),
        ("what changed since april", "2026-04-01", "2026-11-29"),
        // A year that is said is taken.
        ("the bill in march 2025", "2025-03-01", "2025-04-01"),
        ("what came on april 3rd, 2024", "2024-04-03", "2024-04-04"),
        (
            "o que aconteceu em 3 de abril de 2024",
            "2024-04-03",
            "2024-04-04",
        ),
        ("who worked at christmas 2024", "2024-12-25", "2024-12-26"),
        (
            "what changed since 13 april 2025",
            "2025-04-13",
            "2026-11-29",
        ),
    ] {
        let window = Time::of(&lowercase_words(text), late).window;
        let (from, to) = (date(from), date(to));
        assert_eq!(window, Some(Window { from, to }), "{text}");
    }
    for (text, day) in [
        ("who works at christmas?", "2026-12-25"),
        ("what do i have on 16 january?", "2027-01-16"),
        ("what is planned for 3 april 2027?", "2027-04-03"),
    ] {
        let time = Time::of(&lowercase_words(text), late);
        assert_eq!((time.day, time.window), (Some(date(day)), None), "{text}");
    }
    for (text, day) in [
        ("13 April", Some("2026-04-13")),
        ("13 April 2025", Some("2025-04-13")),
        ("March 2025", Some("2025-03-01")),
        ("March", Some("2026-03-01")),
        ("13 April 2027", None),
        ("December 2026", None),
    ] {
        assert_eq!(beginning(text, late), day.map(date), "{text}");
    }
}

#[test]
fn next_may_stand_behind_its_noun() {
    for (text, day) in [
        ("qui travaille vendredi prochain ?", "2026-05-22"),
        ("quién trabaja el viernes próximo", "2026-05-22"),
        ("quién trabaja el viernes que viene", "2026-05-22"),
        ("quem trabalha na sexta-feira que vem", "2026-05-22"),
        ("quem trabalha na próxima sexta-feira", "2026-05-22"),
        ("chi lavora venerdì prossimo", "2026-05-22"),
        ("kto pracuje w następny piątek", "2026-05-22"),
        ("кто работает в следующую пятницу", "2026-05-22"),
        ("who works next friday", "2026-05-22"),
    ] {
        let time = Time::of(&lowercase_words(text), now());
        assert_eq!((time.day, time.window), (Some(date(day)), None), "{text}");
    }
    let next_april = Time::of(&lowercase_words("what is planned next april"), now());
    assert_eq!((next_april.day, next_april.window), (None, None));
    assert_eq!(next_april.month, Some(date("2027-04-01")));
}

#[test]
fn a_weekday_or_a_month_of_a_plan_is_the_next_one() {
    // A Saturday.
    let late = date("2026-11-28");
    for (text, day) in [
        ("what time is the standup on monday?", Some("2026-11-30")),
        (
            "um wie viel uhr ist das standup am montag?",
            Some("2026-11-30"),
        ),
        ("who has the rota on saturday?", Some("2026-12-05")),
        ("who has the rota in december?", None),
        ("who has the rota in january?", None),
        ("wer hat im dezember dienst?", None),
    ] {
        let time = Time::of(&lowercase_words(text), late);
        assert_eq!((time.day, time.window), (day.map(date), None), "{text}");
    }
    for (text, from) in [
        ("what broke on monday?", "2026-11-23"),
        ("what is in the minutes from monday?", "2026-11-23"),
        ("what is new since monday?", "2026-11-23"),
        ("what is the result of last monday?", "2026-11-23"),
        ("the standup on monday", "2026-11-23"),
        ("wer hat am montag angerufen?", "2026-11-23"),
        ("what is the bill of october?", "2026-10-01"),
        ("what is the bill of december 2025?", "2025-12-01"),
        ("the bill in december", "2025-12-01"),
    ] {
        let window = Time::of(&lowercase_words(text), late).window;
        assert_eq!(window.map(|it| it.from), Some(date(from)), "{text}");
    }
    assert_eq!(beginning("Monday", late), Some(date("2026-11-23")));
}

#[test]
fn the_month_of_a_plan_is_this_one_or_one_that_is_to_come() {
    for (text, month) in [
        ("what is due in june?", Some("2026-06-01")),
        ("what is due in may?", Some("2026-05-01")),
        ("what is due in march?", Some("2027-03-01")),
        ("what is due this month?", Some("2026-05-01")),
        ("what is due next month?", Some("2026-06-01")),
        ("what is due in march 2027?", Some("2027-03-01")),
        ("was ist im juni fällig?", Some("2026-06-01")),
        (
            "qu'est-ce qui est prévu le mois prochain ?",
            Some("2026-06-01"),
        ),
        ("what did we decide in may?", None),
        ("what have we decided in may?", None),
        ("the bill in june", None),
        ("what is the bill of march 2025?", None),
        ("what is due on 16 june?", None),
        ("what is new since april?", None),
        ("is june here?", None),
    ] {
        let time = Time::of(&lowercase_words(text), now());
        assert_eq!(time.month, month.map(date), "{text}");
    }
}

#[test]
fn a_month_is_named_by_itself_or_by_a_date_in_it() {
    let june = date("2026-06-01");
    for (text, said, named) in [
        ("the report is due on 16 june", "2026-05-04", true),
        ("the report is due in june", "2026-05-04", true),
        ("due 2026-06-16", "2026-05-04", true),
        ("der Bericht ist im Juni fällig", "2026-05-04", true),
        ("the report is due on 16 june 2026", "2025-01-04", true),
        ("the audit is in june", "2025-11-04", true),
        ("the report is due on 16 june 2025", "2025-05-04", false),
        ("the report was due in june", "2025-07-04", false),
        ("the report is due on 16 june", "2025-05-04", false),
        ("june comes at nine", "2026-05-04", false),
        ("the report is due in july", "2026-05-04", false),
        ("due 2026-07-16", "2026-05-04", false),
    ] {
        let words = lowercase_words(text);
        assert_eq!(names_month(&words, date(said), june), named, "{text}");
    }
}

#[test]
fn since_goes_on_until_today() {
    for (text, from) in [
        ("what changed since last week", "2026-05-11"),
        ("what changed since last month", "2026-04-01"),
        ("what changed since last year", "2025-01-01"),
        ("was ist seit letzter woche neu", "2026-05-11"),
        ("what changed since early april", "2026-04-01"),
        ("what changed since two weeks ago", "2026-05-03"),
    ] {
        let window = Time::of(&lowercase_words(text), now()).window;
        let (from, to) = (date(from), date("2026-05-21"));
        assert_eq!(window, Some(Window { from, to }), "{text}");
    }
}

#[test]
fn a_time_that_is_talked_about_is_told_from_the_time_of_talking() {
    let away = "Tom said he is away in December.";
    for (question, said, is_subject) in [
        ("What did Tom say about December?", "He is away then.", true),
        ("What did Tom say he does in December?", away, true),
        ("Was hat Tom über Dezember gesagt?", "Er ist weg.", true),
        ("Wat zei Tom over december?", "Hij is weg.", true),
        ("What did Bob say about next week?", "He is away.", true),
        ("What did Bob say about Tom yesterday?", away, false),
        ("What did Bob say about the oven yesterday?", away, false),
        ("What did Bob say in May?", away, false),
        ("What did Tom say yesterday?", "I was ill yesterday.", false),
        ("O que disse o Tom ontem?", "Estou doente.", false),
    ] {
        assert_eq!(
            names_time_as_subject(question, said),
            is_subject,
            "{question}"
        );
    }
}

#[test]
fn a_time_in_words_says_when() {
    for text in [
        "The harbour gate opens at nine.",
        "It is open on weekdays.",
        "Backups run nightly.",
        "We meet after lunch.",
        "Half past ten.",
        "The market is on Saturdays.",
        "Um halb neun.",
        "Immer dienstags.",
        "La réunion commence à neuf heures.",
        "Les lundis.",
        "A las nueve.",
        "Alle nove di sera.",
        "Às nove da manhã.",
        "O dziewiątej.",
        "В девять.",
        "We get the new roof next year.",
        "Das Dach kommt nächstes Jahr.",
    ] {
        assert!(says_when(&lowercase_words(text)), "{text}");
    }
    for text in [
        "The gate has an old lock.",
        "Nine people have an opinion.",
        "La clé est à une voisine.",
        "We do one thing.",
        "Prendi due o tre mele.",
        "We have a new roof this year.",
        "La porte a été réparée, mes amis.",
        "Le directeur sera content de vous voir avec les enfants.",
        "The estate belongs to Mira.",
    ] {
        assert!(!says_when(&lowercase_words(text)), "{text}");
    }
}
