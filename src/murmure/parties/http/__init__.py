"""The network: the client of a party, the server of the coordinator. Sockets are opened nowhere else."""
