"""The results of models, and how they are printed."""
