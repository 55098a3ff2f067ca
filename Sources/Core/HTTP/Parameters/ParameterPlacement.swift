/// Where a request's parameters go.
public enum ParameterPlacement: Sendable, Hashable {
    /// The query for GET, HEAD and DELETE and for a request with a body of its own, otherwise a form. The default.
    case automatic
    case query
    case form
    /// A JSON object; for GET, HEAD and DELETE as well, unlike in YTKNetwork.
    case json
}
