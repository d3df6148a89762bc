"""What this user allows a repository to name: the record of it, and the door that asks it."""
