"""What third-party code computes: encryption, hashes, tokens, chance."""
