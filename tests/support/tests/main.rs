//! Tests of the runner of foreign tools and its cache.

mod cache;
