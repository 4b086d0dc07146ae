//! Knowledge of languages without a model: function words, question words, and polite phrases.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::rarity::rarity;

/// A language that can be recognised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    #[default]
    English,
    German,
    French,
    Spanish,
    Portuguese,
    Italian,
    Dutch,
    Polish,
    Russian,
    Chinese,
    Japanese,
    Korean,
}

/// Every language. If several are equally likely, the first one is guessed.
pub const LANGUAGES: [Language; 12] = [
    Language::English,
    Language::German,
    Language::French,
    Language::Spanish,
    Language::Portuguese,
    Language::Italian,
    Language::Dutch,
    Language::Polish,
    Language::Russian,
    Language::Chinese,
    Language::Japanese,
    Language::Korean,
];

/// A language's words, separated by blanks and in lower case; for languages without blanks, pairs of characters.
struct Lexicon {
    /// Articles, pronouns, auxiliaries, conjunctions.
    function: &'static str,
    /// Question words, which have no content either.
    asking: &'static str,
}

const LEXICONS: [Lexicon; LANGUAGES.len()] = [
    Lexicon {
        function: "a about actually after again also am an and any are as at be been before being but by can could \
                   currently did do does done down each ever for from get gets got had has have having he her here hers \
                   him his i if im in into is it its ive just let lets me might mine must my no not now of off on or our \
                   ours out over please pls really say said shall she should so some still than that thats the their \
                   theirs them then there theres these they this those to too up us very was we were will with would yet \
                   you your yours btw rn ugh",
        asking: "how hows what whats when whens where wheres which who whom whos whose why",
    },
    Lexicon {
        function: "ab aber als am an auch auf aus bei beim bin bis bist da damit dann das dass dein deine dem den denn \
                   der des dich die dir doch du durch ein eine einem einen einer eines er es euch euer eure für gab gibt \
                   haben habe habt hat hatte hatten ich ihm ihn ihr ihre im in ins ist ja jetzt kann kannst können könnt \
                   man mal mein meine meinem meinen meiner mich mir mit muss nach nicht noch nun nur ob oder schon sein \
                   seine seit sich sie sind so soll sollen über um und uns unser unsere vom von vor war waren weil wenn \
                   werden wir wird wurde wurden würde zu zum zur eigentlich nochmal",
        asking: "wann warum was wem wen wer weshalb wessen wie wieso wieviel wieviele wo woher wohin womit worüber \
                 welche welchem welchen welcher welches",
    },
    Lexicon {
        function: "ai ait alors as à au aussi aux avais avait avec avez avoir avons c ce ces cet cette ça dans de des \
                   dont du elle elles en es est et étais était été être eu eux faut il ils j je l la là le les leur \
                   leurs lui m ma mais me mes moi mon n ne nos notre nous on ont ou où par pas plus pour qu s sa sans se \
                   ses si son sont suis sur t ta te tes toi ton tu un une va vais vos votre vous y déjà",
        asking: "combien comment lequel laquelle lesquels pourquoi quand que quel quelle quelles quels qui quoi",
    },
    Lexicon {
        function: "a al algo ante antes aquí así aún con cuando de del desde donde dos el él ella ellas ellos en entre era \
                   eran es esa ese eso esta está están estas este esto estos estoy fue fueron ha había han hasta hay he \
                   la las le les lo los más me mi mis mí muy nada ni no nos nosotros nuestra nuestro o os otra otro para \
                   pero por porque que se sea ser si sí sin sobre son su sus también te tengo tiene tienen tu tus tú un \
                   una unas unos y ya yo",
        asking: "adónde cómo cuál cuáles cuándo cuánta cuántas cuánto cuántos dónde qué quién quiénes",
    },
    Lexicon {
        function: "a ao aos aquela aquele aqui as até com como da das de dela dele do dos e é ela elas ele eles em entre \
                   era esse essa esta este eu foi foram há isso isto já lá lhe mais mas me mesmo meu meus minha minhas \
                   muito na não nas nem no nos nós nossa nosso num numa o os ou para pela pelo pelos por porque que se \
                   seja sem ser seu seus só sua suas são também te tem têm tenho ter um uma uns você vocês",
        asking: "aonde cadê onde qual quais quando quanta quantas quanto quantos quem quê",
    },
    Lexicon {
        function: "a ad ai al alla alle allo anche c c'è che ci con da dal dalla dei del della delle dello di e è ed era \
                   erano essere gli ha hai hanno ho i il in io l la le lei lo loro lui ma me mi mia mie miei mio nei nel \
                   nella non noi nostra nostro o per perché più poi questa questo se sei si sia siamo sono sta su sua sue \
                   sui sul sulla suo tra tu tua tuo tutti tutto un una uno vi voi",
        asking: "chi come cosa dove quale quali quando quanta quante quanti quanto",
    },
    Lexicon {
        function: "aan al als altijd bij ben bent dan dat de den der deze die dit doen door dus een eens en er ge geen \
                   had hadden heb hebben heeft hem het hier hij hun ik in is ja je jij jullie kan kun kunnen maar me mee \
                   men met mij mijn moet na naar niet nog nu of om omdat onder ons onze ook op over te tegen toch toen \
                   tot u uit uw van veel voor wa waren was we wel werd werden wij wil worden wordt zal ze zich zij zijn \
                   zo zonder zou",
        asking: "hoe hoeveel waar waarom wanneer wat welk welke wie wiens",
    },
    Lexicon {
        function: "a aby ale albo bardzo będzie bez bo by był była było były być ci co dla do go i ich ile im ja jak jako \
                   jej jego jest jestem jeszcze już każdy lub ma mam mi mnie moja moje może mój mu my na nad nam nami nas \
                   nasz nasza nie nich nim niż o od on ona one oni ono oraz po pod przed przez przy się są ta tak także \
                   tam te tego tej ten to tu tylko ty u w was we więc wszystko z za ze że żeby",
        asking: "co czego czemu czy czyj czyja czym dlaczego dokąd gdzie ile jaka jaki jakie jak kiedy kim kogo komu \
                 która które który kto skąd",
    },
    Lexicon {
        function: "а без бы был была были было быть в вам вас ваш во вот все всё вы да для до его ее её если есть еще ещё \
                   же за и из или им их к как ко ли меня мне мной мои мой моя мы на над нам нас наш не него нее нет них \
                   но ну о об он она они оно от по под при с свой себя со так также там те тебя то только том тот ту ты \
                   у уже чем что чтобы эта эти это этот я",
        asking: "где зачем как какая какие какой котором когда кого кому кто куда откуда почему сколько чего чей чем что чья",
    },
    Lexicon {
        function: "一个 一下 一些 上的 下的 不是 个人 了吗 什么 他们 你们 但是 可以 可能 和我 因为 在这 她们 对于 就是 已经 应该 很多 我们 我的 \
                   或者 所以 才能 时候 是不 是否 是在 有没 没有 现在 的人 的时 能够 自己 虽然 还是 还有 这个 这些 这是 那个 那些 都是 需要 的 了 是 \
                   在 我 有 和 就 不 都 也 很 到 说 要 去 会 着 把 被 吗 呢 吧 啊",
        asking: "什么 甚么 么时 怎么 怎样 为什 多少 哪里 哪儿 哪个 哪些 哪天 几点 几个 几天 几号 几月 谁的 是谁 谁 几 哪",
    },
    Lexicon {
        function: "あり ある いる うに から かな くだ けど こと この これ さい され しい した して する すか せん その そう それ たい だけ だけど たら \
                   ため です てい ては ても でき でし でも とい とか とき ない など なる なり にも ので のに のは はい ます ませ まし また まだ まで \
                   もう もの やっ よう より らい られ りま りが れは れる んで んな 今は 今の は が を に の で と も へ や か ね よ な た て",
        asking: "いつ どこ どの どれ どう なぜ なに なん いく くら 何時 何人 何を 何が 何で 何曜 何日 何月 何の 誰が 誰で 誰の 誰に 誰 何 幾",
    },
    Lexicon {
        function: "그리 그런 그것 그래 나는 내가 내 는데 니다 습니 합니 있는 있어 있나 있습 이번 이것 이거 에서 에게 으로 까지 부터 하고 하는 해요 했어 \
                   했습 되나 되는 우리 저는 제가 제 좀 것 것은 수 의 를 을 이 가 은 는 도 에 와 과 로",
        asking: "누가 누구 언제 어디 어느 어떤 어떻 무슨 무엇 뭐야 뭐가 뭐 왜 얼마 몇 인가 인가요 나요 까요",
    },
];

