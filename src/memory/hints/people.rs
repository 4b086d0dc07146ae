//! Finds people by what they are called: names, handles and nicknames.
//!
//! It knows nothing of exchanges or scores.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use crate::retrieval::language::{Guess, is_function_word};
use crate::retrieval::rarity::rarity;
use crate::retrieval::text::{WordStemmer, lowercase_words};

/// Names that stand for one another, one group per line.
const NICKNAMES: &str = "\
alexander alexandra aleksander aleksandra alejandro alejandra alessandro alessandra alex sandra sandro sascha sasha ola olek саша александр
andrew andreas andrea andré andrzej andy andi drea jędrek
anthony antonio anton antoine antoni tony toni toño
barbara barb basia babs
benjamin ben benny
bernard bernhard bernardo bernie bert
catherine katherine katharina katarzyna caterina ekaterina kate katie kathy cathy kasia katya katja käthe kati катя екатерина
charles carlos karl carlo karol charlie
christian christina christine christopher cristina krzysztof chris christa krzysiek tina topher
daniel daniela daniele dan danny dani
david davide dave davy
dmitri dmitry dima дима дмитрий
dolores lola loli
dorothy dorothea dorota dotty doris
edward eduard eduardo edoardo ed eddie ted teddy ned edu
elizabeth elisabeth elżbieta elisabetta isabel liz lizzie beth betty eliza lisa lise elsa ela sissi isa
emmanuel manuel manuela emanuele manu manolo
ferdinand fernando fernanda ferdi nando
francis francisco francesco francesca franziska frances franz françois fran frank paco pancho pepa franzi cisco kiko chico
frederick friedrich federico fryderyk fred freddy fritz
gabriel gabriela gabriele gabi gaby
george georg giorgio jorge jerzy georgie schorsch jurek
gerald gerard gerhard gerry gerd
gregory gregor grzegorz greg grzesiek
harold harry hal
henry heinrich enrico enrique henri henryk harry hank heinz quique rico
ignacio ignaz ignacy nacho
ivan ioann vanya ваня иван
jacob jakob james giacomo jaime jakub jim jimmy jake jamie kuba
jane janina janet joanna johanna giovanna jean jan asia hanna jo
jennifer jen jenny
jessica jess jessie
john johannes juan giovanni jan johann jean jack johnny hans hannes
jonathan nathan jon jonny nat
joseph josef josé giuseppe józef joe joey sepp pepe beppe pino jupp
joshua josh
julia juliana julian giulia julie jules
kenneth ken kenny
laura laurent lorenzo laurence lawrence larry laurie
leonard leonardo leonhard leo len lenny
ludwig louis luis luigi ludwik lou lutz gigi
magdalena madeleine magda lena maggie lenka
margaret margarete margherita małgorzata maggie meg peggy greta gosia grete rita daisy
maria marie mary mariya mia mimi mary marysia maja mitzi mascha masha маша мария
martin martina martino marcin marty tina
matthew matthias matteo mateusz mathieu matt mat matze teo
maximilian massimo maxime maxim max
michael michaela michel michele miguel michał mikhail mike mick mickey michi misha micky миша михаил
natalie natalia natascha nat natasha наташа наталья
nicholas nikolaus nicolas nicola nikolai nick nico niko klaus claus коля николай
patrick patricia patrizia patryk pat patty paddy trish
paul paula paolo paola pablo pavel paweł paulina
peter pietro pedro pierre piotr pete piotrek
philip filippo felipe philippe filip phil pip pippo
raphael rafael raffaele rafał rafa rafi
rebecca becky becca
richard riccardo ricardo ryszard rick dick richie ricky rysiek
robert roberto roberta bob bobby rob robbie bert robi
ronald ronaldo ron ronnie
samuel samuele samantha sam sammy
sebastian sebastiano bastian basti seb seba
sergey sergei sergio serge серёжа сергей
sophia sophie zofia sofia zosia sofi
stephen steven stefan stefano esteban stéphane stefanie stefania steve steph steffi steffen
susan susanne susanna zuzanna sue suzy susi zuza
theodore theodor teodoro ted theo teddy
theresa teresa therese tess tessa terry resi
thomas tomás tomasz tommaso tom tommy tomek
timothy timo tim timmy
ulrich ulrike uli ulli ulla
veronica veronika weronika vera ronnie vroni
victor viktor vittorio wiktor vic
victoria viktoria vittoria wiktoria vicky vicki tori
vincent vincenzo vicente vince vinny enzo
vladimir wladimir vova volodya володя владимир
walter gualtiero walt wally
william wilhelm guillermo guglielmo guillaume will billy willy liam willi
xavier javier saverio xavi javi
";

