"""What several items of the lectures share: an idea in each file."""
