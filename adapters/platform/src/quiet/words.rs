//! The commonest words that show to whom people talk, in English, German, French, Spanish, Italian,
//! Portuguese, Dutch, Polish and Russian; lower case, each list sorted by language.

/// Words before a name that is addressed, or before a sentence proper.
pub(super) const OPENERS: &[&str] = &[
    "and", "also", "but", "hey", "hi", "hello", "hm", "hmm", "just", "now", "ok", "okay", "oh", "please", "pls",
    "right", "so", "sorry", "then", "thx", "well", "wait", "yes", "no", "aber", "ach", "also", "auch", "bitte",
    "dann", "hallo", "ja", "nein", "so", "und", "alors", "aussi", "bon", "donc", "et", "mais", "oui", "non", "puis",
    "salut", "bueno", "entonces", "hola", "pero", "sí", "también", "vale", "y", "allora", "anche", "ciao", "e", "ma",
    "poi", "então", "mas", "olá", "também", "en", "maar", "dus", "ook", "hoi", "ale", "no", "więc", "też", "cześć",
    "а", "и", "но", "ну", "так", "привет",
];

pub(super) const THANKS: &[&str] = &[
    "thanks", "thank", "thx", "ty", "cheers", "danke", "merci", "gracias", "grazie", "obrigado", "obrigada",
    "bedankt", "dank", "dankjewel", "dzięki", "dziękuję", "спасибо",
];

/// "You", and its possessives.
pub(super) const YOU: &[&str] = &[
    "you", "u", "ya", "your", "yours", "du", "dich", "dir", "dein", "deine", "deinen", "ihr", "euch", "tu", "toi",
    "ton", "tes", "vous", "votre", "vos", "tú", "ti", "tus", "usted", "ustedes", "vosotros", "voi", "tuo", "tua",
    "você", "vocês", "jij", "jullie", "jouw", "ty", "ciebie", "twój", "ты", "вы", "тебя", "тебе",
];

/// Verb forms that only occur when somebody is addressed.
pub(super) const YOU_VERBS: &[&str] = &[
    "kannst", "könntest", "hast", "bist", "willst", "weißt", "machst", "könnt", "habt", "peux", "pourrais", "sais",
    "pouvez", "avez", "puedes", "podrías", "tienes", "sabes", "quieres", "puoi", "potresti", "hai", "sai", "podes",
    "pode", "podes", "tens", "kun", "heb", "możesz", "masz", "wiesz", "można", "можешь", "знаешь",
];

/// Verbs that ask somebody if "you" follows.
pub(super) const AUXILIARIES: &[&str] = &[
    "can", "could", "would", "will", "do", "did", "have", "had", "are", "were", "should", "may", "might", "kann",
    "könnte", "wird", "würde",
];

/// "We", and its possessives.
pub(super) const WE: &[&str] = &[
    "we", "us", "our", "ours", "wir", "uns", "unser", "unsere", "nous", "notre", "nos", "nosotros", "nuestro",
    "nuestra", "noi", "nostro", "nós", "nosso", "wij", "ons", "onze", "nam", "nasz", "мы", "нам", "наш",
];

pub(super) const WHO: &[&str] = &[
    "who", "wer", "qui", "quién", "quien", "chi", "quem", "kto", "кто",
];

/// Words after "who" that ask for a fact; any other word asks for somebody to do something.
pub(super) const FACT_AFTER_WHO: &[&str] = &[
    "was", "is", "were", "are", "did", "had", "has", "said", "asked", "told", "wrote", "made", "took", "got", "gave",
    "went", "came", "do", "does", "bought", "brought", "paid", "knew", "decided", "else", "all", "exactly", "the",
    "war", "ist", "hat", "hatte", "waren", "sind", "sagte", "est", "était", "a", "avait", "sont", "es", "era", "fue",
    "dijo", "ha", "tiene", "è", "era", "aveva", "é", "foi", "tem", "disse", "jest", "był", "była", "ma", "был",
    "была", "сказал",
];

