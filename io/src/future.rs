//! Futures behind seams.

use core::future::Future;
use core::pin::Pin;

/// A future that a seam returns.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
