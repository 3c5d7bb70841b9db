"""Surveys that people answer in their browsers: each answer is randomised there, and only the report arrives."""