/// Words that begin a question, even without a question mark.
pub(super) const QUESTION_WORDS: &[&str] = &[
    "who", "whom", "whose", "what", "what's", "whats", "when", "where", "which", "why", "how", "wer", "wen", "wem",
    "was", "wann", "wo", "wohin", "welche", "welcher", "welches", "warum", "wieso", "wie", "wieviel", "qui", "quoi",
    "quand", "où", "quel", "quelle", "quels", "quelles", "pourquoi", "comment", "combien", "quién", "qué", "cuándo",
    "dónde", "cuál", "cuánto", "cuántos", "cómo", "chi", "cosa", "quando", "dove", "quale", "quanto", "quanti",
    "perché", "come", "quem", "onde", "qual", "quantos", "como", "wanneer", "waar", "welk", "waarom", "hoe",
    "hoeveel", "kto", "kiedy", "gdzie", "który", "która", "dlaczego", "jak", "ile", "кто", "что", "когда", "где",
    "какой", "почему", "как", "сколько",
];

/// "Anybody" and the like: questions to people, not to the bot.
pub(super) const ANYBODY: &[&str] = &[
    "anyone", "anybody", "somebody", "someone", "everyone", "everybody", "guys", "folks", "y'all", "yall", "jemand",
    "alle", "leute", "quelqu'un", "quelquun", "alguien", "chicos", "qualcuno", "ragazzi", "alguém", "iemand",
    "allemaal", "ktoś", "ktokolwiek", "кто-нибудь", "ребята",
];

/// Pairs of words that ask people for a decision.
pub(super) const DELIBERATION: &[(&str, &str)] = &[
    ("shall", "we"), ("should", "we"), ("shall", "i"), ("should", "i"), ("can", "we"), ("could", "we"),
    ("why", "don't"), ("how", "about"), ("you", "all"), ("you", "two"), ("you", "both"), ("both", "of"),
    ("sollen", "wir"), ("wollen", "wir"), ("können", "wir"), ("soll", "ich"), ("machen", "wir"), ("on", "fait"),
    ("on", "y"), ("on", "prend"), ("vous", "voulez"), ("lo", "hacemos"), ("zullen", "we"), ("kunnen", "we"),
];

/// Words right before the bot's name that talk about it, not to it.
pub(super) const BEFORE_THIRD_PERSON: &[&str] = &[
    "ask", "asked", "asking", "tell", "told", "telling", "to", "by", "from", "with", "than", "like", "about", "of",
    "for", "if", "whether", "because", "via", "use", "using", "that", "what", "when", "why", "how", "is", "was", "be",
    "blame", "trust", "believe", "love", "hate", "poor", "our", "this", "fragt", "frag", "von", "mit", "dass", "ob",
    "wenn", "dem", "unser", "demande", "demandez", "demander", "à", "par", "avec", "selon", "que", "pregunta",
    "preguntad", "con", "según", "por", "a", "chiedi", "da", "vraag", "aan", "van", "met", "zapytaj", "od", "спроси",
    "у",
];

/// The same for a message that is not a question: the bot can answer "does Muninn know it?".
pub(super) const BEFORE_ASKED: &[&str] = &[
    "does", "did", "can", "could", "has", "would", "will", "weiß", "kann", "hat", "kennt", "sait", "peut", "connaît",
    "sabe", "puede", "sa", "può", "pode", "weet", "kan", "wie", "może", "знает", "может",
];