/// English words that begin a question: "is it …", "did we …".
const BEGINNING: &str =
    "am are can could did do does had has have is may should was were will would";

/// Auxiliary verbs and forms of being and having, of the languages that separate words by blanks.
const AUXILIARY: &str = "am are be can could did do does had has have is may might must shall should was were will would \
    bin bist ist sind seid war waren hat habe haben hatte hatten kann können könnte muss müssen soll sollen wird werden wurde \
    wurden würde gibt \
    est sont suis était étaient ont avons avez avait peut peuvent doit doivent va vont faut \
    es son está están era eran fue fueron ha han hay hubo tiene tienen tenemos puede pueden debe va \
    é são está estão foi foram há tem têm pode podem deve vai \
    è sono siamo era erano ha hanno abbiamo può possono deve devono \
    is ben bent zijn was waren heeft hebben had hadden kan kunnen moet moeten wordt worden zal \
    jest są był była było były ma mają mamy może mogą będzie \
    был была было были есть будет может могут";

/// Greetings, thanks and similar words, in any of the languages.
const POLITE: &str = "afternoon bye cheers congrats cool evening good goodbye goodnight great haha hah heh hello hey hi hm hmm \
    kudos lol lot lots morning nice night ok okay okey perfect sorry sup sure thank thanks thx ty welcome wow yay yeah yep yes yo nope no \
    super abend danke dankeschön gut gute guten hallo klar moin morgen nacht nein prima servus tag tschüss \
    adieu bien bonjour bonne bonsoir coucou journée merci nuit beaucoup oui revoir salut soirée \
    adiós buenas buenos días gracias muchas hola noches sí tardes vale \
    boa bom dia noite obrigada obrigado olá tarde tchau \
    buona buonanotte buonasera buongiorno ciao grazie prego \
    avond bedankt dag dank doei goed goedemorgen goedenavond hoi nee welterusten \
    cześć dobranoc dobry dzień dzięki dziękuję tak witaj \
    вечер день доброе добрый ночи пока привет спасибо спокойной утро \
    谢谢 多谢 感谢 你好 您好 再见 晚安 早安 早上 上好 好的 辛苦 苦了 \
    あり りが がと とう おは はよ よう こん んに にち ちは さん さよ うな なら お疲 疲れ れ様 了解 \
    안녕 감사 고마 수고 좋아";

