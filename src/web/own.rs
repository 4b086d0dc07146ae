//! The pages with a visitor's own memory: their list of items, with correcting, forgetting and exporting.

use std::fs::File;
use std::io::BufWriter;
use std::time::Duration;

use axum::Form;
use axum::body::Body as ResponseBody;
use axum::extract::Query;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Redirect, Response};
use chrono::{DateTime, Utc};
use futures::StreamExt as _;
use minijinja::{Value, context};
use muninn_platform::{
    Audience, AudienceId, Body, Command, ConversationId, EventId, ForgetWhat, ItemDeed, ShownItem,
};
use private_files::unnamed_file;
use serde::Deserialize;
use tokio_util::io::ReaderStream;
use uuid::Uuid;

use super::access::Viewer;
use super::conversations::{address, address_of_why, response_id};
use super::search::{SearchParameters, recalled};
use super::templates::{PageContent, language_of};
use super::visitor::{PageProblem, Visitor, session};
use crate::conversation::audit::AuditAction;
use crate::conversation::bot_connection::message_from;
use crate::conversation::commands::{ExportInProgress, shown_item};
use crate::conversation::own_copy::{CopyError, CopyForm, OwnCopy, write_copy};
use crate::graph::ResponseId;
use crate::graph::Source;
use crate::graph::accounts::Account;
use crate::graph::browsing::Readable;
use crate::graph::items::{KeptItem, ListedItem, OwnItems};

/// Items per page.
const ITEMS: usize = 20;
/// Longest wait for the result of an action, which continues without the visitor.
const ACTION_TIMEOUT: Duration = Duration::from_secs(60);
/// Longest wait until an export may begin.
const EXPORT_WAIT: Duration = Duration::from_secs(30);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OwnForm {
    /// The words to search for; empty means everything.
    words: String,
    /// Only items that were not said later.
    until: String,
    /// The last item of the previous page.
    last: String,
}

/// What is remembered of the visitor, and what would be recalled for a question.
pub(super) async fn memory(
    visitor: Visitor,
    Query(own): Query<OwnForm>,
    Query(asked): Query<SearchParameters>,
) -> Response {
    let shown = remembered(&visitor, &own, &asked).await;
    visitor.render_page("memory.html", shown)
}

async fn remembered(
    visitor: &Visitor,
    own: &OwnForm,
    asked: &SearchParameters,
) -> Result<Value, PageProblem> {
    let readable = visitor.readable().await?;
    let found = recalled(visitor, &readable, asked).await?;
    let receipt = session(&visitor.headers);
    let receipt = receipt.and_then(|session| visitor.web.access.take_receipt(session));
    let (items, accounts, older) = match (&visitor.viewer, &readable) {
        (Viewer::Person(account), Readable::Audiences(places)) => {
            let others = visitor.web.readable.others(account).await?;
            let accounts: Vec<&Account> = std::iter::once(account).chain(&others).collect();
            let (items, older) = own_items(visitor, &accounts, places, own).await?;
            let accounts: Vec<Value> = accounts.into_iter().map(shown_account).collect();
            (items, accounts, older)
        }
        (Viewer::Operator, _) | (_, Readable::Everything) => (Vec::new(), Vec::new(), None),
    };
    Ok(context! {
        items, accounts, older, receipt, words => own.words, ..found
    })
}

fn shown_account(account: &Account) -> Value {
    context! { name => account.name, platform => account.platform }
}

/// A page of what the accounts of one person said in these places, and the address of the next page.
async fn own_items(
    visitor: &Visitor,
    accounts: &[&Account],
    places: &[AudienceId],
    own: &OwnForm,
) -> Result<(Vec<Value>, Option<String>), PageProblem> {
    let ids: Vec<String> = accounts.iter().map(|it| it.id.clone()).collect();
    let words: Vec<String> = own
        .words
        .split_whitespace()
        .map(str::to_lowercase)
        .collect();
    let until = DateTime::parse_from_rfc3339(&own.until).map(|it| it.to_utc());
    let last = own.last.parse::<Uuid>().map(ResponseId);
    let wanted = OwnItems {
        accounts: &ids,
        audiences: &places.iter().collect::<Vec<_>>(),
        words: &words,
        until: until.ok(),
        listed: &last.into_iter().collect::<Vec<_>>(),
        only_notes: false,
        most: ITEMS + 1,
    };
    let _permit = match words.is_empty() {
        true => None,
        false => Some(visitor.search_permit().await?),
    };
    let mut found = visitor.web.data.store.own_items(&wanted).await?;
    let has_more = found.len() > ITEMS;
    found.truncate(ITEMS);
    let older = found.last().filter(|_| has_more).map(|item| {
        let until = item.turn.created_at.to_rfc3339();
        let last = item.turn.id.to_string();
        let fields = [
            ("words", own.words.as_str()),
            ("until", &until),
            ("last", &last),
        ];
        address("/memory", fields)
    });
    let numbered = found.iter().zip(1..);
    let items = numbered.map(|(item, number)| shown_own(item, number));
    Ok((items.collect(), older))
}

