//! Boxed futures.

use core::future::Future;
use core::pin::Pin;

/// Boxed future, as methods of the seams return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
