//! Words about time, in several languages.

use crate::retrieval::language::WordList;

/// Weekdays from Monday on, in several languages.
pub(super) const WEEKDAYS: [WordList; 7] = [
    WordList::of("monday mon montag lundi lunes lunedì maandag poniedziałek понедельник"),
    WordList::of("tuesday tue dienstag mardi martes martedì dinsdag wtorek вторник terça"),
    WordList::of(
        "wednesday wed mittwoch mercredi miércoles mercoledì woensdag środa środę среда среду",
    ),
    WordList::of("thursday thu donnerstag jeudi jueves giovedì donderdag czwartek четверг"),
    WordList::of("friday fri freitag vendredi viernes venerdì vrijdag piątek пятница пятницу"),
    WordList::of("saturday samstag samedi sábado sabato zaterdag sobota sobotę суббота субботу"),
    WordList::of("sunday sonntag dimanche domingo domenica zondag niedziela niedzielę воскресенье"),
];
/// Portuguese weekdays from Monday on, of which most are ordinals, too: they stand before "feira".
pub(super) const PORTUGUESE_DAYS: [&str; 5] = ["segunda", "terça", "quarta", "quinta", "sexta"];
/// Words before a weekday.
pub(super) const ON: WordList =
    WordList::of("on last next since by this until till from every for before after");
/// Months from January on. The word before them distinguishes those that also have another meaning in English.
pub(in crate::memory) const MONTHS: [WordList; 12] = [
    WordList::of(
        "january jan januar janvier enero janeiro gennaio januari styczeń stycznia styczniu январь января январе",
    ),
    WordList::of(
        "february feb februar février febrero fevereiro febbraio februari luty lutego lutym февраль февраля феврале",
    ),
    WordList::of("march mar märz mars marzo março maart marzec marca marcu март марта марте"),
    WordList::of("april apr avril abril aprile kwiecień kwietnia kwietniu апрель апреля апреле"),
    WordList::of("may mai mayo maio maggio mei maj maja maju май мая мае"),
    WordList::of("june jun juni juin junio junho giugno czerwiec czerwca czerwcu июнь июня июне"),
    WordList::of("july jul juli juillet julio julho luglio lipiec lipca lipcu июль июля июле"),
    WordList::of(
        "august aug août agosto augustus sierpień sierpnia sierpniu август августа августе",
    ),
    WordList::of(
        "september sep sept septembre septiembre setembro settembre wrzesień września wrześniu сентябрь сентября сентябре",
    ),
    WordList::of(
        "october oct oktober octobre octubre outubro ottobre październik października październiku октябрь октября октябре",
    ),
    WordList::of(
        "november nov novembre noviembre novembro listopad listopada listopadzie ноябрь ноября ноябре",
    ),
    WordList::of(
        "december dec dezember décembre diciembre dezembro dicembre grudzień grudnia grudniu декабрь декабря декабре",
    ),
];
pub(super) const SINCE: WordList = WordList::of("since seit depuis desde sinds od");
/// Months that are also another word or a name, and so need a word beside them that tells.
pub(super) const DOUBTFUL_MONTHS: WordList =
    WordList::of("may march mar mars marca maja jan julio mayo");
/// The same in English, and where nothing tells the language: names, and months of other languages.
pub(super) const DOUBTFUL_IN_ENGLISH: WordList = WordList::of("april june august mai");
/// Forms of "to have" in French, with which "été" is no summer.
pub(super) const HAS_IN_FRENCH: WordList =
    WordList::of("a ai as ont avons avez avait avaient aurait aura ayant avoir");
/// Words before the name of a month.
pub(super) const IN: WordList =
    WordList::of("in im en em w в since seit depuis desde of early late mid during");
/// Further words before a month that may be a name: "the april bill".
pub(super) const BEFORE_MONTH: WordList =
    WordList::of("the this by for until till from between before after to around");
/// Words before a doubtful month in its own language: "las ventas de julio", "faktura z marca".
pub(super) const BEFORE_MONTH_IN_SPANISH: WordList = WordList::of("de del hasta");
pub(super) const BEFORE_MONTH_IN_POLISH: WordList = WordList::of("z do po przed");
/// Words before the day on which something was said: "the minutes from Monday".
pub(super) const FROM: WordList = WordList::of("from vom von");
/// Words between a day, its month and its year: "3 de abril de 2025".
pub(super) const OF: WordList = WordList::of("of de del do");
pub(super) const NEXT: WordList = WordList::of(
    "next nächsten nächste nächster nächstes kommende kommenden kommender kommendes prochain prochaine próximo próxima prossimo prossima volgende \
                    następny następną następnym następnego przyszły przyszłą przyszłym przyszłego следующий следующую \
                    следующей следующем следующее",
);
/// Those that stand behind their noun.
pub(super) const NEXT_BEHIND: WordList =
    WordList::of("prochain prochaine próximo próxima prossimo prossima");
/// "Que viene", "que vem".
pub(super) const COMES: WordList = WordList::of("viene vem");
pub(super) const LAST: WordList = WordList::of(
    "last letzte letzten letzter letztes voriges vorigen voriger dernière dernier pasada pasado passada passado scorsa scorso \
                    vorige zeszły zeszłym zeszłego прошлый прошлой прошлую прошлом прошлого",
);
pub(super) const THIS: WordList = WordList::of(
    "this diese diesen dieser dieses cette esta este questa questo deze dit tym этой этом",
);
pub(super) const WEEK: WordList =
    WordList::of("week woche semaine semana settimana tydzień tygodniu неделя неделе неделю");
pub(super) const MONTH: WordList =
    WordList::of("month monat mois mes mês mese maand miesiąc miesiącu месяц месяце");
