"""Figures, tables, experiments and claims of the lectures: a folder for each lecture, a file with an ITEM for each."""
