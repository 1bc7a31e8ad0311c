"""The wheel of the Python package `gatehouse-client`, served from the installation."""
