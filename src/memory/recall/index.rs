//! The index of an audience's exchanges, laid out for one linear scan.
//!
//! It holds exchanges in the order of their positions, with their vectors, words and chain links. It
//! knows nothing of probabilities; these are in [`super::rank`].

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, Utc};

use super::talk_relation::TalkRelation;
use crate::graph::{Embedding, ResponseId, Source, Trust, Turn, without_file_notes};
use crate::memory::hints::contents::Contents;
use crate::memory::hints::people::AudiencePeople;
use crate::memory::hints::revision::{Pair, Statement};
use crate::retrieval::postings::Postings;
use crate::retrieval::rarity::rarity;
use crate::retrieval::speech::{speech_act, states_something};
use crate::retrieval::text::{bounded, date_words, lowercase_words};
use crate::retrieval::vectors::{Quantised, Vectors};

/// Maximum characters kept of a question and of an answer; longer texts are cut with an ellipsis.
pub const MAX_KEPT_CHARS: usize = 8_192;

/// Maximum characters kept of a name or an ID.
const MAX_NAME_CHARS: usize = 256;
/// An answer with fewer words of its own does not count as an answer.
const MIN_ANSWER_WORDS: usize = 6;
/// Weight of the vector of the message that a short message continues, relative to its own.
const CONTEXT: f32 = 0.65;
/// An answer of more bytes always has enough words of its own.
const LONG_ANSWER_BYTES: usize = 400;

/// One exchange.
#[derive(Debug)]
pub(in crate::memory) struct IndexedExchange {
    pub(in crate::memory) id: ResponseId,
    pub(in crate::memory) position: i64,
    pub(in crate::memory) at: DateTime<Utc>,
    pub(in crate::memory) session: Arc<str>,
    /// The author's name.
    pub(in crate::memory) author: Arc<str>,
    /// The author's stable ID: two people may have one name, and one person several.
    pub(in crate::memory) account: Arc<str>,
    /// It is a question, and the answer adds nothing.
    pub(in crate::memory) asks: bool,
    /// The input states something.
    states: bool,
    /// It is a heard message.
    pub(in crate::memory) is_message: bool,
    /// It is a note.
    pub(in crate::memory) is_note: bool,
    pub(in crate::memory) trust: Trust,
    /// Question and answer in one allocation.
    text: Box<str>,
    /// Start of the answer in the text.
    answer: u32,
    /// The kinds of answers in it, once they were asked for.
    contents: OnceLock<Contents>,
}

/// An exchange's neighbours on its session's chain. Stored separately from the exchanges, so that
/// walking along chains stays within the CPU cache.
#[derive(Clone, Copy, Debug)]
struct ChainLinks {
    previous: u32,
    next: u32,
}

/// The end of a chain.
pub(in crate::memory) const NO_ONE: u32 = u32::MAX;

pub(in crate::memory) fn someone(number: u32) -> Option<usize> {
    (number != NO_ONE).then_some(number as usize)
}

impl IndexedExchange {
    pub(in crate::memory) fn input(&self) -> &str {
        &self.text[..self.answer as usize]
    }

    /// The input without the notes about files.
    pub(in crate::memory) fn said(&self) -> &str {
        without_file_notes(self.input())
    }

    pub(in crate::memory) fn output(&self) -> &str {
        &self.text[self.answer as usize..]
    }

    /// Its approximate tokens in a prompt: a quarter of its bytes.
    pub(in crate::memory) fn tokens(&self) -> usize {
        self.text.len().div_ceil(4).max(1)
    }
}

/// All exchanges of one audience that can be recalled.
///
/// It is append-only. When something is forgotten, its epoch ends and it is loaded again.
#[derive(Debug)]
pub struct AudienceIndex {
    embedder: Option<Box<str>>,
    epoch: i64,
    position: i64,
    entries: Vec<IndexedExchange>,
    links: Vec<ChainLinks>,
    /// What each exchange continues.
    places: Vec<TalkRelation>,
    /// Exchanges by the hashes of their events.
    events: HashMap<u64, u32>,
    vectors: Vectors,
    postings: Postings,
    /// The last exchange of each session.
    ends: HashMap<Arc<str>, u32>,
    names: HashMap<Box<str>, Arc<str>>,
    /// Number of exchanges per author.
    authors: HashMap<Arc<str>, u32>,
    people: AudiencePeople,
    foreign: usize,
    /// Earlier exchanges and what replaces them.
    replaced: HashMap<ResponseId, ResponseId>,
    /// Those of them that somebody corrected, and when.
    corrected: HashMap<ResponseId, DateTime<Utc>>,
}

