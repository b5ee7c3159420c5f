//! What a run looks like: views of one stream of events.
