"""Folders to start from, which `murmure new` writes: a file for each kind, and the names in them in each language.

Everybody in them is invented, by a generator with a fixed seed, so that the same release writes the same folder.
"""
