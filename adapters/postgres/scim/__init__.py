"""SCIM 2.0: the provisioning of members by an organization's own directory."""
