"""What goes in and comes out."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pairgram.serve.limits import MOST_ID, MOST_K, MOST_PAIRS, MOST_TEXT, MOST_TEXTS

Text = Annotated[str, Field(max_length=MOST_TEXT)]
NodeId = Annotated[str, Field(min_length=1, max_length=MOST_ID)]


class Asked(BaseModel):
    """Base of requests: a name that is not known is refused."""

    model_config = ConfigDict(extra="forbid")


class Query(Asked):
    """A new text, or a known node."""

    text: Text | None = None
    node: NodeId | None = None
    rule: Annotated[str | None, Field(max_length=50, description="How links are scored.")] = None

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.text is None) == (self.node is None):
            raise ValueError("give 'text' or 'node', one of them")
        return self

    @property
    def about(self) -> str:
        """Which of the two is given."""
        return "text" if self.node is None else "node"

    @property
    def said(self) -> str:
        """The text or the id."""
        return self.text or "" if self.node is None else self.node


class SuggestRequest(Query):
    """What links are wanted."""

    k: Annotated[int, Field(ge=1, le=MOST_K, description="How many.")] = 10
    direction: Literal["out", "in", "both"] = "both"
    prefix: Annotated[
        list[NodeId] | None, Field(max_length=50, description="Only ids that begin with these.")
    ] = None
    label: Annotated[
        list[NodeId] | None, Field(max_length=50, description="Only nodes with these labels.")
    ] = None


class ExplainRequest(Query):
    """A suggestion, and what it was suggested for."""

    target: NodeId


class NewNode(Asked):
    """A node to add."""

    id: NodeId
    text: Annotated[str, Field(min_length=1, max_length=MOST_TEXT)]


class AddRequest(Asked):
    """Nodes to add; all of them or none."""

    nodes: Annotated[list[NewNode], Field(min_length=1, max_length=MOST_TEXTS)]


class EmbedRequest(Asked):
    """Texts to be read."""

    texts: Annotated[list[Text], Field(min_length=1, max_length=MOST_TEXTS)]


class ScoreRequest(Asked):
    """Links between known nodes."""

    pairs: Annotated[list[tuple[NodeId, NodeId]], Field(min_length=1, max_length=MOST_PAIRS)]
    rule: Annotated[str | None, Field(max_length=50)] = None


class SuggestedNode(BaseModel):
    """A node worth linking to."""

    node: str
    score: float
    text: str
    why: str
    probability: float | None
    relation: str | None = Field(description="Likeliest relation; ^ from the node to the query.")
    degree: int
    position: int | None = Field(description="Place in the map's arrays; null for later nodes.")


class SuggestAnswer(BaseModel):
    """Suggestions, the likeliest first."""

    suggestions: list[SuggestedNode]
    words: list[str] = Field(description="Words that the model reads in the text.")
    match: bool | None = Field(description="Whether the best is good enough, if calibrated.")
    generation: int = Field(description="How many models were loaded before this one, plus one.")


class ExplainedWord(BaseModel):
    """A word, and by how much the score falls without it."""

    word: str
    effect: float
    known: bool


class NearNode(BaseModel):
    """A neighbour of the target, and how near it is to the query."""

    node: str
    text: str
    similarity: float


class ExplainAnswer(BaseModel):
    """What carried the score of a suggestion."""

    score: float
    rule: str
    words: list[ExplainedWord]
    pieces: list[ExplainedWord]
    target_words: list[ExplainedWord]
    neighbours: list[NearNode]


class AddAnswer(BaseModel):
    """What was added; it is on disk and can be suggested."""

    added: list[str]
    nodes: int


class EmbedAnswer(BaseModel):
    """A vector for each text."""

    vectors: list[list[float]]
    generation: int


class ScoreAnswer(BaseModel):
    """A score for each pair; larger is likelier."""

    scores: list[float]
    rule: str
    generation: int


class KnownNode(BaseModel):
    """A node in a list."""

    node: str
    text: str
    degree: int
    position: int | None


class NodeAnswer(KnownNode):
    """A node with its neighbours, the best-connected first."""

    neighbours: list[KnownNode]


class NodesAnswer(BaseModel):
    """Nodes that a search found."""

    nodes: list[KnownNode]


class HealthAnswer(BaseModel):
    """That requests are answered."""

    status: Literal["ok"]


class ModelAnswer(BaseModel):
    """What is served."""

    method: str
    nodes: int
    edges: int
    reads_text: bool
    rules: list[str]
    labels: list[str] = Field(description="Labels to choose from, the first 200.")
    fingerprint: str
    generation: int
    writable: bool = Field(description="Whether a token was set, so that nodes can be added.")


class MapGroup(BaseModel):
    """A label or community."""

    name: str
    size: int


class MapAnswer(BaseModel):
    """What the map shows; its points are at `/map/points`."""

    nodes: int
    method: str
    coloring: str
    groups: list[MapGroup]
    generation: int


class ReloadAnswer(BaseModel):
    """Which model is served now."""

    generation: int
    nodes: int


class ErrorAnswer(BaseModel):
    """What went wrong, in one line."""

    error: str
