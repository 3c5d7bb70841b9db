"""How the lectures are redrawn: what an item is, where items are found, how they are measured, kept and written."""
