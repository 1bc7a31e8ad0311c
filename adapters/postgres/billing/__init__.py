"""Payment: checkout, the events of the payment provider, reconciliation, and the embedded sandbox provider."""
