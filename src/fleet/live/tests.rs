//! Simulates
