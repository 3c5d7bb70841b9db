"""The person slot: answers are randomised before they leave. One protocol per file."""
