"""What a fitted model says, and how it is printed."""
