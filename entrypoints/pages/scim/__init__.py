"""Setting up provisioning by SCIM."""
