"""Studies between organisations: the document, each party, the coordinator, and the network between them."""
