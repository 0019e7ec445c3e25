"""Which names cells define and use, which cells depend on which, and which are stale."""
