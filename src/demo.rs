//! A graph to try things on: the well-known movies, with who played in them and who made them.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

use crate::graph::knowledge::{KnowledgeLink, KnowledgeLinks, KnowledgeNodes};
use crate::graph::{GraphStore, StoreError};

/// The facts of Neo4j's Movies example, and two films about robots. Plots are in our own words; `ageRating` is
/// the American one, `stars` (of 5) what audiences give, rounded.
const MOVIES: &str = include_str!("../demo/movies.json");

/// Contracts, made up, as a table for the mapping `contracts`.
pub const CONTRACTS: &str = include_str!("../demo/contracts.csv");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Movies {
    movies: Vec<Movie>,
    /// Everybody's year of birth, where it is known.
    born: BTreeMap<String, Option<i64>>,
    follows: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Movie {
    title: String,
    released: i64,
    tagline: Option<String>,
    plot: String,
    #[serde(rename = "ageRating")]
    age_rating: String,
    stars: f64,
    /// The roles by who played them.
    cast: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    directors: Vec<String>,
    #[serde(default)]
    producers: Vec<String>,
    #[serde(default)]
    writers: Vec<String>,
    #[serde(default)]
    reviews: Vec<Review>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Review {
    by: String,
    summary: String,
    rating: i64,
}

/// What was loaded, and what had been there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Nodes that were made now.
    pub nodes: usize,
    /// Relationships that were made now.
    pub relationships: usize,
    /// Nodes and relationships that the demo has.
    pub all: usize,
}

/// Loads the movies into the graph, or what is missing of them: one transaction for each label
/// and type, so what was interrupted is completed by the next call.
///
/// # Errors
/// What the store says.
pub async fn load_movies(store: &GraphStore) -> Result<Loaded, StoreError> {
    let movies = movies()?;
    let mut loaded = Loaded::default();
    for put in nodes(&movies) {
        loaded.all += put.nodes.len();
        loaded.nodes += store.merge_nodes(&put).await?;
    }
    for put in links(&movies) {
        loaded.all += put.links.len();
        loaded.relationships += store.merge_links(&put).await?;
    }
    Ok(loaded)
}

fn movies() -> Result<Movies, StoreError> {
    serde_json::from_str(MOVIES)
        .map_err(|error| StoreError::Unexpected(format!("demo/movies.json: {error}")))
}

/// Properties of a JSON object, without those that are null.
fn properties(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(object) => object
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}

fn nodes(movies: &Movies) -> [KnowledgeNodes; 2] {
    let people = movies
        .born
        .iter()
        .map(|(name, born)| json!({"name": name, "born": born}));
    let films = movies.movies.iter().map(|movie| {
        json!({
            "title": movie.title, "released": movie.released, "tagline": movie.tagline,
            "plot": movie.plot, "ageRating": movie.age_rating, "stars": movie.stars,
        })
    });
    [
        KnowledgeNodes {
            label: "Person".to_owned(),
            key: "name".to_owned(),
            nodes: people.map(properties).collect(),
        },
        KnowledgeNodes {
            label: "Movie".to_owned(),
            key: "title".to_owned(),
            nodes: films.map(properties).collect(),
        },
    ]
}

fn links(movies: &Movies) -> [KnowledgeLinks; 6] {
    let person = || ("Person".to_owned(), "name".to_owned());
    let to_movies = |kind: &str, of: &dyn Fn(&Movie) -> Vec<(String, Value)>| KnowledgeLinks {
        kind: kind.to_owned(),
        from: person(),
        to: ("Movie".to_owned(), "title".to_owned()),
        links: movies
            .movies
            .iter()
            .flat_map(|movie| {
                of(movie)
                    .into_iter()
                    .map(|by| link(by.0, &movie.title, by.1))
            })
            .collect(),
    };
    let names = |names: &[String]| names.iter().map(|name| (name.clone(), json!({}))).collect();
    let follows = movies.follows.iter();
    [
        to_movies("ACTED_IN", &|movie| {
            let cast = movie.cast.iter();
            cast.map(|(name, roles)| (name.clone(), json!({"roles": roles})))
                .collect()
        }),
        to_movies("DIRECTED", &|movie| names(&movie.directors)),
        to_movies("PRODUCED", &|movie| names(&movie.producers)),
        to_movies("WROTE", &|movie| names(&movie.writers)),
        to_movies("REVIEWED", &|movie| {
            let reviews = movie.reviews.iter();
            reviews
                .map(
                    |Review {
                         by,
                         summary,
                         rating,
                     }| {
                        (by.clone(), json!({"summary": summary, "rating": rating}))
                    },
                )
                .collect()
        }),
        KnowledgeLinks {
            kind: "FOLLOWS".to_owned(),
            from: person(),
            to: person(),
            links: follows
                .map(|(from, to)| link(from.clone(), to, json!({})))
                .collect(),
        },
    ]
}

fn link(from: String, to: &str, of: Value) -> KnowledgeLink {
    KnowledgeLink {
        from,
        to: to.to_owned(),
        properties: properties(of),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_is_whole() {
        let movies = movies().unwrap();
        assert_eq!((movies.movies.len(), movies.born.len()), (40, 139));
        let numbers: Vec<(String, usize)> = links(&movies)
            .into_iter()
            .map(|put| (put.kind, put.links.len()))
            .collect();
        let expected = [
            ("ACTED_IN", 176),
            ("DIRECTED", 46),
            ("PRODUCED", 15),
            ("WROTE", 10),
            ("REVIEWED", 9),
            ("FOLLOWS", 3),
        ];
        assert_eq!(numbers, expected.map(|(kind, n)| (kind.to_owned(), n)));
        for link in links(&movies).iter().flat_map(|put| &put.links) {
            assert!(movies.born.contains_key(&link.from), "{}", link.from);
        }
    }
}
