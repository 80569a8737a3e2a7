//! Samples of other tools, coming in and going out.
