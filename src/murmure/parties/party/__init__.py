"""One organisation in a study: its rules, its rows, its memory, and what it sends."""