fn shown_own(item: &ListedItem, number: u32) -> Value {
    let ListedItem { turn, corrected_at } = item;
    let kind = match turn.source {
        Source::Note => "own_note",
        Source::Message => "own_message",
        Source::Model | Source::Knowledge | Source::Retrieval | Source::Memory => "own_question",
    };
    let why = || address_of_why(&turn.session, &turn.id.to_string());
    context! {
        token => shown_item(turn, number).token(), number, kind, text => turn.input, answer => turn.output,
        at => turn.created_at.to_rfc3339(), corrected_at => corrected_at.map(|at| at.to_rfc3339()),
        why => turn.is_answered().then(why),
    }
}

/// An action on an item of the list.
#[derive(Debug, Deserialize)]
pub(super) struct ItemForm {
    /// As in the list.
    item: String,
    #[serde(default)]
    text: String,
}

pub(super) async fn forget(visitor: Visitor, Form(form): Form<ItemForm>) -> Response {
    let deed = |item| Command::Shown(item, ItemDeed::Forget);
    let said = with_item(&visitor, &form, deed).await;
    receipt(&visitor, said)
}

pub(super) async fn correct(visitor: Visitor, Form(form): Form<ItemForm>) -> Response {
    let text = form.text.trim().to_owned();
    let deed = |item| Command::Shown(item, ItemDeed::Correct(text));
    let said = with_item(&visitor, &form, deed).await;
    receipt(&visitor, said)
}

/// Turns an item into a note, which is recalled with priority.
pub(super) async fn note(visitor: Visitor, Form(form): Form<ItemForm>) -> Response {
    let said = noted(&visitor, &form).await;
    receipt(&visitor, said)
}

/// A note is recalled for everybody who reads its place. So only the author makes one of an item, with the words that were
/// said there: to read a place is not enough to write in it.
async fn noted(visitor: &Visitor, form: &ItemForm) -> Result<String, PageProblem> {
    let (_, kept) = readable_item(visitor, form).await?;
    if !visitor.accounts().await?.contains(&kept.turn.author) {
        return Err(PageProblem::Missing);
    }
    let said = Command::Note(kept.turn.input.clone());
    acts(visitor, place_of(kept), said).await
}

async fn with_item(
    visitor: &Visitor,
    form: &ItemForm,
    deed: impl FnOnce(ShownItem) -> Command,
) -> Result<String, PageProblem> {
    let (item, kept) = readable_item(visitor, form).await?;
    acts(visitor, place_of(kept), deed(item)).await
}

/// The item of a form. One that the visitor may not read is treated as missing.
async fn readable_item(
    visitor: &Visitor,
    form: &ItemForm,
) -> Result<(ShownItem, KeptItem), PageProblem> {
    let item = ShownItem::parse(&form.item).ok_or(PageProblem::Missing)?;
    let kept = visitor.web.data.store.item(response_id(&item.id)?).await?;
    let kept = kept.ok_or(PageProblem::Missing)?;
    // In chat they would have to be a member, too.
    match visitor.may_read(&kept.audience.id).await? {
        true => Ok((item, kept)),
        false => Err(PageProblem::Missing),
    }
}

/// A note is kept beside the item that it is made from.
fn place_of(kept: KeptItem) -> (ConversationId, Audience) {
    (ConversationId::new(kept.turn.session), kept.audience)
}

async fn acts(
    visitor: &Visitor,
    place: (ConversationId, Audience),
    command: Command,
) -> Result<String, PageProblem> {
    let account = person(visitor)?;
    let event = EventId::new(format!("web/{}", Uuid::now_v7()));
    let message = message_from(account, event, place, Body::Command(command));
    let said = visitor
        .web
        .bot_connection
        .send_and_wait(message, ACTION_TIMEOUT)
        .await?;
    Ok(said.into_text())
}

fn person(visitor: &Visitor) -> Result<&Account, PageProblem> {
    match &visitor.viewer {
        Viewer::Person(account) => Ok(account),
        Viewer::Operator => Err(PageProblem::Missing),
    }
}

/// Shows the list with the result of an action above it.
fn receipt(visitor: &Visitor, said: Result<String, PageProblem>) -> Response {
    let said = match said {
        Ok(said) => said,
        Err(why) => return visitor.render_page("memory.html", Err(why)),
    };
    if let Some(session) = session(&visitor.headers) {
        visitor.web.access.keep_receipt(session, said);
    }
    Redirect::to("/memory").into_response()
}

/// The private place for a person's actions on the pages.
fn page_of(account: &Account) -> (ConversationId, Audience) {
    let id = format!("web/{}", account.id);
    let audience = Audience {
        id: AudienceId::new(&id),
        platform: account.platform.clone(),
        workspace: String::new(),
        name: "web".to_owned(),
        private_to: Some(account.id.clone()),
    };
    (ConversationId::new(id), audience)
}

