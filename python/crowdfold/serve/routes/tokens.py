"""/v1/tokens"""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal, Optional, cast

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from ..access import Administrator, TheService
from ..database import now
from ..problems import Problem
from ..service import Service
from ..tokens import Role, Token
from .projects import iso

router = APIRouter(prefix="/v1/tokens", tags=["tokens"])

RoleName = Literal["read", "write", "admin"]


class NewToken(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(min_length=1, max_length=200, description="whose it is, for the audit")
    role: RoleName
    project: Optional[str] = Field(None, min_length=1, max_length=200, description="none: all projects")
    expires_in_days: Optional[float] = Field(None, gt=0, le=36_500)


class TokenDocument(BaseModel):
    id: int
    name: str
    role: RoleName
    project: Optional[str]
    created_at: str
    expires_at: Optional[str]
    revoked_at: Optional[str]
    last_used_at: Optional[str]


class ToldToken(TokenDocument):
    token: str = Field(description="told once: only its hash is kept")


def _document(service: Service, token: Token, used: Optional[float]) -> TokenDocument:
    project = next((project.name for project in service.projects() if project.id == token.project), None)
    times = {"expires_at": token.expires_at, "revoked_at": token.revoked_at, "last_used_at": used}
    return TokenDocument(id=token.id, name=token.name, role=cast(RoleName, token.role.name), project=project,
                         created_at=iso(token.created_at), **{name: None if at is None else iso(at) for name, at in times.items()})


@router.get("", summary="All tokens, without their secrets")
async def list_tokens(caller: Administrator, service: TheService) -> list[TokenDocument]:
    tokens = await asyncio.to_thread(service.tokens.all)
    return [_document(service, token, used) for token, used in tokens]


@router.post("", status_code=201, summary="Makes a token")
async def add_token(new: NewToken, caller: Administrator, service: TheService) -> ToldToken:
    project = None
    if new.project is not None:
        found = service.find(new.project)
        if found is None:
            raise Problem(422, f"project: there is no project '{new.project}'", errors=[{"field": "project", "detail": "unknown"}])
        project = found.id
    expires_at = None if new.expires_in_days is None else now() + new.expires_in_days * 86_400
    token, secret = await asyncio.to_thread(service.tokens.add, new.name, Role[new.role], project, expires_at,
                                            f"token {caller.id} ({caller.name})")
    return ToldToken(**_document(service, token, None).model_dump(), token=secret)


@router.delete("/{id}", status_code=204, summary="Revokes a token, at once")
async def revoke_token(id: Annotated[int, Path(ge=1, le=2**53)], caller: Administrator,
                       service: TheService) -> None:
    if not await asyncio.to_thread(service.tokens.revoke, id, f"token {caller.id} ({caller.name})"):
        raise Problem(404, f"there is no token {id}")
