"""The pages of the applications that a person has signed in to."""
