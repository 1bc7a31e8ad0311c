"""The migrations of the schema, and the re-encryption of sealed columns."""