/// Words right after the bot's name that talk about it, not to it.
pub(super) const AFTER_THIRD_PERSON: &[&str] = &[
    "says", "said", "thinks", "thought", "knows", "knew", "told", "wrote", "noted", "got", "gets", "keeps", "kept",
    "remembers", "remembered", "forgot", "doesn't", "didn't", "isn't", "wasn't", "won't", "can't", "couldn't",
    "seems", "needs", "wants", "likes", "made", "makes", "gave", "gives", "and", "or", "non", "nie", "не", "sagt",
    "sagte", "meint", "weiß", "hat", "kennt", "dit", "sait", "pense", "dice", "sabe", "dijo", "dice", "sa", "diz",
    "disse", "zegt", "weet", "mówi", "wie", "говорит", "знает", "never", "always", "probably", "apparently",
    "obviously", "agrees", "lies", "loves", "hates", "sleeps", "works", "sees", "hears", "reads", "listens",
    "answers", "answered", "speaks", "talks", "understands", "understood", "pretends", "judges", "disagrees", "helps",
    "counts", "learns", "means", "looks", "sounds", "goes", "comes", "runs", "takes", "took", "wieder", "jamais",
    "toujours", "nunca", "siempre", "mai", "sempre",
];

/// Words after the bot's name that decide nothing: a question, or a pronoun next, does.
pub(super) const AFTER_UNCLEAR: &[&str] = &[
    "is", "was", "has", "had", "can", "could", "will", "would", "should", "might", "may", "must", "does", "did",
    "ist", "war", "kann", "könnte", "soll", "wird", "est", "était", "a", "peut", "va", "es", "era", "está", "ha",
    "puede", "va", "è", "può", "é", "pode", "is", "kan", "jest", "może", "может",
];

pub(super) const PRONOUNS: &[&str] = &[
    "you", "u", "we", "i", "it", "that", "this", "there", "he", "she", "they", "please", "du", "wir", "ich", "es",
    "das", "bitte", "tu", "nous", "je", "il", "elle", "on", "ça", "tú", "nosotros", "yo", "eso", "io", "noi", "você",
    "eu", "jij", "ik", "we", "het",
];

/// General words for a bot.
pub(super) const SOME_BOT: &[&str] = &[
    "bot", "robot", "roboter", "бот", "робот",
];

pub(super) const ARTICLES: &[&str] = &[
    "the", "our", "der", "unser", "le", "notre", "el", "nuestro", "il", "o", "de", "onze", "nasz",
];

/// Verbs in questions about the bot itself: "the bot knows", "sait le bot".
pub(super) const KNOWS: &[&str] = &[
    "know", "knows", "remember", "remembers", "have", "weiß", "sait", "sabe", "sa", "weet", "wie", "знает",
];

/// Imperatives that begin a request to note something.
pub(super) const NOTE: &[&str] = &[
    "log", "note", "record", "jot", "remember", "notiere", "notier", "vermerke", "vermerk", "protokolliere", "notez",
    "ajoute", "ajoutez", "retiens", "retenez", "enregistre", "inscris", "anota", "apunta", "registra", "recuerda",
    "annota", "segna", "appunta", "ricorda", "anote", "registre", "lembra", "noteer", "onthoud", "zapisz", "zanotuj",
    "zapamiętaj", "запиши", "запомни", "отметь",
];

/// Those of them that are nouns too: they need an object after them.
pub(super) const NOTE_NOUNS: &[&str] = &[
    "log", "note", "record",
];
pub(super) const AFTER_NOTE: &[&str] = &[
    "that", "this", "it", "the", "a", "an", "my", "our", "his", "her", "their", "down", "also", "please", "as", "for",
    "under", "que", "qu", "dass", "bitte", "che", "dat",
];

/// The same in two words, with others between them.
pub(super) const NOTE_PAIRS: &[(&str, &str)] = &[
    ("write", "down"), ("put", "down"), ("take", "down"), ("note", "down"), ("keep", "mind"), ("keep", "note"),
    ("make", "note"), ("take", "note"), ("schreib", "auf"), ("schreibe", "auf"), ("merk", "dir"), ("merke", "dir"),
    ("trag", "ein"), ("halt", "fest"), ("halte", "fest"), ("prends", "note"), ("toma", "nota"), ("prendi", "nota"),
    ("toma", "nota"), ("schrijf", "op"), ("add", "list"), ("add", "notes"), ("add", "log"), ("put", "list"),
    ("put", "notes"),
];

