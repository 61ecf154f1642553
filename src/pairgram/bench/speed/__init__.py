"""Speed beside other tools: each peer in its own environment, the same jobs for all."""
