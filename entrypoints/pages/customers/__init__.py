"""One service for many customers: the organizations that use a service of another one, and who may use it for them."""
