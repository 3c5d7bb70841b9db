"""The lectures the project grew out of, regenerated; and what was wrong in them."""
