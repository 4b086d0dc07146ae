//! The page with the sources of an answer: a picture, and a table with the same data.

use axum::Json;
use axum::extract::Query;
use axum::response::{IntoResponse as _, Response};
use minijinja::{Value, context};
use serde::Deserialize;

use super::conversations::{address, address_of, address_of_why, response_id, shown_turn};
use super::picture::{Drawing, DrawnLink, DrawnThing, Note, PictureNode, things};
use super::templates::language_of;
use super::visitor::{PageProblem, Visitor, problem};
use crate::graph::browsing::AnswerCost;
use crate::graph::{Explanation, ResponseId};
use crate::retrieval::scores::shown_score;

#[derive(Debug, Deserialize)]
pub(super) struct WhichAnswer {
    #[serde(default)]
    conversation: String,
    #[serde(default)]
    answer: String,
}

impl WhichAnswer {
    async fn explained(&self, visitor: &Visitor) -> Result<Explanation, PageProblem> {
        let listed = visitor.conversation(&self.conversation).await?;
        let answer = response_id(&self.answer)?;
        let store = &visitor.web.data.store;
        let explained = store.explain(&listed.id, Some(answer)).await?;
        let mut explained = explained.ok_or(PageProblem::Missing)?;
        let recalled = explained.recalled.iter().map(|(_, turn)| turn.id);
        let recalled: Vec<ResponseId> = recalled.collect();
        let audiences = store.audiences_of(&recalled).await?;
        // A private answer may be based on something that they may not read any more.
        if audiences.values().any(|it| *it != listed.audience) {
            let readable = visitor.readable().await?;
            explained.recalled.retain(|(_, turn)| {
                let audience = audiences.get(&turn.id);
                audience.is_some_and(|audience| readable.has(audience))
            });
        }
        Ok(explained)
    }
}

pub(super) async fn why(visitor: Visitor, Query(which): Query<WhichAnswer>) -> Response {
    let shown = provenance(&visitor, &which).await;
    visitor.render_page("why.html", shown)
}

async fn provenance(visitor: &Visitor, which: &WhichAnswer) -> Result<Value, PageProblem> {
    let explained = which.explained(visitor).await?;
    visitor.looks_into(&which.conversation).await;
    let turn = &explained.turn;
    let worth = AnswerCost {
        answer: turn.id,
        cost_micros: explained.trace.cost_micros(),
        votes: explained.votes,
    };
    let step = |id: ResponseId| address_of_why(&which.conversation, &id.to_string());
    let neighbours = visitor.web.data.store.neighbours(turn.id).await?;
    let calls: Vec<Value> = explained
        .trace
        .calls
        .iter()
        .map(|call| {
            let seconds = format!("{:.1}", f64::from(call.ms) / 1_000.0);
            context! { step => call.step.name(), read => call.prompt, written => call.completion, seconds }
        })
        .collect();
    let rows: Vec<Value> = things(&explained).iter().skip(1).map(row).collect();
    let fields = [
        ("conversation", &*which.conversation),
        ("answer", &*which.answer),
    ];
    Ok(context! {
        turn => shown_turn(turn, Some(&worth)), rows, calls,
        conversation => address_of(&which.conversation),
        picture => address("/why/picture", fields),
        before => neighbours.before.map(step), after => neighbours.after.map(step),
    })
}

fn row(thing: &PictureNode) -> Value {
    context! {
        address => address_of_thing(thing),
        score => thing.score.map(|score| shown_score(score, 2)),
        kind => thing.kind.name(), how => thing.how.name(), note => thing.note.map(Note::name),
        text => thing.text, link => thing.link, at => thing.turn.as_ref().map(|turn| turn.at.to_rfc3339()),
    }
}

fn address_of_thing(thing: &PictureNode) -> Option<String> {
    let turn = thing.turn.as_ref()?;
    Some(address_of_why(turn.conversation.as_str(), &turn.answer))
}

pub(super) async fn why_picture(visitor: Visitor, Query(which): Query<WhichAnswer>) -> Response {
    let explained = match which.explained(&visitor).await {
        Ok(explained) => explained,
        Err(why) => return problem(&visitor.web, &visitor.headers, why),
    };
    let language = language_of(&visitor.headers);
    let said = |name: &str| visitor.web.templates.text(language, name);
    let all = things(&explained);
    let drawn = all.iter().map(|thing| DrawnThing {
        kind: thing.kind.name(),
        kind_said: said(thing.kind.name()),
        label: thing.label.clone(),
        text: thing.text.clone(),
        address: address_of_thing(thing),
    });
    let links = all.iter().enumerate().filter_map(|(at, thing)| {
        Some(DrawnLink {
            from: at,
            to: thing.of?,
            said: thing.score.map(|score| shown_score(score, 2)),
        })
    });
    let picture = Drawing {
        layout: "around",
        things: drawn.collect(),
        links: links.collect(),
    };
    Json(picture).into_response()
}