impl AudienceIndex {
    /// Creates an empty index for the epoch in which its turns are read.
    ///
    /// `embedder` names the embedder whose vectors are compared, and their dimension. An exchange
    /// with any other vector is found by its words only.
    pub fn new(embedder: Option<(&str, usize)>, epoch: i64) -> Self {
        Self {
            embedder: embedder.map(|(name, _)| name.into()),
            epoch,
            position: 0,
            entries: Vec::new(),
            links: Vec::new(),
            places: Vec::new(),
            events: HashMap::new(),
            vectors: Vectors::new(embedder.map_or(0, |(_, dimension)| dimension)),
            postings: Postings::default(),
            ends: HashMap::new(),
            names: HashMap::new(),
            authors: HashMap::new(),
            people: AudiencePeople::default(),
            foreign: 0,
            replaced: HashMap::new(),
            corrected: HashMap::new(),
        }
    }

    /// Adds the audience's next turn. A turn that it has seen already is ignored, so turns may be
    /// added twice. Volatile turns, and questions that memory alone answered, count as seen and are
    /// never recalled.
    pub fn push(&mut self, turn: &Turn) {
        if turn.position <= self.position {
            return;
        }
        self.position = turn.position;
        if !turn.can_be_recalled() {
            return;
        }
        let goes_on_with = self.goes_on_with(turn);
        let place = TalkRelation {
            goes_on_with: goes_on_with.map_or(NO_ONE, |number| number as u32),
            is_short: goes_on_with.is_some() && self.says_little(turn.said()),
        };
        self.push_vector(turn, place);
        self.push_words(turn, place);
        self.push_entry(turn);
        self.places.push(place);
    }

    fn push_vector(&mut self, turn: &Turn, place: TalkRelation) {
        let row = turn.embedding.as_ref().and_then(|embedding| {
            let row = self.row(embedding);
            self.foreign += usize::from(row.is_none());
            row
        });
        let row = row.map(|row| self.blend_with_context(row, place));
        self.vectors.push(row.as_ref());
    }

    /// The vector of a short message, moved towards that of the message that it continues.
    fn blend_with_context(&self, row: Quantised, place: TalkRelation) -> Quantised {
        let Some(before) = self.read_with(place).next() else {
            return row;
        };
        let Some(context) = self.vectors.get(before) else {
            return row;
        };
        let own = row.values.iter().map(|&x| f32::from(x) * row.scale);
        let its = context.values.iter().map(|&x| f32::from(x) * context.scale);
        let sum: Vec<f32> = own.zip(its).map(|(own, its)| own + CONTEXT * its).collect();
        Quantised::new(&sum).unwrap_or(row)
    }

    /// The quantised vector; `None` if it is from another embedder.
    fn row(&self, embedding: &Embedding) -> Option<Quantised> {
        let ours = self.embedder() == Some(&*embedding.embedder)
            && self.vectors.dimension() == embedding.vector.len();
        ours.then(|| Quantised::new(&embedding.vector)).flatten()
    }

    fn push_words(&mut self, turn: &Turn, place: TalkRelation) {
        let date = date_words(turn.created_at);
        let context: Vec<String> = self
            .read_with(place)
            .map(|before| self.entry(before).said().to_owned())
            .collect();
        let tags = [turn.author_name.as_str()].into_iter();
        let tags = tags.chain(context.iter().map(String::as_str));
        let tags = tags.chain(turn.rephrased_question.as_deref());
        // A turn is found by the names of its files, too.
        let tags = tags.chain(turn.file_names());
        self.postings.push(
            [turn.said(), answer(turn)],
            tags.chain(date.iter().map(String::as_str)),
        );
    }

    fn push_entry(&mut self, turn: &Turn) {
        let number = self.entries.len() as u32;
        let session = self.name(&turn.session);
        let previous = self.ends.insert(session.clone(), number);
        if let Some(previous) = previous {
            self.links[previous as usize].next = number;
        }
        self.links.push(ChainLinks {
            previous: previous.unwrap_or(NO_ONE),
            next: NO_ONE,
        });
        let mut text = kept(&turn.input);
        let answer_begins = text.len() as u32;
        text.push_str(&kept(answer(turn)));
        let author = self.name(&turn.author_name);
        let account = self.name(&turn.author);
        *self.authors.entry(author.clone()).or_default() += 1;
        self.events.insert(hashed(&turn.event), number);
        self.people.push(&turn.author, &author);
        // Computed once here, as it is read whenever the exchange is recalled.
        let act = speech_act(turn.said());
        self.entries.push(IndexedExchange {
            id: turn.id,
            position: turn.position,
            at: turn.created_at,
            session,
            author,
            account,
            is_message: turn.is_message(),
            is_note: turn.is_note(),
            trust: turn.trust,
            asks: act.asks && !act.states && says_little(turn.said(), answer(turn)),
            states: act.states,
            text: text.into_boxed_str(),
            answer: answer_begins,
            contents: OnceLock::new(),
        });
    }

