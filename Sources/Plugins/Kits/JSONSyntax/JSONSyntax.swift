// JSON grammar as pure functions over bytes: ``JSONTokenizer`` reads tokens, ``JSONGrammar`` scans.
