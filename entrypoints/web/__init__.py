"""What serves every route: connections, credentials, decoding, answers and the documents made from the routes."""
