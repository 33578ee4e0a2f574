//! The place of the wish: one record, which its versions guard.

use alloc::boxed::Box;

use super::{Notice, Refusal, Wish, WishReply};

/// The record of the wish, or what stands in its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct WishPlace {
    content: Content,
    /// Number of writes since the record was created.
    version: u64,
    /// Revision of the last change.
    changed: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
enum Content {
    #[default]
    Missing,
    Malformed,
    Wish(Box<Wish>),
}

impl WishPlace {
    pub(super) fn shown(&self) -> WishReply {
        match &self.content {
            Content::Missing => WishReply::Nobodys,
            Content::Malformed => WishReply::Malformed { version: self.version },
            Content::Wish(wish) => WishReply::Found { wish: wish.clone(), version: self.version },
        }
    }

    /// Notice of a watch that was set at revision `since`, if it fires.
    pub(super) fn news(&self, since: u64) -> Option<Notice> {
        let is_gone = self.content == Content::Missing;
        (self.changed > since).then_some(if is_gone { Notice::Deleted } else { Notice::Changed })
    }

    /// The wish that stands here.
    pub(super) fn wish(&self) -> Option<&Wish> {
        match &self.content {
            Content::Missing | Content::Malformed => None,
            Content::Wish(wish) => Some(wish),
        }
    }

    /// Shows its revision and its wish for renaming.
    pub(super) fn parts_mut(&mut self) -> (&mut u64, Option<&mut Wish>) {
        let wish = match &mut self.content {
            Content::Missing | Content::Malformed => None,
            Content::Wish(wish) => Some(&mut **wish),
        };
        (&mut self.changed, wish)
    }

    /// Writes the record if it has this version; `None`: if there is none.
    pub(super) fn write(&mut self, wish: &Wish, over: Option<u64>, revision: u64) -> Result<WishReply, Refusal> {
        let stands = (self.content != Content::Missing).then_some(self.version);
        if stands != over {
            return Err(Refusal::Overtaken);
        }
        self.put(Box::new(wish.clone()), revision);
        Ok(WishReply::Written { version: self.version })
    }

    /// Writes the record, whatever it was. Always a change, like the following two.
    pub(super) fn put(&mut self, wish: Box<Wish>, revision: u64) -> bool {
        self.set(Content::Wish(wish), revision)
    }

    /// Overwrites the record with something that is not a wish.
    pub(super) fn spoil(&mut self, revision: u64) -> bool {
        self.set(Content::Malformed, revision)
    }

    fn set(&mut self, content: Content, revision: u64) -> bool {
        self.version = if self.content == Content::Missing { 0 } else { self.version + 1 };
        (self.content, self.changed) = (content, revision);
        true
    }

    /// Deletes the record. Returns false if there is none.
    pub(super) fn delete(&mut self, revision: u64) -> bool {
        let existed = self.content != Content::Missing;
        if existed {
            *self = Self { changed: revision, ..Self::default() };
        }
        existed
    }
}
