"""PostgreSQL: connections, transactions, the schema, and one module of SQL for each capability."""
