"""What a cell means, and columns of cells as codes."""
