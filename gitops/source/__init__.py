"""The bytes of one pinned commit, straight from git's objects, or of a work tree when somebody asks for it."""
