"""Credentials besides the password: devices, second factors, passkeys."""