/// Minimum number of first letters that stand for a name.
const SHORTENED: usize = 3;
/// A word that is more frequent in English talk is no short form: "will" is not William.
const LEAST_RARITY: f32 = 6.5;

static GROUPS: LazyLock<HashMap<&'static str, Vec<usize>>> = LazyLock::new(|| {
    let mut groups: HashMap<&'static str, Vec<usize>> = HashMap::new();
    for (group, names) in NICKNAMES.lines().enumerate() {
        for name in names.split_whitespace() {
            groups.entry(name).or_default().push(group);
        }
    }
    groups
});

/// The people of an audience.
#[derive(Debug, Default)]
pub(in crate::memory) struct AudiencePeople {
    /// By stable ID: the names under which the person's messages are kept.
    known: HashMap<Box<str>, Vec<Arc<str>>>,
    /// By a word of a name or handle: the IDs of the people who have it.
    called: HashMap<String, Vec<Box<str>>>,
}

impl AudiencePeople {
    /// Adds a name under which somebody said something.
    pub(in crate::memory) fn push(&mut self, id: &str, name: &Arc<str>) {
        let names = match self.known.get_mut(id) {
            Some(names) => names,
            None => self.known.entry(id.into()).or_default(),
        };
        if names.contains(name) {
            return;
        }
        names.push(name.clone());
        for word in lowercase_words(name)
            .into_iter()
            .chain(lowercase_words(handle(id)))
        {
            let bearers = self.called.entry(word).or_default();
            if !bearers.iter().any(|it| **it == *id) {
                bearers.push(id.into());
            }
        }
    }

    /// The names of the people whom words mean, in the language that they tell: by their names or, if nobody has a word
    /// as a name, by nicknames and first letters. "Maria Weber" is not another Maria.
    pub(in crate::memory) fn meant(
        &self,
        words: &[String],
        told: Option<Guess>,
    ) -> HashSet<Arc<str>> {
        let mut named: HashMap<&str, HashSet<&str>> = HashMap::new();
        for word in words.iter().filter(|word| word.chars().count() > 1) {
            let bearers = match self.called.get(word) {
                Some(bearers) => self.bearers(bearers, word, told.unwrap_or_default()),
                None => self.nicknamed(word, told),
            };
            for id in bearers {
                named.entry(id).or_default().insert(word);
            }
        }
        let is_other = |words: &HashSet<&str>| {
            let mut others = named.values();
            others.any(|more| more.len() > words.len() && words.is_subset(more))
        };
        let meant = named.iter().filter(|(_, words)| !is_other(words));
        let names = meant.filter_map(|(id, _)| self.known.get(*id));
        names.flatten().cloned().collect()
    }

    /// Those who bear a word as a name. A function word is a name only if one begins with it: Will Hay is called "will",
    /// but Maria de Vries is not called "de".
    fn bearers<'a>(&'a self, ids: &'a [Box<str>], word: &str, guess: Guess) -> Vec<&'a str> {
        let begins = |name: &Arc<str>| lowercase_words(name).first().is_some_and(|it| it == word);
        let is_called = |id: &&str| {
            let names = self.known.get(*id);
            !guess.is_stop_word(word) || names.is_some_and(|names| names.iter().any(begins))
        };
        let bearers = ids.iter().map(|id| &**id);
        bearers.filter(is_called).collect()
    }

    fn nicknamed(&self, word: &str, told: Option<Guess>) -> Vec<&str> {
        let is_common = told.is_some_and(|guess| guess.is_stop_word(word))
            || WordStemmer::is_english_stop_word(word)
            || rarity(word) < LEAST_RARITY;
        let groups = GROUPS.get(word);
        if is_common {
            return Vec::new();
        }
        let stands_for = |name: &str| match (groups, GROUPS.get(name)) {
            (Some(one), Some(other)) => one.iter().any(|group| other.contains(group)),
            (Some(_) | None, _) => false,
        };
        let is_long = word.chars().count() >= SHORTENED;
        // Where nothing tells the language, it may be any: "pas encore?" is not about Pascal.
        let says_nothing = told.is_none() && is_function_word(word);
        let begins = |name: &str| is_long && !says_nothing && name.starts_with(word);
        let bearers = self
            .called
            .iter()
            .filter(|(name, _)| stands_for(name) || begins(name));
        bearers.flat_map(|(_, ids)| ids).map(|id| &**id).collect()
    }
}

