"""Mail domains of an organization, and the connections to which they lead."""
