"""Which names cells define and use, which cells follow from which, and which are stale."""
