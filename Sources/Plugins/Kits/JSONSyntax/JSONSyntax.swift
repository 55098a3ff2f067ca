// The grammar of JSON text, as pure functions over bytes: ``JSONTokenizer`` reads tokens, ``JSONGrammar`` scans.