#[derive(Debug, Deserialize)]
pub(super) struct SureForm {
    #[serde(default)]
    sure: String,
}

/// Forgets everything of the visitor, which also signs them out.
pub(super) async fn forget_me(visitor: Visitor, Form(form): Form<SureForm>) -> Response {
    let is_confirmed = form.sure == "yes";
    let command = Command::Forget(ForgetWhat::Me { is_confirmed });
    let said = match person(&visitor) {
        Ok(account) => acts(&visitor, page_of(account), command).await,
        Err(why) => Err(why),
    };
    let (true, Ok(said)) = (is_confirmed, &said) else {
        return receipt(&visitor, said);
    };
    let language = language_of(&visitor.headers);
    let title = visitor.web.templates.text(language, "forgotten_title");
    let shown = PageContent {
        viewer: None,
        language,
        values: context! { title, text => said, names_command => false },
    };
    visitor.web.templates.page("said.html", shown)
}

/// Unlinks the visitor's account from the others.
pub(super) async fn unlink(visitor: Visitor) -> Response {
    let said = match person(&visitor) {
        Ok(account) => acts(&visitor, page_of(account), Command::Unlink).await,
        Err(why) => Err(why),
    };
    receipt(&visitor, said)
}

#[derive(Debug, Deserialize)]
pub(super) struct ExportForm {
    #[serde(default)]
    form: String,
}

/// Everything that is kept of the visitor, as a file.
pub(super) async fn export(visitor: Visitor, Form(form): Form<ExportForm>) -> Response {
    let (form, only) = match form.form.as_str() {
        "md" => (CopyForm::Markdown, &[CopyForm::Markdown]),
        _ => (CopyForm::Json, &[CopyForm::Json]),
    };
    match copy(&visitor, only).await {
        Ok(Some((file, export))) => {
            let body = download(file, export);
            let name = Utc::now().format("muninn-%Y-%m-%d");
            let disposition = format!("attachment; filename=\"{name}.{}\"", form.extension());
            let headers = [
                (CONTENT_TYPE, form.media_type().to_owned()),
                (CONTENT_DISPOSITION, disposition),
            ];
            (headers, body).into_response()
        }
        Ok(None) => {
            let language = language_of(&visitor.headers);
            let said = visitor.web.templates.text(language, "nothing_kept");
            receipt(&visitor, Ok(said))
        }
        Err(why) => receipt(&visitor, Err(why)),
    }
}

/// The export is under way until the file was downloaded, so that a slow browser does not have several files.
fn download(file: File, export: ExportInProgress) -> ResponseBody {
    let read = ReaderStream::new(tokio::fs::File::from_std(file));
    ResponseBody::from_stream(read.map(move |part| {
        let _under_way = &export;
        part
    }))
}

/// The file with its export; `None` if nothing is kept.
async fn copy(
    visitor: &Visitor,
    form: &'static [CopyForm; 1],
) -> Result<Option<(File, ExportInProgress)>, PageProblem> {
    use std::io::Seek as _;

    let account = person(visitor)?;
    let others = visitor.web.readable.others(account).await?;
    let accounts = std::iter::once(account).chain(&others);
    let accounts: Vec<String> = accounts.map(|it| it.id.clone()).collect();
    let exports = &visitor.web.data.exports;
    let export = exports.begin(&accounts).ok_or(PageProblem::TooMany)?;
    let place = exports.place_within(EXPORT_WAIT).await;
    let _place = place.ok_or(PageProblem::TooMany)?;
    let folder = visitor.web.data.folder.clone();
    let open = move |_, _| unnamed_file(&folder).map(BufWriter::new);
    let store = &visitor.web.data.store;
    let language = language_of(&visitor.headers);
    let copied = write_copy(store, &accounts, form, u64::MAX, language, open).await;
    let OwnCopy { count, files } = copied.map_err(|error| match error {
        CopyError::Graph(error) => error.into(),
        CopyError::File(_) | CopyError::TooMuch => {
            tracing::error!(%error, "the copy of what is kept of somebody could not be written");
            PageProblem::Failed
        }
    })?;
    // Without a size limit there is at most one file.
    let Some(file) = files.into_iter().next() else {
        return Ok(None);
    };
    let audit = &visitor.web.data.audit;
    audit
        .record_action(&account.id, AuditAction::Exported, &account.id, Some(count))
        .await;
    let whole = file.written.into_inner().map_err(|_| PageProblem::Failed);
    let mut whole = whole?;
    whole.rewind().map_err(|_| PageProblem::Failed)?;
    Ok(Some((whole, export)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::conversation::commands::Exports;

    #[test]
    fn an_export_is_under_way_until_it_was_downloaded() {
        let exports = Exports::new(Path::new("."));
        let ann = ["slack/T/U".to_owned()];
        let export = exports.begin(&ann).unwrap();
        let downloading = download(tempfile::tempfile().unwrap(), export);
        assert!(exports.begin(&ann).is_none());
        drop(downloading);
        assert!(exports.begin(&ann).is_some());
    }
}