    /// A shared copy of a name or ID, however many exchanges have it.
    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let shared: Arc<str> = bounded(name, MAX_NAME_CHARS).into();
        self.names.insert(name.into(), shared.clone());
        shared
    }

    /// Number of exchanges that can be recalled.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Position of the last turn that it has seen; zero before the first.
    pub fn position(&self) -> i64 {
        self.position
    }

    /// Marks everything up to `position` as seen: it is in the index, or was forgotten.
    pub(in crate::memory) fn skip_to(&mut self, position: i64) {
        self.position = self.position.max(position);
    }

    /// The embedder whose vectors are compared.
    pub fn embedder(&self) -> Option<&str> {
        self.embedder.as_deref()
    }

    /// The epoch its turns belong to: see [`crate::graph::AudienceChanges`].
    pub fn epoch(&self) -> i64 {
        self.epoch
    }

    /// Number of exchanges whose vector is from another embedder or invalid; `muninn reembed` fixes
    /// these.
    pub fn foreign_vectors(&self) -> usize {
        self.foreign
    }

    /// Bytes on the heap, computed from capacities, without the allocator's overhead.
    pub fn heap_bytes(&self) -> usize {
        let texts: usize = self.entries.iter().map(|entry| entry.text.len()).sum();
        texts
            + self.entries.capacity() * size_of::<IndexedExchange>()
            + self.links.capacity() * size_of::<ChainLinks>()
            + self.places.capacity() * size_of::<TalkRelation>()
            + self.events.capacity() * (size_of::<(u64, u32)>() + 1)
            + self.vectors.heap_bytes()
            + self.postings.heap_bytes()
    }

    pub(in crate::memory) fn entry(&self, number: usize) -> &IndexedExchange {
        &self.entries[number]
    }

    /// The kinds of answers that an exchange contains.
    pub(in crate::memory) fn contents(&self, number: usize) -> Contents {
        let entry = self.entry(number);
        let read = || Contents::of([entry.said(), entry.output()]);
        *entry.contents.get_or_init(read)
    }

    /// The authors of the exchanges.
    pub(in crate::memory) fn people(&self) -> &AudiencePeople {
        &self.people
    }

    /// The IDs of the accounts that wrote exchanges under a name, or the one with this ID.
    pub(in crate::memory) fn accounts_named(&self, name: &str) -> BTreeSet<String> {
        let accounts = |is_theirs: &dyn Fn(&IndexedExchange) -> bool| -> BTreeSet<String> {
            let theirs = self.entries.iter().filter(|it| is_theirs(it));
            theirs.map(|it| it.account.to_string()).collect()
        };
        let with_id = accounts(&|it| *it.account == *name);
        if with_id.is_empty() {
            accounts(&|it| *it.author == *name)
        } else {
            with_id
        }
    }

    /// The share of all exchanges that an author wrote.
    pub(in crate::memory) fn share_of(&self, author: &str) -> f32 {
        let own = self.authors.get(author).copied().unwrap_or_default();
        own as f32 / self.entries.len().max(1) as f32
    }

    /// The exchanges before it on its session's chain, nearest first.
    pub(in crate::memory) fn before(&self, number: usize) -> impl Iterator<Item = usize> {
        let step = |&at: &usize| someone(self.links[at].previous);
        std::iter::successors(step(&number), step)
    }

    /// The exchanges after it.
    pub(in crate::memory) fn after(&self, number: usize) -> impl Iterator<Item = usize> {
        let step = |&at: &usize| someone(self.links[at].next);
        std::iter::successors(step(&number), step)
    }

    pub(in crate::memory) fn postings(&self) -> &Postings {
        &self.postings
    }

    pub(in crate::memory) fn vectors(&self) -> &Vectors {
        &self.vectors
    }

    /// Dimension of the vectors; zero if none are compared.
    pub(in crate::memory) fn dimension(&self) -> usize {
        self.vectors.dimension()
    }

    /// The exchange of an event.
    pub(in crate::memory) fn of_event(&self, event: &str) -> Option<usize> {
        self.events
            .get(&hashed(event))
            .map(|&number| number as usize)
    }

    /// The last exchange of a session.
    pub(in crate::memory) fn last_of(&self, session: &str) -> Option<usize> {
        self.ends.get(session).map(|&number| number as usize)
    }

    /// What an exchange continues.
    pub(in crate::memory) fn place(&self, number: usize) -> TalkRelation {
        self.places[number]
    }

    /// The statement of an exchange, for comparison with others.
    pub(in crate::memory) fn statement(&self, number: usize) -> Statement {
        let (entry, postings) = (self.entry(number), &self.postings);
        let rarity = |stem: &str, written: &str| postings.rarity_of_stem(stem, rarity(written));
        let words = postings.words();
        let says = (entry.said(), entry.output());
        let statement = Statement::read(words, says, entry.states, entry.at.date_naive(), rarity);
        let context = self.context(number).map(|before| self.entry(before));
        context.fold(statement, |statement, before| {
            let (said, day) = ((before.said(), ""), before.at.date_naive());
            statement.about(&Statement::read(words, said, before.states, day, rarity))
        })
    }

    /// The same for a turn that is not in the index yet.
    pub(in crate::memory) fn statement_of(&self, turn: &Turn) -> Statement {
        let postings = &self.postings;
        let rarity = |stem: &str, written: &str| postings.rarity_of_stem(stem, rarity(written));
        let says = (turn.said(), answer(turn));
        let statement = Statement::read(
            postings.words(),
            says,
            states_something(turn.said()),
            turn.created_at.date_naive(),
            rarity,
        );
        match self.goes_on_with(turn) {
            Some(before) if self.says_little(turn.said()) => {
                statement.about(&self.statement(before))
            }
            Some(_) | None => statement,
        }
    }

    /// Pairs a turn that is not in the index yet with an earlier exchange.
    pub(in crate::memory) fn pair_of<'a>(
        &self,
        turn: &Turn,
        says: &'a Statement,
        earlier: usize,
        said: &'a Statement,
    ) -> Pair<'a> {
        let vector = turn
            .embedding
            .as_ref()
            .and_then(|embedding| self.row(embedding));
        Pair {
            later: says,
            earlier: said,
            cosine: vector.and_then(|vector| self.vectors.cosine(earlier, &vector)),
            same_author: bounded(&turn.author, MAX_NAME_CHARS) == &*self.entry(earlier).account,
            same_talk: self
                .goes_on_with(turn)
                .is_some_and(|before| self.are_of_one_talk(before, earlier)),
            is_linked: false,
        }
    }

    /// Records that an exchange is replaced by a later one, whether they are in the index or not.
    pub fn link(&mut self, later: ResponseId, earlier: ResponseId) {
        if !self.corrected.contains_key(&earlier) {
            self.replaced.insert(earlier, later);
        }
    }

    /// Records that somebody corrected an exchange.
    pub(in crate::memory) fn correct(
        &mut self,
        later: ResponseId,
        earlier: ResponseId,
        at: DateTime<Utc>,
    ) {
        self.corrected.insert(earlier, at);
        self.replaced.insert(earlier, later);
    }

    /// When somebody corrected an exchange.
    pub(in crate::memory) fn corrected_at(&self, earlier: ResponseId) -> Option<DateTime<Utc>> {
        self.corrected.get(&earlier).copied()
    }

    /// The exchange that replaces this one, as decided when that was kept.
    pub(in crate::memory) fn replaced_by(&self, earlier: ResponseId) -> Option<ResponseId> {
        self.replaced.get(&earlier).copied()
    }

    /// Pairs a later exchange with an earlier one.
    pub(in crate::memory) fn pair<'a>(
        &self,
        (later, says): (usize, &'a Statement),
        (earlier, said): (usize, &'a Statement),
    ) -> Pair<'a> {
        let vector = self.vectors.get(later);
        Pair {
            later: says,
            earlier: said,
            cosine: vector.and_then(|vector| self.vectors.cosine(earlier, &vector)),
            same_author: self.entry(later).account == self.entry(earlier).account,
            same_talk: self.are_of_one_talk(later, earlier),
            is_linked: self.replaced_by(self.entry(earlier).id) == Some(self.entry(later).id),
        }
    }

    /// The cosine of every exchange with the query; NaN if an exchange has no vector.
    pub(in crate::memory) fn cosines(&self, query: &Quantised) -> Vec<f32> {
        self.vectors.cosines(0..self.entries.len(), query)
    }
}

/// A hash of an event's ID that is long enough to tell events apart.
fn hashed(event: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    event.hash(&mut hasher);
    hasher.finish()
}

/// The answer, if it is an original one: quotes from memory are not indexed twice.
fn answer(turn: &Turn) -> &str {
    match turn.source {
        Source::Model | Source::Knowledge | Source::Retrieval => &turn.output,
        Source::Memory | Source::Message | Source::Note => "",
    }
}

/// Whether an answer has hardly any word that is not in the question.
fn says_little(question: &str, answer: &str) -> bool {
    if answer.len() > LONG_ANSWER_BYTES {
        return false;
    }
    let asked = lowercase_words(question);
    let new = lowercase_words(answer)
        .into_iter()
        .filter(|word| !asked.contains(word));
    new.take(MIN_ANSWER_WORDS).count() < MIN_ANSWER_WORDS
}

fn kept(text: &str) -> String {
    let short = bounded(text, MAX_KEPT_CHARS);
    let mut kept = short.to_owned();
    if short.len() < text.len() {
        kept.push('…');
    }
    kept
}
