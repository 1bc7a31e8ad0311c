"""The connection of a client: its bytes, and the protocol by which they are requests and responses."""
