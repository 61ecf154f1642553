"""Write docs/explanations.md: suggestions for new texts with what carried them.

The model is a TGE of openmed with its relations. Only nodes of ICD-10-CM (public domain) and of the
Disease Ontology (CC0) are suggested and shown. Run from the root of the project:
python docs/explanations_make.py MODEL
"""

import sys
from pathlib import Path

from pairgram.models import Model, load

OPEN = ("ICD10CM:", "DOID:")
RULE = "dot"
GOOD = [
    "Type 2 diabetes with numbness of both feet",
    "Bitten by a dog on the leg",
    "Sudden loss of hearing in the left ear",
    "Frostbite of the toes",
    "Cannot sleep at night",
    "Glass splinter in the eye",
    "Kidney failure after dehydration",
    "Asthma attack brought on by exercise",
    "Epileptic seizures in childhood",
    "Iron deficiency with tiredness",
]
WRONG = {
    "Burn of the right hand by boiling water": "The one rare word that is shared, *burn*, is taken "
    "for the whole meaning: burn-out is a state of mind. The second suggestion is near.",
    "Heart attack": "It knows *heart* and has no sense of the two words together: they mean "
    "myocardial infarction, whose name shares no word with the query.",
    "Depression after giving birth": "*Birth* outweighs *depression*, so what is suggested are "
    "injuries and pregnancies; a node for it is F53.0, Postpartum depression.",
}


def section(model: Model, text: str) -> list[str]:
    """A text with its three best suggestions and the reasons of the first."""
    found = model.suggest(text, k=3, rule=RULE, prefix=OPEN, explain=True)
    lines = [f"### {text}", "", "| id | text | relation |", "| --- | --- | --- |"]
    lines += [f"| {one.node} | {one.text} | {one.relation or ''} |" for one in found]
    best = found[0].explanation
    if best is None:
        raise SystemExit("the suggestion was not explained")
    words = ", ".join(f"{w.word} ({w.effect:+.1f})" for w in best.words[:4])
    theirs = ", ".join(f"{w.word} ({w.effect:+.1f})" for w in best.target_words[:4])
    near = [n for n in best.neighbours if n.node.startswith(OPEN)][:2]
    lines += ["", f"Why the first: of the query {words}; of the suggestion {theirs or 'nothing'}"]
    lines[-1] += f"; near it {', '.join(f'*{n.text}*' for n in near)}." if near else "."
    return [*lines, ""]


def page(model: Model) -> str:
    """The whole page."""
    lines = [
        "# Explanations", "",
        f"Made by `python docs/explanations_make.py MODEL` with `{model!r}` on openmed,",
        f"rule `{RULE}`. Only nodes of ICD-10-CM (public domain) and the Disease Ontology (CC0)",
        "are suggested here. The texts are ours and no node has them. In brackets: what the score",
        "loses without the word.",
        "", "## Suggestions that a reader would accept", "",
    ]  # fmt: skip
    for text in GOOD:
        lines += section(model, text)
    lines += ["## Where the model is wrong", ""]
    for text, verdict in WRONG.items():
        lines += [*section(model, text), f"**Wrong.** {verdict}", ""]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("explanations.md").write_text(
        page(load(sys.argv[1])), encoding="utf-8"
    )
