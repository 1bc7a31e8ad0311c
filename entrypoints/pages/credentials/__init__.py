"""What a person signs in with besides a password: devices, second factors, passkeys."""
