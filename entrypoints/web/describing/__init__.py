"""The interface described from its declarations: the OpenAPI document, its schemas, and what fields mean."""
