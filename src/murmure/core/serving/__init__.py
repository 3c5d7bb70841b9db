"""What every service of Murmure shares: its socket, its certificate, and connections with time limits."""
