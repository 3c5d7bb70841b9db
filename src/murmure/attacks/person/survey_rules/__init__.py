"""How surveys are repeated, what their reports say about a person, and how a profile is matched with people."""
