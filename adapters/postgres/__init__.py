"""PostgreSQL: the pool, the hop, the migrations, and one module of SQL for each capability."""
