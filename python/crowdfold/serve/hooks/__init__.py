"""Messages of annotation platforms, as events. A file for each platform, which only translates."""
