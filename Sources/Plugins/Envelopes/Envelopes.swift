// Start here: describe the envelope with a ``ResponseEnvelope``, and conform a request to ``EnvelopedRequest``.
