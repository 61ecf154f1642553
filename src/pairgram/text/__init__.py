"""From a node's text to numbers: cleaning, vocabulary, tokens, encoders."""
