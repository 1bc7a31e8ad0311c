"""Lists of passwords that are not accepted, in sorted files that are searched on disk."""
