"""crowdfold-serve: labels go in over HTTP, answers come out, and what was acknowledged is on disk.

    config       flags, environment and a TOML file become a Config
    database     projects.db: projects, tokens, audit, journal, webhooks
    projects     the open projects; each has a writer (writer), readers (views), leases and a feed
    app          the HTTP application: routes/ by resource, hooks/ by platform
    server       uvicorn with time limits, and an orderly end
"""
