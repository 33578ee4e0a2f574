//! Responses in the forms that all routes of a node share.

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use serde::Serialize;

/// Error response `{"error": {"code": …, "message": …}}`. `code` is for programs and never changes; `message` is for people.
#[must_use]
pub fn error(status: StatusCode, code: &str, message: &str) -> Response<Bytes> {
    json(status, &serde_json::json!({ "error": { "code": code, "message": message } }))
}

/// Response with `value` as JSON.
///
/// # Panics
/// If `value` cannot be written as JSON, which is a fault of its type (such as a map whose keys are not text).
#[must_use]
pub fn json(status: StatusCode, value: &impl Serialize) -> Response<Bytes> {
    let body = serde_json::to_vec(value).expect("the type can be written as JSON");
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Response to a method that a route does not have: `405`, or `204` for `OPTIONS`, both with `Allow`. `None` if the
/// request's method is one of `methods`; a route with `GET` also has `HEAD`.
#[must_use]
pub fn only<T>(methods: &[Method], request: &Request<T>) -> Option<Response<Bytes>> {
    let method = request.method();
    if methods.contains(method) || (method == Method::HEAD && methods.contains(&Method::GET)) {
        return None;
    }
    let mut allowed: Vec<&str> = methods.iter().map(Method::as_str).collect();
    if methods.contains(&Method::GET) {
        allowed.push("HEAD");
    }
    allowed.push("OPTIONS");
    let allowed = allowed.join(", ");
    let mut response = if method == Method::OPTIONS {
        let mut response = Response::default();
        *response.status_mut() = StatusCode::NO_CONTENT;
        response
    } else {
        let message = format!("{method} is not supported here; accepted: {allowed}");
        error(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", &message)
    };
    let allowed = HeaderValue::from_str(&allowed).expect("names of methods are visible ASCII");
    response.headers_mut().insert(ALLOW, allowed);
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: Method) -> Request<()> {
        let mut request = Request::new(());
        *request.method_mut() = method;
        request
    }

    #[test]
    fn the_answer_to_a_wrong_method_names_the_right_ones() {
        assert!(only(&[Method::GET], &request(Method::GET)).is_none());
        assert!(only(&[Method::GET], &request(Method::HEAD)).is_none());
        assert!(only(&[Method::POST], &request(Method::HEAD)).is_some());

        let refused = only(&[Method::GET], &request(Method::POST)).expect("a refusal");
        assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(refused.headers()[ALLOW], "GET, HEAD, OPTIONS");

        let options = only(&[Method::POST], &request(Method::OPTIONS)).expect("an answer");
        assert_eq!(options.status(), StatusCode::NO_CONTENT);
        assert_eq!(options.headers()[ALLOW], "POST, OPTIONS");
    }
}
