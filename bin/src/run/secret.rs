//! Secrets from files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rolecall::http::ClusterToken;

use crate::cli::Failure;

/// Reads the secret of the cluster. A file that others on this machine may read is used, with a warning.
pub(super) fn token(path: &Path) -> Result<ClusterToken, Failure> {
    let refused = |reason: String| {
        Failure::Usage(format!(
            "--cluster-token {}: {reason}; `head -c 32 /dev/urandom | base64` makes a good one",
            path.display()
        ))
    };
    let secret = fs::read(path).map_err(|error| refused(format!("expected a file that can be read: {error}")))?;
    let token = ClusterToken::new(&secret).map_err(|error| refused(error.to_string()))?;
    let others = fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o007 != 0);
    if others {
        tracing::warn!(path = %path.display(), "anyone on this machine may use the cluster's token; chmod o-rwx would hide it");
    }
    Ok(token)
}
