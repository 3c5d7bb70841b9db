"""What forgers send, how they are noticed, and what can be estimated in spite of them."""