/// The bot's name, as used in greetings.
const BOT: &str = "muninn";

/// Words of calculations.
const SUMS: WordList = WordList::of(
    "plus minus times x divided multiplied sum root squared calculate mal geteilt durch berechne fois divisé por \
    dividido más per diviso keer gedeeld razy podzielić умножить делить",
);

/// Whether a word is used in calculations.
pub fn calculates(word: &str) -> bool {
    SUMS.has(word)
}

/// A list of words separated by blanks. Nearly every word that is looked up is in none of the lists, so its length and
/// first byte decide whether it can be in one.
#[derive(Clone, Copy, Debug)]
pub struct WordList {
    words: &'static str,
    /// One bit for each kind of word in it.
    kinds: u128,
}

impl WordList {
    pub const fn of(words: &'static str) -> Self {
        let bytes = words.as_bytes();
        let (mut kinds, mut start, mut at) = (0, 0, 0);
        while at <= bytes.len() {
            if at == bytes.len() || bytes[at] == b' ' {
                if at > start {
                    kinds |= kind(bytes[start], at - start);
                }
                start = at + 1;
            }
            at += 1;
        }
        Self { words, kinds }
    }

    /// All words, separated by blanks.
    pub const fn words(self) -> &'static str {
        self.words
    }

    /// Whether a lower-case word is in it.
    pub fn has(&self, word: &str) -> bool {
        let Some(&first) = word.as_bytes().first() else {
            return false;
        };
        self.kinds & kind(first, word.len()) != 0
            && self.words.split(' ').any(|known| known == word)
    }
}

const fn kind(first: u8, length: usize) -> u128 {
    1 << ((first as usize * 7 + length) % 128)
}

struct WordClasses {
    /// The languages in which a word is a function word, one bit each.
    function: HashMap<&'static str, u16>,
    /// Those of them in which it is a question word, unless it is a common English word.
    telling: HashMap<&'static str, u16>,
    /// The languages in which a word is a question word, one bit each.
    asking: HashMap<&'static str, u16>,
    beginning: HashSet<&'static str>,
    auxiliary: HashSet<&'static str>,
    polite: HashSet<&'static str>,
}

