"""One way to show: what a result says (document.py), languages, and renderers. It knows nothing of statistics."""
