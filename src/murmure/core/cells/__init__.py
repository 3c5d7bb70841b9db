"""What one cell means, and how columns of cells become codes."""
