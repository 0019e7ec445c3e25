"""Several models' answers to one message: regenerated, compared and synthesised."""
