"""/v1/projects/{project}/webhooks"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal, Optional
from urllib.parse import urlsplit

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from ..access import Access, CanAdminister
from ..addresses import AddressError, address_of, complaint_about
from ..feed import Place
from ..journal import AuditEntry, write_audit
from ..names import Name
from ..problems import Problem
from ..signing import is_secret, new_secret
from ..webhooks import Webhook
from .projects import iso
from .stream import BEHIND_ALL_LINES

router = APIRouter(prefix="/v1/projects/{project:name}/webhooks", tags=["webhooks"])

Type = Literal["task.closed", "task.changed", "worker.alarm", "project.done"]
Id = Annotated[int, Path(ge=1, le=2**53)]


class NewWebhook(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    url: str = Field(min_length=1, max_length=2000)
    types: list[Type] = Field(["task.closed"], min_length=1)
    secret: Optional[str] = Field(None, max_length=200, description="whsec_ and 24 to 64 bytes as base64; none: one is made")


class WebhookDocument(BaseModel):
    id: int
    url: str
    types: list[Type]
    created_at: str
    failures: int = Field(description="tries in a row that failed")
    last_error: Optional[str]
    parked: int = Field(description="messages that were given up, after a day")


class ToldWebhook(WebhookDocument):
    secret: str = Field(description="told once; messages are signed with it (Standard Webhooks)")


class ParkedMessage(BaseModel):
    id: str
    parked_at: str
    why: str
    body: str


async def _document(access: Access, webhook: Webhook) -> WebhookDocument:
    parked = await asyncio.to_thread(access.project.webhooks.parked, webhook.id)
    return WebhookDocument.model_validate({
        "id": webhook.id, "url": webhook.url, "types": list(webhook.types), "created_at": iso(webhook.created_at),
        "failures": webhook.failures, "last_error": webhook.last_error, "parked": len(parked)})


@router.get("", summary="The project's webhooks, and how they do")
async def list_webhooks(project: Name, access: CanAdminister) -> list[WebhookDocument]:
    webhooks = await asyncio.to_thread(access.project.webhooks.all)
    return [await _document(access, webhook) for webhook in webhooks]


@router.post("", status_code=201, summary="Sends messages there, from now on")
async def add_webhook(project: Name, new: NewWebhook, access: CanAdminister) -> ToldWebhook:
    def wrong(field: str, why: str) -> Problem:
        return Problem(422, f"{field}: {why}", errors=[{"field": field, "detail": why}])

    complaint = complaint_about(new.url)
    if complaint is not None:
        raise wrong("url", complaint)
    parts = urlsplit(new.url)
    try:
        await address_of(str(parts.hostname), parts.port or 443, access.service.config.private_webhooks)
    except AddressError as error:
        raise wrong("url", str(error)) from None
    if new.secret is not None and not is_secret(new.secret):
        raise wrong("secret", "a secret is whsec_ and 24 to 64 bytes as base64")
    secret = new.secret or new_secret()
    place = Place(access.project.writer.events, BEHIND_ALL_LINES)

    def write() -> Webhook:
        with access.service.database.transaction() as connection:
            webhook = access.project.webhooks.add(connection, new.url, tuple(new.types), secret, place)
            write_audit(connection, AuditEntry(access.who, "webhook.add", {"webhook": webhook.id, "url": new.url}), access.project.id)
        return webhook

    webhook = await asyncio.to_thread(write)
    access.project.webhooks.begin(webhook)
    document: dict[str, Any] = (await _document(access, webhook)).model_dump()
    return ToldWebhook(**document, secret=secret)


async def _require(access: Access, id: int) -> None:
    webhooks = await asyncio.to_thread(access.project.webhooks.all)
    if all(webhook.id != id for webhook in webhooks):
        raise Problem(404, f"there is no webhook {id}")


@router.delete("/{id}", status_code=204, summary="Sends no more")
async def delete_webhook(project: Name, id: Id, access: CanAdminister) -> None:
    await _require(access, id)
    await access.project.webhooks.end(id)

    def write() -> None:
        with access.service.database.transaction() as connection:
            connection.execute("DELETE FROM webhooks WHERE id = ?", (id,))
            write_audit(connection, AuditEntry(access.who, "webhook.delete", {"webhook": id}), access.project.id)

    await asyncio.to_thread(write)


@router.get("/{id}/parked", summary="Messages that were given up, a thousand at most")
async def list_parked(project: Name, id: Id, access: CanAdminister) -> list[ParkedMessage]:
    await _require(access, id)
    rows = await asyncio.to_thread(access.project.webhooks.parked, id)
    return [ParkedMessage(id=row["id"], parked_at=iso(row["at"]), why=row["why"], body=row["body"].decode("utf-8", "replace"))
            for row in rows]
