"""One question per file. A statistic says what each person adds (`lift`) and what is made of the sum."""