/// Words before which "remember" is not a request.
pub(super) const REMEMBER: &[&str] = &[
    "remember", "recuerda", "ricorda", "lembra",
];
pub(super) const MEMORIES: &[&str] = &[
    "when", "how", "the", "those", "last", "me", "cuando", "cuándo", "quando",
];

/// Other imperatives that follow an answer.
pub(super) const REQUEST: &[&str] = &[
    "tell", "show", "list", "remind", "explain", "summarise", "summarize", "translate", "compare", "search", "find",
    "give", "repeat", "shorten", "forget", "check", "zeig", "zeige", "nenn", "nenne", "erklär", "erkläre", "erinnere",
    "erinner", "such", "suche", "liste", "montre", "donne", "explique", "rappelle", "rappelez", "cherche", "résume",
    "muestra", "dame", "dime", "explica", "busca", "resume", "mostra", "dimmi", "spiega", "cerca", "mostre", "diga",
    "procure", "toon", "geef", "leg", "zoek", "pokaż", "podaj", "wyjaśnij", "znajdź", "покажи", "объясни", "найди",
    "add", "change", "correct", "update", "delete", "remove", "cancel", "make", "count", "sort", "ändere",
    "korrigiere", "lösche", "füge", "streich", "corrige", "supprime", "enlève", "change", "cambia", "borra", "quita",
    "añade", "agrega", "correggi", "cancella", "aggiungi", "mude", "corrija", "apague", "adicione", "wijzig",
    "verbeter", "verwijder", "voeg", "zmień", "popraw", "usuń", "dodaj", "измени", "исправь", "удали", "добавь",
];

/// Words for "written", "noted", "on record".
pub(super) const RECORDED: &[&str] = &[
    "written", "noted", "logged", "recorded", "documented", "notiert", "aufgeschrieben", "vermerkt", "festgehalten",
    "dokumentiert", "protokolliert", "geschrieben", "noté", "notée", "notés", "écrit", "écrite", "enregistré",
    "inscrit", "anotado", "anotada", "apuntado", "apuntada", "escrito", "escrita", "registrado", "scritto", "scritta",
    "annotato", "segnato", "registrada", "opgeschreven", "genoteerd", "vastgelegd", "zapisane", "zapisany",
    "zanotowane", "записано", "записан",
];

/// The same in two words: "in the notes", "on record".
pub(super) const RECORDED_PAIRS: &[(&str, &str)] = &[
    ("on", "record"), ("on", "file"), ("in", "notes"), ("in", "log"), ("in", "records"), ("steht", "irgendwo"),
    ("steht", "wo"), ("have", "note"), ("a", "record"),
];

/// Words that begin a correction of the bot.
pub(super) const CORRECTION: &[&str] = &[
    "no", "nope", "wrong", "actually", "not", "nein", "falsch", "doch", "non", "faux", "no", "mal", "sbagliato",
    "não", "errado", "nee", "fout", "nie", "źle", "нет", "неверно",
];

pub(super) const MEANT: &[(&str, &str)] = &[
    ("i", "meant"), ("i", "mean"), ("that's", "wrong"), ("that's", "not"), ("ich", "meinte"), ("ich", "meine"),
    ("je", "parle"), ("je", "voulais"), ("quería", "decir"), ("ik", "bedoel"), ("ik", "bedoelde"),
];

pub(super) const AND: &[&str] = &[
    "and", "und", "et", "y", "e", "en", "и", "а",
];

pub(super) const LAUGHTER: &[&str] = &[
    "lol", "lmao", "rofl", "xd", "ha", "haha", "hehe", "mdr", "ptdr", "jaja", "jeje", "kek", "hihi", "ahah", "kkk",
    "хаха",
];
