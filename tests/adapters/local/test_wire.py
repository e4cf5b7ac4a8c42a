"""Our adapters talk to a server and a model that we did not write: llama.cpp's, in each of its three forms."""

from __future__ import annotations

import json

import pytest
from turntide.adapters.base import ConfigurationError, Fatal, Json

from .conftest import Ask, answer

FORMS = ("chat", "responses", "anthropic")

pytestmark = [pytest.mark.real("SmolLM2 and llama.cpp")]

SCHEMA: Json = {
    "type": "object",
    "properties": {"type": {"enum": ["sql", "clarify"]}, "content": {"type": "string", "maxLength": 30}},
    "required": ["type", "content"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("api", FORMS)
async def test_an_answer_comes_with_its_model_its_end_and_its_tokens(ask: Ask, api: str) -> None:
    cut = answer(await ask(api, "Write a poem."))
    assert cut.text
    assert (cut.model, cut.finish, cut.detail, cut.reasoning) == ("smollm2", "length", "", "")
    assert cut.usage is not None
    assert cut.usage.output_tokens == 8
    whole = answer(await ask(api, "Count from one to twenty.", max_tokens=60))
    assert (whole.finish, whole.detail) == ("stop", "")
    assert whole.usage is not None
    assert 0 < whole.usage.output_tokens < 60


async def test_the_forms_count_the_same_tokens_and_give_the_same_answer(ask: Ask) -> None:
    answers = [answer(await ask(api, "Name a colour of the sky.", max_tokens=5)) for api in FORMS]
    assert len({one.text for one in answers}) == 1
    usages = [one.usage for one in answers]
    ((into, out),) = {(usage.input_tokens, usage.output_tokens) for usage in usages if usage}
    assert out == 5
    # The same question again is read from the cache: part of the input, and counted as such by every form.
    assert [usage.cached_tokens for usage in usages[1:] if usage] == [into - 1, into - 1]


async def test_earlier_turns_are_part_of_the_prompt_in_every_form(ask: Ask) -> None:
    answers = [answer(await ask(api, "My name is Ada.", "Hello Ada.", "And yours?", max_tokens=1)) for api in FORMS]
    alone = answer(await ask("chat", "And yours?", max_tokens=1))
    counts = {one.usage.input_tokens for one in answers if one.usage}
    assert len(counts) == 1
    assert alone.usage is not None
    assert counts.pop() > alone.usage.input_tokens + 10


@pytest.mark.parametrize("api", FORMS)
async def test_half_a_character_of_an_earlier_answer_breaks_no_question(ask: Ask, api: str) -> None:
    assert answer(await ask(api, "hi \ud83d", "\udc4b \udfff", "go on", max_tokens=1)).finish == "length"


@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_a_schema_holds_the_model_to_it(ask: Ask, api: str) -> None:
    question = 'How many users are there? Answer like {"type": "sql", "content": "SELECT 1"}.'
    held = answer(await ask(api, question, json_schema=SCHEMA, max_tokens=60))
    assert held.finish == "stop"
    said = json.loads(held.text)
    assert list(said) == ["type", "content"]
    assert said["type"] in ("sql", "clarify")
    free = answer(await ask(api, "How many users are there? Answer with a poem."))
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(free.text)


async def test_a_form_that_would_pass_over_a_schema_refuses_it(ask: Ask) -> None:
    with pytest.raises(ConfigurationError, match="takes no `json_schema`; its chat format does"):
        await ask("anthropic", "x", json_schema=SCHEMA)


@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_an_object_that_was_cut_at_the_limit_is_an_answer_that_was_cut(ask: Ask, api: str) -> None:
    cut = answer(await ask(api, "How many users are there?", json_schema=SCHEMA, max_tokens=3))
    assert cut.finish == "length"
    with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
        json.loads(cut.text)


@pytest.mark.parametrize("api", FORMS)
async def test_a_question_beyond_the_context_is_the_models_own_refusal(ask: Ask, api: str) -> None:
    refused = answer(await ask(api, "word " * 9000))
    assert refused.finish == "refused"
    assert refused.detail.startswith("context_length: ")


@pytest.mark.parametrize("api", FORMS)
async def test_another_key_is_fatal_and_is_not_repeated(ask: Ask, api: str) -> None:
    reply = await ask(api, "x", key="wrong-key-of-somebody")
    assert isinstance(reply, Fatal)
    assert (reply.kind, reply.status) == ("key", 401)
    assert "wrong-key" not in reply.message


async def test_a_schema_that_nobody_can_follow_is_an_error_in_the_servers_words(ask: Ask) -> None:
    reply = await ask("chat", "x", json_schema={"type": "nonsense"})
    assert isinstance(reply, Fatal)
    assert (reply.kind, reply.status) == ("bad_request", 400)
    assert "unrecognized type nonsense" in reply.message