/// The handle with which somebody is mentioned, if the ID contains it: `mkowalski` of
/// `@mkowalski:example.org`.
fn handle(id: &str) -> &str {
    id.strip_prefix('@')
        .map_or("", |id| id.split_once(':').map_or(id, |(handle, _)| handle))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(people: &[(&str, &str)], question: &str) -> Vec<String> {
        let mut known = AudiencePeople::default();
        for (id, name) in people {
            known.push(id, &(*name).into());
        }
        let words = lowercase_words(question);
        let mut names: Vec<String> = known
            .meant(&words, Guess::told(words.iter().map(String::as_str)))
            .iter()
            .map(|it| it.to_string())
            .collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn people_are_known_by_names_handles_and_nicknames() {
        let people = [
            ("@mkowalski:example.org", "Maria Kowalska"),
            ("U2", "Thomas Weber"),
            ("U3", "Bartholomew Finch"),
            ("U4", "William Hay"),
            ("U5", "Robert"),
        ];
        for (question, expected) in [
            ("what did maria promise?", vec!["Maria Kowalska"]),
            ("what did @mkowalski promise?", vec!["Maria Kowalska"]),
            ("what did Mia say?", vec!["Maria Kowalska"]),
            ("what does Kowalska want", vec!["Maria Kowalska"]),
            ("did tom call", vec!["Thomas Weber"]),
            ("bart's ladder?", vec!["Bartholomew Finch"]),
            ("who will come", vec![]),
            ("ask bob and willy", vec!["Robert", "William Hay"]),
            ("how far is it", vec![]),
        ] {
            assert_eq!(meant(&people, question), expected, "{question}");
        }
    }

    #[test]
    fn function_words_of_the_questions_language_name_nobody() {
        let people = [
            ("U1", "Werner Hay"),
            ("U2", "Dieter Fox"),
            ("U3", "Dennis Ott"),
            ("U4", "Hatice Ak"),
            ("U5", "Jakub Nowak"),
            ("U6", "Quentin Roy"),
            ("U7", "Pascal Petit"),
            ("U8", "Maria de Vries"),
            ("U9", "Will Young"),
        ];
        for (question, expected) in [
            ("wer hat den schlüssel", vec![]),
            ("die rechnung, wo ist die", vec![]),
            ("jak się to robi", vec![]),
            ("que faire demain", vec![]),
            ("pourquoi pas demain", vec![]),
            ("pas encore?", vec![]),
            ("où est la clé de la cave", vec![]),
            ("wer hat mit werner geredet", vec!["Werner Hay"]),
            ("wann kommt dieter", vec!["Dieter Fox"]),
            ("what did will say", vec!["Will Young"]),
        ] {
            assert_eq!(meant(&people, question), expected, "{question}");
        }
    }

    #[test]
    fn a_full_name_means_nobody_with_a_part_of_it() {
        let people = [
            ("U1", "Maria Weber"),
            ("U2", "Maria Kowalska"),
            ("U3", "Thomas Weber"),
        ];
        for (question, expected) in [
            ("what did Maria Weber say", vec!["Maria Weber"]),
            (
                "what did Maria Weber tell Kowalska",
                vec!["Maria Kowalska", "Maria Weber"],
            ),
            (
                "what did Maria promise",
                vec!["Maria Kowalska", "Maria Weber"],
            ),
            (
                "did Maria Kowalska call Tom",
                vec!["Maria Kowalska", "Thomas Weber"],
            ),
        ] {
            assert_eq!(meant(&people, question), expected, "{question}");
        }
    }

    #[test]
    fn who_bears_a_name_is_meant_and_not_who_is_nicknamed_so() {
        let people = [("U1", "Mia"), ("U2", "Maria")];
        assert_eq!(meant(&people, "what did mia say"), ["Mia"]);
    }

    #[test]
    fn who_changed_their_name_is_known_by_both() {
        let people = [("U1", "Jo Fischer"), ("U1", "Jo Vogel"), ("U2", "Ann")];
        assert_eq!(
            meant(&people, "what did fischer say"),
            ["Jo Fischer", "Jo Vogel"]
        );
    }
}
