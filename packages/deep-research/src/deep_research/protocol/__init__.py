"""Web standards as pure functions: HTTP statuses, headers, media types, charsets."""
