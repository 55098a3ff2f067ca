// Start here: conform a request to ``PagedRequest``; then `agent.pages(of:)`, or a ``PageController`` for a screen.