static KNOWN: LazyLock<WordClasses> = LazyLock::new(|| {
    let set = |words: &'static str| words.split_whitespace().collect::<HashSet<_>>();
    let mut function: HashMap<&'static str, u16> = HashMap::new();
    let mut telling: HashMap<&'static str, u16> = HashMap::new();
    for (language, lexicon) in LEXICONS.iter().enumerate() {
        for word in [lexicon.function, lexicon.asking]
            .into_iter()
            .flat_map(str::split_whitespace)
        {
            *function.entry(word).or_default() |= 1 << language;
        }
        let is_uncommon = |word: &&str| rarity(word) >= COMMON;
        for word in lexicon.asking.split_whitespace().filter(is_uncommon) {
            *telling.entry(word).or_default() |= 1 << language;
        }
    }
    let mut asking: HashMap<&'static str, u16> = HashMap::new();
    for (language, lexicon) in LEXICONS.iter().enumerate() {
        for word in lexicon.asking.split_whitespace() {
            *asking.entry(word).or_default() |= 1 << language;
        }
    }
    WordClasses {
        function,
        telling,
        asking,
        beginning: set(BEGINNING),
        auxiliary: set(AUXILIARY),
        polite: set(POLITE),
    }
});

/// Minimum rarity in English of a word that indicates another language.
const COMMON: f32 = 7.0;
/// Minimum number of hits to recognise a language; a question word or a distinctive character counts as two.
const LEAST_HITS: u32 = 2;
/// No function word has more bytes.
const MAX_FUNCTION_WORD_BYTES: usize = 24;

/// The language of a text: the one with the most function words or characteristic characters in it. If several are
/// equal, English.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guess(Language);

impl Guess {
    /// From lower-case words.
    pub fn of<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        Self::told(words).unwrap_or_default()
    }

    /// The same, or `None` if the words do not tell the language.
    pub fn told<'a>(words: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut hits = [0_u32; LANGUAGES.len()];
        for word in words {
            let (function, signs) = (function_of(word), signs_of(word));
            let telling = signs | telling_of(word, function);
            for mut mask in [function | signs, telling] {
                while mask != 0 {
                    hits[mask.trailing_zeros() as usize] += 1;
                    mask &= mask - 1;
                }
            }
        }
        let best =
            (1..hits.len()).fold(0, |best, at| if hits[at] > hits[best] { at } else { best });
        // "Per" or "van" in a name does not make the text Italian or Dutch.
        let is_told = hits[best] >= LEAST_HITS;
        is_told.then_some(Self(LANGUAGES[best]))
    }

    pub fn language(self) -> Language {
        self.0
    }

    /// Whether a word has no content.
    pub fn is_stop_word(self, word: &str) -> bool {
        function_of(word) & (1 << self.0 as u16) != 0
    }
}

fn telling_of(word: &str, function: u16) -> u16 {
    let known = (function != 0).then(|| KNOWN.telling.get(word));
    known.flatten().copied().unwrap_or_default()
}

fn function_of(word: &str) -> u16 {
    let known = (word.len() <= MAX_FUNCTION_WORD_BYTES).then(|| KNOWN.function.get(word));
    known.flatten().copied().unwrap_or_default()
}

/// The languages with the characters of a word, if they are few.
fn signs_of(word: &str) -> u16 {
    let of = |languages: &[Language]| {
        languages
            .iter()
            .fold(0, |mask, &language| mask | 1 << language as u16)
    };
    let sign = |c: char| match c {
        'ä' | 'ö' | 'ü' | 'ß' => of(&[Language::German]),
        'ñ' => of(&[Language::Spanish]),
        'ã' | 'õ' => of(&[Language::Portuguese]),
        'ą' | 'ę' | 'ł' | 'ś' | 'ź' | 'ż' | 'ć' | 'ń' => of(&[Language::Polish]),
        '\u{0400}'..='\u{052f}' => of(&[Language::Russian]),
        '\u{3040}'..='\u{30ff}' => of(&[Language::Japanese]),
        '\u{3400}'..='\u{9fff}' => of(&[Language::Chinese, Language::Japanese]),
        '\u{ac00}'..='\u{d7af}' => of(&[Language::Korean]),
        _ => 0,
    };
    if word.is_ascii() {
        0
    } else {
        word.chars().map(sign).find(|&mask| mask != 0).unwrap_or(0)
    }
}

/// Whether a question that begins with this word is a yes-or-no question.
pub fn begins_question(word: &str) -> bool {
    KNOWN.beginning.contains(word)
}

/// Whether a word has no content in some language.
pub fn is_function_word(word: &str) -> bool {
    function_of(word) != 0
}