pub(super) const YEAR: WordList =
    WordList::of("year jahr jahres an année año ano anno jaar rok roku год году года");
pub(super) const YESTERDAY: WordList =
    WordList::of("yesterday gestern hier ayer ontem ieri gisteren wczoraj вчера");
pub(super) const TODAY: WordList =
    WordList::of("today tonight heute aujourd hoy hoje oggi vandaag dziś dzisiaj сегодня");
pub(super) const TOMORROW: WordList =
    WordList::of("tomorrow demain mañana amanhã domani morgen jutro завтра");
/// Words before a day from which on something holds.
pub(super) const BEGINNING: WordList =
    WordList::of("from since starting beginning ab seit von dès depuis desde da vanaf od с");
/// Those of them that are about what is to come.
pub(super) const ON_AND_AFTER: WordList = WordList::of("from starting beginning ab dès vanaf od с");
/// Words for a time that is no certain day.
pub(super) const VAGUE_TIMES: WordList = WordList::of(
    "morning afternoon evening night weekend spring summer autumn winter easter christmas later earlier soon \
    vormittag nachmittag abend nacht wochenende frühling sommer herbst ostern weihnachten später früher \
    matin soir nuit printemps été automne hiver pâques noël tard \
    tarde noche primavera verano otoño invierno pascua navidad temprano \
    manhã noite verão outono inverno natal cedo mattina pomeriggio sera estate autunno pasqua natale \
    ochtend middag avond zomer herfst pasen kerst later eerder",
);
/// Words for times that come again.
pub(super) const RECURRING: WordList = WordList::of(
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays weekday weekdays workdays weekends \
    daily nightly hourly weekly fortnightly monthly quarterly yearly annually \
    montags dienstags mittwochs donnerstags freitags samstags sonnabends sonntags werktags wochentags feiertags \
    morgens vormittags mittags nachmittags abends nachts täglich stündlich wöchentlich monatlich jährlich \
    lundis mardis mercredis jeudis vendredis samedis dimanches quotidien quotidiennement hebdomadaire \
    sábados domingos diario diariamente semanalmente mensualmente mensalmente \
    settimanalmente mensilmente dagelijks wekelijks maandelijks codziennie ежедневно",
);
/// Words for times of a day, beside those in [`VAGUE_TIMES`].
pub(super) const TIMES_OF_DAY: WordList = WordList::of(
    "noon midday midnight dawn dusk sunrise sunset breakfast lunch lunchtime dinner oclock \
    mittag mitternacht frühstück uhr midi minuit déjeuner mediodía medianoche almuerzo almoço \
    mezzogiorno mezzanotte pranzo południe północ утром днём вечером ночью полдень полночь",
);
/// The hours of a clock in words.
pub(super) const HOURS: WordList = WordList::of(
    "one two three four five six seven eight nine ten eleven twelve \
    eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf \
    deux trois quatre cinq six sept huit neuf dix onze douze \
    dos tres cuatro cinco seis siete ocho nueve diez once doce \
    duas três quatro sete oito nove dez doze due tre quattro cinque sei sette otto dieci undici dodici \
    twee drie vijf zes zeven acht negen tien twaalf \
    pierwszej drugiej trzeciej czwartej piątej szóstej siódmej ósmej dziewiątej dziesiątej jedenastej dwunastej \
    два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать",
);
/// Words before an hour of a clock: "at nine", "half past nine", "a las nueve".
pub(super) const BEFORE_HOUR: WordList = WordList::of(
    "at until till before after around past half um ab bis gegen nach halb à vers dès avant après las às alle dalle \
    om vanaf tot rond o od do po przed в до после к",
);
/// The same before "of" and "de": "as of today", "à partir de demain".
pub(super) const BEGINNING_OF: WordList = WordList::of("as partir");
pub(super) const BEFORE_YESTERDAY: WordList =
    WordList::of("vorgestern anteayer anteontem eergisteren przedwczoraj позавчера");
/// The day before yesterday in several words, each of which alone means another day.
pub(super) const BEFORE_YESTERDAY_PHRASES: [&[&str]; 5] = [
    &["avant", "hier"],
    &["antes", "de", "ayer"],
    &["antes", "de", "ontem"],
    &["altro", "ieri"],
    &["ieri", "altro"],
];
/// Words that show that a question is about an earlier state.
pub(super) const THEN: WordList = WordList::of(
    "before original originally initially earlier former formerly previous previously vorher ursprüngliche ursprünglichen \
                    ursprünglich zuerst früher avant antes originalmente prima eerst wcześniej раньше",
);

/// Words that show it only in the past tense: "what was the first date", but not "when is the first rehearsal".
pub(super) const THEN_OF_PAST: WordList = WordList::of("first until till");
pub(super) const PAST: WordList = WordList::of("was were did had used");
/// Words after "first" that are not about an earlier state: "first aid".
pub(super) const OTHER_FIRST: WordList = WordList::of("aid floor name class grade time day half");
/// Things of which the old one was replaced: "the old price", but not "the old town".
pub(super) const REPLACEABLE: WordList = WordList::of(
    "price fee rate rent cost salary number phone code password key date time deadline day address room place name plan \
    rule limit version value amount budget one schedule hours menu job boss",
);

/// Words behind which a question names its subject: "what did Tom say about December?"
pub(super) const ABOUT: WordList = WordList::of(
    "about regarding concerning über zu zum zur betreffend sujet sur sobre acerca su sul sulla temat о об про насчёт",
);

/// The place of the list that has a word.
pub(super) fn place(word: &str, lists: &[WordList]) -> Option<u32> {
    let place = lists.iter().position(|words| words.has(word))?;
    u32::try_from(place).ok()
}
