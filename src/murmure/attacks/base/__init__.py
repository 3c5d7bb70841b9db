"""What attacks share: who attacks, how well it went, and how a result is shown."""