/// Whether it is a question word in any language.
pub fn is_asking(word: &str) -> bool {
    KNOWN.asking.contains_key(word)
}

/// Whether a word is an auxiliary verb or a form of being or having, in any language.
pub fn is_auxiliary(word: &str) -> bool {
    KNOWN.auxiliary.contains(word)
}

/// Whether it is a question word in the guessed language.
pub fn asks_in(guess: Guess, word: &str) -> bool {
    let languages = KNOWN.asking.get(word).copied().unwrap_or_default();
    languages & (1 << guess.0 as u16) != 0
}

/// Whether it is a greeting, thanks or a similar word.
pub fn is_polite(word: &str) -> bool {
    KNOWN.polite.contains(word) || is_laughter(word)
}

/// Whether words are only politeness: at most one of them has another meaning.
pub fn are_polite<'a>(words: impl Iterator<Item = &'a str> + Clone) -> bool {
    let guess = Guess::of(words.clone());
    let (mut polite, mut others) = (0, 0);
    for word in words {
        if is_polite(word) {
            polite += 1;
        } else if word != BOT && !guess.is_stop_word(word) {
            others += 1;
        }
    }
    polite > 0 && others <= 1 && others < polite
}

/// `hahaha`, `jajaja`, `хаха`.
fn is_laughter(word: &str) -> bool {
    let mut letters: Vec<char> = word.chars().collect();
    let long = letters.len() >= 4;
    letters.sort_unstable();
    letters.dedup();
    let laughs = |c: &char| matches!(c, 'h' | 'j' | 'k' | 'a' | 'e' | 'i' | 'х' | 'а' | 'е' | 'и');
    long && letters.len() == 2 && letters.iter().all(laughs)
}

/// What [`script`] returns for Latin, and for scripts that are not distinguished.
pub const LATIN: usize = 0;

/// The script of most letters of a text; Latin is one of the others, which are not distinguished.
pub fn script(text: &str) -> usize {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let scripts = letters.map(|c| match c {
        '\u{0400}'..='\u{052f}' => 1,
        '\u{0370}'..='\u{03ff}' => 2,
        '\u{0590}'..='\u{05ff}' => 3,
        '\u{0600}'..='\u{06ff}' => 4,
        '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' => 5,
        '\u{ac00}'..='\u{d7af}' => 6,
        _ => 0_usize,
    });
    let mut counts = [0; 7];
    scripts.for_each(|script| counts[script] += 1);
    (1..7).fold(
        0,
        |best, at| if counts[at] > counts[best] { at } else { best },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_its_words_and_no_others() {
        const LIST: WordList = WordList::of("tea  früher über половина x");
        for word in ["tea", "früher", "über", "половина", "x"] {
            assert!(LIST.has(word), "{word}");
        }
        for word in ["", " ", "te", "teas", "tea  früher", "uber", "y", "tee"] {
            assert!(!LIST.has(word), "{word}");
        }
        assert!(!WordList::of("").has(""));
    }

    fn words(text: &str) -> impl Iterator<Item = &str> + Clone {
        text.split_whitespace()
    }

    #[test]
    fn the_language_is_that_of_most_function_words() {
        for (text, word, says_nothing) in [
            ("was kostet das ticket", "was", true),
            ("who is on call", "who", true),
            ("quand est-ce que le train part", "le", true),
            ("is die hard on tonight", "die", false),
            ("ticket", "die", false),
            ("где ключ от сейфа", "где", true),
            ("gdzie są klucze", "gdzie", true),
            ("litres per hour", "per", false),
            ("wann sitzung", "wann", true),
            ("トイレ どこ", "どこ", true),
            ("会议 什么 时候", "什么", true),
            ("회의 언제", "언제", true),
        ] {
            let guess = Guess::of(words(text));
            assert_eq!(guess.is_stop_word(word), says_nothing, "{text}: {word}");
        }
    }

    #[test]
    fn politeness_says_nothing() {
        for polite in [
            "thanks",
            "good morning muninn",
            "haha ok good night",
            "morning muninn",
            "jajaja buenas noches",
            "dziękuję ci",
            "谢谢",
            "あり りが がと とう",
        ] {
            assert!(are_polite(words(polite)), "{polite}");
        }
        for other in [
            "no nuts in anything",
            "ok deploy the gateway",
            "good wine",
            "muninn",
            "",
        ] {
            assert!(!are_polite(words(other)), "{other}");
        }
    }
}
