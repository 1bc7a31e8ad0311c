"""What platform owners and operators do across all organizations."""
