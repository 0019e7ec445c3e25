"""What the commands of ``cli.py`` do. Nothing here is imported by the server."""
