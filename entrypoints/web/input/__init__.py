"""What a client sends: its address, its bytes and its input, decoded and checked."""
