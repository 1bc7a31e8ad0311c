"""The pages of the embedded sandbox provider."""
