"""Who asks: the token of a request, what it may do, and how often."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Callable, Optional

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from .problems import Problem
from .service import Project, Service
from .tokens import Role, Token

__all__ = ["Access", "Administrator", "Caller", "CanAdminister", "CanRead", "CanWrite", "Reader", "TheService"]

_bearer = HTTPBearer(auto_error=False, description="Authorization: Bearer cf_…")


# These are async so that they run in the event loop: a thread for each would take longer than what they do.


async def service_of(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


TheService = Annotated[Service, Depends(service_of)]


async def caller(request: Request, service: TheService,
           credentials: Annotated[Optional[HTTPAuthorizationCredentials], Depends(_bearer)]) -> Token:
    token = service.tokens.find(credentials.credentials) if credentials else None
    if token is None:
        raise Problem(401, "this needs a token that is valid: Authorization: Bearer cf_…", headers={"WWW-Authenticate": "Bearer"})
    request.scope["token"] = token.id
    service.rates.require(token.id)
    return token


# Whoever has a token.
Caller = Annotated[Token, Depends(caller)]


@dataclasses.dataclass(frozen=True)
class Access:
    """A token that may do what is asked, in the project that it is asked of."""

    service: Service
    token: Token
    project: Project

    @property
    def who(self) -> str:
        return f"token {self.token.id} ({self.token.name})"


def _require_role(token: Token, role: Role) -> None:
    if token.role < role:
        raise Problem(403, f"this needs a token with the role {role.name}; this one has {token.role.name}")


def needs(role: Role) -> Callable[..., Any]:
    """For what is no project's: a token for all projects."""

    async def check(token: Caller) -> Token:
        _require_role(token, role)
        if token.project is not None:
            raise Problem(403, "this needs a token for all projects; this one is for one")
        return token

    return check


def project_for(role: Role) -> Callable[..., Any]:
    """For what is the project's that the path names."""

    async def check(request: Request, service: TheService, token: Caller) -> Access:
        name = request.path_params["project"]
        project = service.find(name)
        # Whether there is a project that a token is not for is nobody's business.
        if project is None or token.project not in (None, project.id):
            raise Problem(404, f"there is no project '{name}', or this token is not for it")
        _require_role(token, role)
        return Access(service, token, project)

    return check


# What is no project's.
Reader = Annotated[Token, Depends(needs(Role.read))]
Administrator = Annotated[Token, Depends(needs(Role.admin))]
# What is the project's that the path names.
CanRead = Annotated[Access, Depends(project_for(Role.read))]
CanWrite = Annotated[Access, Depends(project_for(Role.write))]
CanAdminister = Annotated[Access, Depends(project_for(Role.admin))]
