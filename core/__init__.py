"""What the product means: entities, rules and use cases, in the standard library alone."""
