"""/docs: the API to look at and to try, from files of this machine."""

from __future__ import annotations

from pathlib import Path

import fastapi_swagger
from fastapi import FastAPI
from fastapi.responses import HTMLResponse, Response
from fastapi.staticfiles import StaticFiles

__all__ = ["add_to"]

POLICY = ("default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
          "frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>crowdfold</title><link rel="stylesheet" href="/docs/files/swagger-ui.css"></head>
<body><div id="api"></div><script src="/docs/files/swagger-ui-bundle.js"></script><script src="/docs/begin.js"></script></body>
</html>
"""
SCRIPT = 'SwaggerUIBundle({url: "/openapi.json", dom_id: "#api", deepLinking: true});\n'


def add_to(app: FastAPI) -> None:
    @app.get("/docs", include_in_schema=False)
    async def page() -> HTMLResponse:
        return HTMLResponse(PAGE, headers={"Content-Security-Policy": POLICY})

    @app.get("/docs/begin.js", include_in_schema=False)
    async def script() -> Response:
        return Response(SCRIPT, media_type="text/javascript")

    app.mount("/docs/files", StaticFiles(directory=Path(fastapi_swagger.__file__).parent / "resources"))
