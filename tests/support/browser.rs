//! A minimal browser: its requests, and what it keeps between pages.

use reqwest::header::{CONTENT_TYPE, COOKIE, LOCATION, ORIGIN, SET_COOKIE};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, StatusCode};

/// A browser on the pages of one bot.
pub struct Browser {
    pub client: Client,
    pub origin: String,
    pub cookie: Option<String>,
}

impl Browser {
    pub fn at(origin: &str) -> Self {
        // The provider that the program installs for itself.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().redirect(Policy::none()).no_proxy();
        Self {
            client: client.build().unwrap(),
            origin: origin.to_owned(),
            cookie: None,
        }
    }

    /// Returns a browser that signed in with this link.
    pub async fn entered_by(link: &str) -> Self {
        let (origin, path) = parts(link);
        let mut browser = Self::at(origin);
        assert!(browser.sees(path).await.contains("<form method=\"post\">"));
        let entered = browser.posts(path, &[]).await;
        assert_eq!(entered.status(), StatusCode::SEE_OTHER);
        assert_eq!(entered.headers()[LOCATION], "/conversations");
        let cookie = entered.headers()[SET_COOKIE].to_str().unwrap().to_owned();
        for part in [
            "; Path=/",
            "; HttpOnly",
            "; SameSite=Lax",
            "; Max-Age=43200",
        ] {
            assert!(cookie.contains(part), "{cookie}");
        }
        browser.cookie = cookie.split(';').next().map(str::to_owned);
        browser
    }

    pub fn with_cookie(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.cookie {
            Some(cookie) => request.header(COOKIE, cookie),
            None => request,
        }
    }

    pub fn asks(&self, path: &str) -> RequestBuilder {
        self.with_cookie(self.client.get(format!("{}{path}", self.origin)))
    }

    pub async fn gets(&self, path: &str) -> Response {
        self.asks(path).send().await.unwrap()
    }

    pub async fn sees(&self, path: &str) -> String {
        let page = self.gets(path).await;
        assert_eq!(page.status(), StatusCode::OK, "{path}");
        page.text().await.unwrap()
    }

    /// Requests a page, and returns any response.
    pub async fn reads(&self, path: &str) -> (StatusCode, String) {
        let page = self.gets(path).await;
        (page.status(), page.text().await.unwrap())
    }

    /// Sends a form, as the pages do.
    pub async fn posts(&self, path: &str, fields: &[(&str, &str)]) -> Response {
        let request = self.client.post(format!("{}{path}", self.origin));
        let request = self.with_cookie(request).header(ORIGIN, &self.origin);
        let mut form = form_urlencoded::Serializer::new(String::new());
        let form = form.extend_pairs(fields).finish();
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        request.body(form).send().await.unwrap()
    }

    /// As [`Browser::posts`], and loads the resulting page.
    pub async fn does(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let done = self.posts(path, fields).await;
        assert_eq!(done.status(), StatusCode::SEE_OTHER, "{path}");
        let next = done.headers()[LOCATION].to_str().unwrap().to_owned();
        self.sees(&next).await
    }
}

/// Returns the first address in a page with this prefix.
pub fn follows(page: &str, path: &str) -> String {
    let mut found = addresses(page, path).into_iter();
    found
        .next()
        .unwrap_or_else(|| panic!("no {path} in {page}"))
}

/// Returns all addresses in a page with this prefix.
pub fn addresses(page: &str, path: &str) -> Vec<String> {
    values(page, "href")
        .into_iter()
        .filter(|it| it.starts_with(path))
        .collect()
}

/// Returns the values of these attributes in a page.
pub fn values(page: &str, attribute: &str) -> Vec<String> {
    let begin = format!(" {attribute}=\"");
    let values = page.split(&begin).skip(1).map(|it| {
        let (value, _) = it.split_once('"').unwrap();
        value.replace("&#x2f;", "/").replace("&amp;", "&")
    });
    values.collect()
}

/// Returns the items on the memory page with this text, as its forms name them.
pub fn items(page: &str, says: &str) -> Vec<String> {
    let items = page.split("<article>").skip(1);
    let items = items.filter(|item| item.contains(says));
    let token = |item: &str| {
        let (_, rest) = item.split_once("name=\"item\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    items.map(token).collect()
}

/// Returns the bot's address, and the path of the link.
pub fn parts(link: &str) -> (&str, &str) {
    link.split_at(link.find("/enter/").unwrap())
}

/// Returns the link in an answer or an output.
pub fn link_in(said: &str) -> String {
    let begin = said
        .find("http")
        .unwrap_or_else(|| panic!("no link in {said}"));
    let link = said[begin..].split(|it: char| it.is_whitespace() || "<>|)".contains(it));
    link.into_iter().next().unwrap().to_owned()
}
