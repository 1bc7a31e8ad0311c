"""Documents that are generated once."""

from typing import Annotated

import trio
from quart import Response

from entrypoints.installation import Installation
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.answering.answers import Media
from entrypoints.web.serving.answering.documents import Document, generated_once
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Route, Routes
from tests.web.probe import Answer, ask, serving


async def test_requests_at_once_share_the_document_that_the_first_one_generates() -> None:
    routes, generated, answers = Routes("documents", "A route of this test."), list[str](), list[Answer]()

    def write(_routes: tuple[Route, ...], installation: Installation) -> Document:
        generated.append(installation.version)
        return Document.of(b"text", media_type="text/plain")

    @routes.get("/document")
    @public
    async def document(call: Call) -> Annotated[Response, Media("text/plain")]:
        """Return a document."""
        return (await generated_once(call, write)).response(call)

    application = serving(routes)

    async def read() -> None:
        answers.append(await ask(application, "GET", "/document"))

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(read)

    assert [answer.content for answer in answers] == [b"text"] * 10
    assert len(generated) == 1
