"""The questions that learners ask. One question per file."""
