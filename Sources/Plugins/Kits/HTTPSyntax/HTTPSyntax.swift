// The whole grammar by one import. Who needs a part of it imports the module of that part, and builds no more.
@_exported public import ErrandHTTPFields
@_exported public import ErrandJSONSyntax
@_exported public import ErrandMessageSyntax
