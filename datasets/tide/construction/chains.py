"""The chain of an anchor (Appendix B.1): from a model, a template or a file, then the rules, then two judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from ..actions import Malformed
from ..desk import Desk
from ..editing import written
from ..nodes import Node, atomic_nodes
from ..parsing import parse
from ..samples import Layer
from ..triplets import hear_question, templates
from ..triplets.annotate import other_readings, settled_layers
from .anchors import AnchorQuery
from .answers import SCHEMAS, ChainDraft, ChainOpinion, LayerDraft, read
from .attempting import Tried, attempted
from .judging import judged
from .prompts import Ambiguity, Rejected, chain_judge_prompt, chain_prompt
from .record import Attempt, StageRecord, Vote, settled_verdict
from .settings import Sources, query_key
from .steps import Steps
from .words import words


@dataclass(frozen=True, slots=True)
class Made:
    """A chain as its source gives it, with the raw answer, or the failure that stands in its place."""

    chain: Ambiguity | None
    text: str = ""
    signal: str = ""
    detail: str = ""


async def make_chain(
    steps: Steps, anchor: AnchorQuery, desk: Desk, sources: Sources, model: str
) -> tuple[StageRecord, Ambiguity | None]:
    """Return the attempts at a chain, and the one that passed. `model` is the generator's label."""
    nodes = atomic_nodes(anchor.sql, desk.schema)

    async def by_model(rejected: Sequence[Rejected]) -> Tried[Ambiguity]:
        made = await _generated(steps, anchor, desk, nodes, rejected, model)
        return await _tried(steps, anchor, made, sources.judges, steps.last)

    async def without_model(_: Sequence[Rejected]) -> Tried[Ambiguity]:
        made = _from_template(anchor, desk) if sources.chain == "template" else _from_file(anchor, sources)
        return await _tried(steps, anchor, made, sources.judges, None)

    match sources.chain:
        case "none":
            return StageRecord(source="none", attempts=(Attempt(),)), Ambiguity("", ())
        case "model":
            return await attempted(model, sources.attempts, by_model)
        case served:
            return await attempted(served, 1, without_model)


async def _tried(
    steps: Steps, anchor: AnchorQuery, made: Made, judges: Sequence[str], step: int | None
) -> Tried[Ambiguity]:
    """Put a chain to the rules, then to the judges."""
    if made.chain is None:
        return Tried(Attempt(step=step, signal=made.signal, detail=made.detail), text=made.text)
    if signal := broken_rule(anchor.question, made.chain):
        return Tried(Attempt(step=step, signal=signal, detail=words().signals[signal]), text=made.text)
    votes, against = await judged(steps, judges, chain_judge_prompt(anchor, made.chain), ChainOpinion)
    if against:
        return Tried(Attempt(step=step, signal=against[0], detail=against[1], votes=votes), text=made.text)
    return Tried(Attempt(step=step, votes=votes), _settled(made.chain, votes))


async def _generated(
    steps: Steps, anchor: AnchorQuery, desk: Desk, nodes: Sequence[Node], rejected: Sequence[Rejected], model: str
) -> Made:
    prompt = chain_prompt(anchor, desk.ddl, nodes, rejected)
    answer = await steps.ask(model, prompt, SCHEMAS[ChainDraft])
    try:
        return Made(_drafted(read(answer, ChainDraft), nodes), answer.text)
    except Malformed as error:
        return Made(None, answer.text, "json_format", str(error))


def broken_rule(original: str, chain: Ambiguity) -> str:
    """Return the signal of the first rule that a chain breaks by its words alone; empty when it breaks none."""
    first, second = chain.layers[:2]
    if _same(original, chain.question):
        return "same_question"
    if any(_same(layer.answer, layer.alternative) for layer in chain.layers):
        return "same_options"
    if _same(first.question, second.question):
        return "one_question"
    if bool(second.counterfactual.strip()) != (second.verdict == "transformed"):
        return "no_counterfactual"
    return "invariant" if _same(second.question, second.counterfactual) else ""


def _same(one: str, other: str) -> bool:
    return one.casefold().split() == other.casefold().split()


def _settled(chain: Ambiguity, votes: Sequence[Vote]) -> Ambiguity:
    """Return the chain with the verdict of most, and a judge's counterfactual where the generator gave none.

    A verdict of `transformed` without any counterfactual cannot stand; the generator's word is then kept.
    """
    second = chain.layers[1]
    claimed = second.verdict or "eliminated"
    verdict = settled_verdict(claimed, votes)
    said = next((vote.counterfactual for vote in votes if vote.verdict == "transformed" and vote.counterfactual), "")
    if verdict == claimed or (verdict == "transformed" and not said):
        return chain
    layer = structs.replace(second, verdict=verdict, counterfactual=said if verdict == "transformed" else "")
    return replace(chain, layers=(chain.layers[0], layer, *chain.layers[2:]))


def _drafted(draft: ChainDraft, nodes: Sequence[Node]) -> Ambiguity:
    layers = (
        _layer("L1", draft.l1, nodes),
        structs.replace(
            _layer("L2", draft.l2, nodes), verdict=draft.verdict, counterfactual=draft.counterfactual.strip()
        ),
    )
    return Ambiguity(draft.ambiguous_question.strip(), layers)


def _layer(label: str, draft: LayerDraft, nodes: Sequence[Node]) -> Layer:
    settles = sorted({nodes[number - 1].label for number in draft.decisions if 1 <= number <= len(nodes)})
    texts = {name: getattr(draft, name).strip() for name in ("term", "question", "answer", "alternative")}
    return Layer(label=label, nodes=tuple(settles), **texts)


def _from_template(anchor: AnchorQuery, desk: Desk) -> Made:
    request = hear_question(templates(anchor.database), anchor.question)
    if request is None or request.open or written(request.tree()) != written(parse(anchor.sql)):
        return Made(None, signal="no_template", detail="no template asks this question")
    layers = settled_layers(request, anchor.sql, other_readings(request), desk.schema)
    return Made(Ambiguity(request.ambiguous_question(), tuple(layers)))


def _from_file(anchor: AnchorQuery, sources: Sources) -> Made:
    triplet = sources.files["chain"].get(query_key(anchor.database, anchor.sql))
    if triplet is None or not triplet.stages[0].layers:
        return Made(None, signal="not_in_file", detail="the file has no chain for this query")
    return Made(Ambiguity(triplet.ambiguous_question, triplet.stages[0].layers))
