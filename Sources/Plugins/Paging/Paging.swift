// Start here: conform a request to ``PagedRequest``, then call `agent.pages(of:)` or create a ``PageController``.
