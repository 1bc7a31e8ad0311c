"""Who may call, and how much: hosts, credentials, browsers, and the bodies that a process takes."""
