"""What the standards of the web say, as pure functions: HTTP statuses and headers, media types, encodings."""
