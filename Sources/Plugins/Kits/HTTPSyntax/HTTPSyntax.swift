// Exports all grammar modules. To build less, import only the module that you need.
@_exported public import ErrandHTTPFields
@_exported public import ErrandJSONSyntax
@_exported public import ErrandMessageSyntax
