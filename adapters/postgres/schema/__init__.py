"""The schema's history as migrations, and the re-encryption of sealed columns."""
