// Start here: describe the envelope by a ``ResponseEnvelope``, and conform a request to ``EnvelopedRequest``.
