"""What works without any model: templates, error fixes, the quality report and tutorials."""
