//! The scripts: one transaction on the server each.

use std::sync::LazyLock;

/// A script of this adapter.
#[derive(Debug)]
pub(super) struct Script {
    text: &'static str,
    /// Digest under which the server remembers it.
    digest: LazyLock<String>,
}

impl Script {
    const fn new(text: &'static str, digest: fn() -> String) -> Self {
        Self { text, digest: LazyLock::new(digest) }
    }

    /// Lua source.
    pub(super) const fn text(&self) -> &'static str {
        self.text
    }

    /// SHA-1 digest of the source, in hexadecimal digits.
    pub(super) fn digest(&self) -> &str {
        &self.digest
    }
}

macro_rules! scripts {
    ($($(#[$about:meta])* $name:ident: $($file:literal)+;)*) => {
        $($(#[$about])* pub(super) static $name: Script = {
            const TEXT: &str = concat!($(include_str!($file)),+);
            Script::new(TEXT, || redis::Script::new(TEXT).get_hash().to_owned())
        };)*
    };
}

scripts! {
    OPEN: "scripts/common.lua" "scripts/open.lua";
    KEEP: "scripts/common.lua" "scripts/keep.lua";
    CLOSE: "scripts/common.lua" "scripts/close.lua";
    PEEK: "scripts/common.lua" "scripts/peek.lua";
    ACQUIRE: "scripts/common.lua" "scripts/acquire.lua";
    RENEW: "scripts/common.lua" "scripts/renew.lua";
    RELEASE: "scripts/common.lua" "scripts/release.lua";
    READ_TERM: "scripts/common.lua" "scripts/read_term.lua";
    JOIN: "scripts/common.lua" "scripts/join.lua";
    LEAVE: "scripts/common.lua" "scripts/leave.lua";
    VERIFY: "scripts/common.lua" "scripts/verify.lua";
    MEMBERS: "scripts/common.lua" "scripts/members.lua";
    SETTLE: "scripts/common.lua" "scripts/settle.lua";
    READ_WISH: "scripts/common.lua" "scripts/read_wish.lua";
    WRITE_WISH: "scripts/common.lua" "scripts/write_wish.lua";
    /// Tries out every command of the other scripts.
    TRIAL: "scripts/trial.lua";
}
