"""The chain of an anchor (Appendix B.1): from a model, a template or a file, then the rules, then two judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

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
from .prompts import Ambiguity, Moment, Rejected, chain_judge_prompt, chain_prompt
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
    steps: Steps, anchor: AnchorQuery, moment: Moment, desk: Desk, sources: Sources, model: str
) -> tuple[StageRecord, Ambiguity | None]:
    """Return the attempts at a chain about what was said last, and the one that passed. `model` is the generator's."""
    nodes, depth = atomic_nodes(moment.sql, desk.schema), sources.design.depth

    async def by_model(rejected: Sequence[Rejected]) -> Tried[Ambiguity]:
        prompt = chain_prompt(anchor, moment, desk.ddl, nodes, depth, rejected)
        answer = await steps.ask(model, prompt, SCHEMAS[ChainDraft])
        try:
            made = Made(_drafted(read(answer, ChainDraft), nodes, depth), answer.text)
        except Malformed as error:
            made = Made(None, answer.text, "json_format", str(error))
        return await _tried(steps, anchor, moment, made, sources.judges, steps.last)

    async def without_model(_: Sequence[Rejected]) -> Tried[Ambiguity]:
        by_template = sources.chain == "template"
        made = _from_template(anchor, desk, depth) if by_template else _from_file(anchor, moment, sources)
        return await _tried(steps, anchor, moment, made, sources.judges, None)

    match sources.chain:
        case "none":
            return StageRecord(source="none", attempts=(Attempt(),)), Ambiguity("", ())
        case "model":
            return await attempted(model, sources.attempts, by_model)
        case served:
            return await attempted(served, 1, without_model)


async def _tried(
    steps: Steps, anchor: AnchorQuery, moment: Moment, made: Made, judges: Sequence[str], step: int | None
) -> Tried[Ambiguity]:
    """Put a chain to the rules, then to the judges."""
    if made.chain is None:
        return Tried(Attempt(step=step, signal=made.signal, detail=made.detail), text=made.text)
    if signal := broken_rule(moment.question, made.chain):
        return Tried(Attempt(step=step, signal=signal, detail=words().signals[signal]), text=made.text)
    votes: tuple[Vote, ...] = ()
    for second, layer in enumerate(made.chain.layers[1:], 1):
        prompt = chain_judge_prompt(anchor, moment, made.chain, second)
        found, against = await judged(steps, judges, prompt, ChainOpinion, layer.label)
        votes += found
        if against:
            return Tried(Attempt(step=step, signal=against[0], detail=against[1], votes=votes), text=made.text)
    return Tried(Attempt(step=step, votes=votes), _settled(made.chain, votes))


def broken_rule(original: str, chain: Ambiguity) -> str:
    """Return the signal of the first rule that a chain breaks by its words alone; empty when it breaks none."""
    dependent = chain.layers[1:]
    if _same(original, chain.question):
        return "same_question"
    if any(_same(layer.answer, layer.alternative) for layer in chain.layers):
        return "same_options"
    if any(_same(one.question, other.question) for one, other in combinations(chain.layers, 2)):
        return "one_question"
    if any(bool(layer.counterfactual.strip()) != (layer.verdict == "transformed") for layer in dependent):
        return "no_counterfactual"
    return "invariant" if any(_same(layer.question, layer.counterfactual) for layer in dependent) else ""


def _same(one: str, other: str) -> bool:
    return one.casefold().split() == other.casefold().split()


def _settled(chain: Ambiguity, votes: Sequence[Vote]) -> Ambiguity:
    """Return the chain with the verdicts of most."""
    first, *dependent = chain.layers
    said = [_decided(layer, [vote for vote in votes if vote.layer == layer.label]) for layer in dependent]
    return replace(chain, layers=(first, *said))


def _decided(layer: Layer, votes: Sequence[Vote]) -> Layer:
    """Return a layer with the verdict of most, and a judge's counterfactual where the generator gave none.

    A verdict of `transformed` without any counterfactual cannot stand; the generator's word is then kept.
    """
    claimed = layer.verdict or "eliminated"
    verdict = settled_verdict(claimed, votes)
    said = next((vote.counterfactual for vote in votes if vote.verdict == "transformed" and vote.counterfactual), "")
    if verdict == claimed or (verdict == "transformed" and not said):
        return layer
    return structs.replace(layer, verdict=verdict, counterfactual=said if verdict == "transformed" else "")


def _drafted(draft: ChainDraft, nodes: Sequence[Node], depth: int) -> Ambiguity:
    """Return the chain that a draft is. Raises Malformed when it has another depth, or a layer no verdict."""
    if len(draft.layers) != depth:
        raise Malformed(f"it has {len(draft.layers)} layers instead of {depth}")
    if missing := next((n for n, layer in enumerate(draft.layers, 1) if (layer.verdict is None) != (n == 1)), None):
        raise Malformed(f"L{missing} {'has a' if missing == 1 else 'lacks its'} verdict")
    layers = [_layer(f"L{number}", layer, nodes) for number, layer in enumerate(draft.layers, 1)]
    return Ambiguity(draft.ambiguous_question.strip(), tuple(layers))


def _layer(label: str, draft: LayerDraft, nodes: Sequence[Node]) -> Layer:
    settles = sorted({nodes[number - 1].label for number in draft.decisions if 1 <= number <= len(nodes)})
    texts = {name: getattr(draft, name).strip() for name in ("term", "question", "answer", "alternative")}
    counterfactual = draft.counterfactual.strip() if draft.verdict else ""
    return Layer(label=label, nodes=tuple(settles), verdict=draft.verdict, counterfactual=counterfactual, **texts)


def _from_template(anchor: AnchorQuery, desk: Desk, depth: int) -> Made:
    request = hear_question(templates(anchor.database), anchor.question)
    if request is None or request.open or written(request.tree()) != written(parse(anchor.sql)):
        return Made(None, signal="no_template", detail="no template asks this question")
    if len(request.path) != depth:
        return Made(None, signal="no_template", detail=f"the template's chain has {len(request.path)} layers")
    layers = settled_layers(request, anchor.sql, other_readings(request), desk.schema)
    return Made(Ambiguity(request.ambiguous_question(), tuple(layers)))


def _from_file(anchor: AnchorQuery, moment: Moment, sources: Sources) -> Made:
    triplet = sources.files["chain"].get(query_key(anchor.database, anchor.sql))
    stage = triplet.stages[sources.design.opens] if triplet and len(triplet.stages) > sources.design.opens else None
    if stage is None or len(stage.layers) != sources.design.depth or not _same_query(stage.sql, moment.sql):
        return Made(None, signal="not_in_file", detail="the file has no such chain for this query")
    return Made(Ambiguity(stage.ambiguous, stage.layers))


def _same_query(one: str, other: str) -> bool:
    return written(parse(one)) == written(parse(other))
