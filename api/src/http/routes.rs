//! Routes and their description, from one source: every handler states its path once, and the
//! router, the counters and `/openapi.json` are made from that. Pages are no part of the API: they
//! are served and counted, and not described.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::IntoResponse;
use axum::routing::MethodRouter;
use tower::util::MapResponseLayer;
use utoipa::openapi::path::ParameterIn;
use utoipa::openapi::{OpenApi, Paths, RefOr};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::app::Shared;
use super::docs;
use super::query::Query;
use crate::error::{ApiError, ErrorCode};

/// Routes being collected.
pub struct Routes {
    router: OpenApiRouter<Shared>,
    pages: Vec<String>,
    app: Shared,
}

impl Routes {
    /// None yet.
    pub fn new(app: Shared) -> Self {
        Self {
            router: OpenApiRouter::with_openapi(docs::base()),
            pages: Vec::new(),
            app,
        }
    }

    /// Adds one handler: `.with(routes!(handler))`.
    pub fn with(mut self, (schemas, paths, handlers): UtoipaMethodRouter<Shared>) -> Self {
        let (method, path) = name(&paths);
        let handlers = self.counted(&method, &path, handlers);
        self.router = self.router.routes((schemas, paths, handlers));
        self
    }

    /// Adds a page: `.page("GET", "/", get(handler))`.
    pub fn page(mut self, method: &str, path: &str, handlers: MethodRouter<Shared>) -> Self {
        let handlers = self.counted(method, path, handlers);
        self.router = self.router.route(path, handlers);
        self.pages.push(path.to_owned());
        self
    }

    fn counted(
        &self,
        method: &str,
        path: &str,
        handlers: MethodRouter<Shared>,
    ) -> MethodRouter<Shared> {
        let counters = self.app.metrics.route(method, path);
        handlers.route_layer(MapResponseLayer::new(move |response: Response<Body>| {
            counters.count(response.status().as_u16());
            response
        }))
    }

    /// Adds one handler of our own, which takes the query parameters it describes and refuses all
    /// others: a misspelt filter must not widen the answer. The peer's routes stay as lax as it.
    pub fn strict(self, (schemas, paths, handlers): UtoipaMethodRouter<Shared>) -> Self {
        let known: Arc<[String]> = query_parameters(&paths).into();
        let handlers = handlers.route_layer(from_fn(move |request: Request, next: Next| {
            let known = Arc::clone(&known);
            async move {
                match Query::of(request.uri()).only(&known) {
                    Ok(()) => next.run(request).await,
                    Err(error) => error.into_response(),
                }
            }
        }));
        self.with((schemas, paths, handlers))
    }

    /// The router, complete with the answers to what no route takes.
    pub fn finish(self) -> (Router, OpenApi) {
        let (router, openapi) = self.router.split_for_parts();
        let unknown = self.app.metrics.route("*", "unknown");
        let described = openapi.paths.paths.keys().cloned();
        let paths: Arc<[String]> = described.chain(self.pages).collect();
        let refused = Arc::clone(&unknown);
        let router = router
            .fallback(move |State(app): State<Shared>, request: Request| {
                let response = not_found(&app, &request.into_parts().0, &paths);
                unknown.count(response.status().as_u16());
                std::future::ready(response)
            })
            .method_not_allowed_fallback(move || {
                refused.count(405);
                let error = ApiError::new(ErrorCode::MethodNotAllowed, "Method Not Allowed");
                std::future::ready(error.into_response())
            })
            .with_state(self.app);
        (router, docs::finish(openapi))
    }
}

/// Method and path of the one operation a handler has.
fn name(paths: &Paths) -> (String, String) {
    let Some((path, item)) = paths.paths.first_key_value() else {
        return Default::default();
    };
    let method = docs::operations(item).next();
    (
        method.map_or("*", |(method, _)| method).to_owned(),
        path.clone(),
    )
}

/// The names of the query parameters an operation describes.
fn query_parameters(paths: &Paths) -> Vec<String> {
    let items = paths.paths.values();
    let operations = items.flat_map(docs::operations);
    operations
        .flat_map(|(_, operation)| operation.parameters.iter().flatten())
        .filter_map(|parameter| match parameter {
            RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Query => {
                Some(parameter.name.clone())
            }
            RefOr::T(_) | RefOr::Ref(_) => None,
        })
        .collect()
}

/// 404, or 307 when the path without its slashes at the end is a route.
fn not_found(app: &Shared, request: &Parts, paths: &[String]) -> Response<Body> {
    let uri = &request.uri;
    let bare = uri.path().trim_end_matches('/');
    if bare.len() < uri.path().len() && paths.iter().any(|path| docs::matches(path, bare)) {
        let query = uri
            .query()
            .map(|query| format!("?{query}"))
            .unwrap_or_default();
        // Behind a proxy from the root on, which is right however the request came in.
        let host = match &app.config.public_url {
            Some(_) => String::new(),
            None => app.base_url(request),
        };
        if let Ok(location) = HeaderValue::from_str(&format!("{host}{bare}{query}")) {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
            response.headers_mut().insert(header::LOCATION, location);
            return response;
        }
    }
    ApiError::new(ErrorCode::NotFound, "Not Found").into_response()
}
