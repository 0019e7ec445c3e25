"""Actions of services: their parameters found, proposed, and run."""
