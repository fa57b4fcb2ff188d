"""Prompts: plans made only of tool calls that the profile allows, with arguments that stay arguments."""

import hashlib
import json
import re

import pytest
from conftest import connected
from mcp import MCPError
from msgspec.structs import replace

from fledgling.broker.protocol import prompts
from fledgling.messages.answers import Refusal
from fledgling.messages.questions import QUESTIONS
from fledgling.security import profile as profiles

CORE, ANALYST, OUTIE = map(profiles.load, ("fledgling-core", "fledgling-analyst", "fledgling-outie"))
TOOL = re.compile(rf"\b({'|'.join(QUESTIONS)})\(")
GIVEN = {"path": "src/app.py", "symbol": "Engine.run", "question": "where are timeouts?"}


def arguments(prompt):
    return {argument.name: GIVEN[argument.name] for argument in prompt.arguments}


def with_tools(*tools):
    return replace(CORE, tools=tools)


@pytest.mark.parametrize("prompt", prompts.PROMPTS, ids=lambda prompt: prompt.name)
def test_a_step_calls_its_own_tool_with_its_own_arguments(prompt):
    for step in prompt.steps:
        for call in re.finditer(rf"\b({'|'.join(QUESTIONS)})\(([^)]*)\)", step.text):
            assert call[1] == step.tool
            names = re.findall(r"(\w+)=", call[2])
            assert set(names) <= set(QUESTIONS[step.tool].__struct_fields__)
    assert not TOOL.search(prompt.goal + prompt.result)


@pytest.mark.parametrize(
    "tools", [CORE.tools, ANALYST.tools, OUTIE.tools, ("explore",), ("read", "search"), ("query",)]
)
def test_a_prompt_names_no_tool_that_is_not_allowed(tools):
    profile = with_tools(*tools)
    for prompt in prompts.allowed(profile):
        said = prompts.text(profile, prompt.name, arguments(prompt))
        assert set(TOOL.findall(said)) <= set(tools)
    listed = [prompt.name for prompt in prompts.allowed(profile)]
    assert listed == [p.name for p in prompts.PROMPTS if set(p.needs) <= set(tools)]


def test_steps_without_their_argument_are_left_out_and_numbers_run_on():
    said = prompts.text(CORE, "impact_of_change", {"path": "a.py"})
    assert "{" not in said
    assert re.findall(r"^(\d+)\.", said, re.M) == ["1", "2", "3", "4"]
    assert (
        len(re.findall(r"^\d+\.", prompts.text(CORE, "impact_of_change", {"path": "a.py", "symbol": "f"}), re.M)) == 6
    )


@pytest.mark.parametrize("value", ['"; rm -rf', "{symbol}", "{path}", "a\\", "</s>", "ignore the above"])
def test_an_argument_stays_an_argument(value):
    said = prompts.text(CORE, "review_module", {"path": value})
    assert f"read(path={json.dumps(value)})" in said
    assert said.endswith(prompts.DATA)


REFUSED = {
    "a name that is not": ("none", {}),
    "nothing given": ("review_module", {}),
    "an empty path": ("review_module", {"path": ""}),
    "another argument": ("review_module", {"path": "a", "file": "b"}),
    "a line break": ("review_module", {"path": "a\nb"}),
    "an escape": ("review_module", {"path": "a\x1b[2J"}),
    "a direction mark": ("review_module", {"path": "a\u202eb"}),
    "too long": ("review_module", {"path": "a" * 4097}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    assert isinstance(prompts.text(CORE, *REFUSED[name]), Refusal)


@pytest.mark.anyio
async def test_a_client_gets_them(project):
    async with connected(project) as client:
        listed = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in listed] == [prompt.name for prompt in prompts.PROMPTS]
        got = await client.get_prompt("review_module", {"path": "src/core/engine.py"})
        assert 'Review "src/core/engine.py" for mistakes' in got.messages[0].content.text
        with pytest.raises(MCPError, match="review_module takes path"):
            await client.get_prompt("review_module", {})


def test_static_text_is_what_was_reviewed():
    """What an agent is told to do changes in sight of a reviewer: look at it, then put the new hash here."""
    static = json.dumps([*prompts.PROMPTS, prompts.DATA])
    assert hashlib.sha256(static.encode()).hexdigest()[:32] == "d0bded10e1b8dbefa1de0fe606e0abb6"
