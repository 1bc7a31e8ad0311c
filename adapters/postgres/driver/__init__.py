"""Everything about PostgreSQL that is not about the product: connections, statements, transactions."""
