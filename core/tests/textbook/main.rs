//! Elections from the textbook and Rolecall's own, under the same faults: what each promises, and what each is known to
//! get wrong.

mod agreement;
mod faults;
