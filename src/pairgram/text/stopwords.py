"""English function words: they say little about what a text is about."""

_LINES = """
a an the this that these those some any each every either neither both all no not nor only
such same other another more most few less own
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his
himself she her hers herself it its itself they them their theirs themselves who whom whose
which what
is am are was were be been being do does did doing done have has had having can could may might
must shall should will would cannot
of in on at by for with from to into onto about against between among through during before
after above below over under up down out off within without upon toward towards
and or but if because as while than then so though although unless until since whether
when where why how here there again once also very too just now ever yet
s t d m ll re ve don doesn didn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn
don't doesn't didn't isn't aren't wasn't weren't hasn't haven't hadn't won't wouldn't couldn't
shouldn't can't it's that's there's i'm we're you're they're i've we've they've
"""

STOP_WORDS: frozenset[str] = frozenset(_LINES.split())
