"""Actions of services: their parameters are found, proposed, and used to run them."""
