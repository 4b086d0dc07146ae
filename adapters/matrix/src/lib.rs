//! Muninn in Matrix rooms.
