"""A study between organisations: a document that its coordinator signs, and that every party reads and approves."""
