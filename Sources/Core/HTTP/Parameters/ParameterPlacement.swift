/// Where a request's parameters go.
public enum ParameterPlacement: Sendable, Hashable {
    /// The query for GET, HEAD and DELETE and for a request with a body of its own, otherwise a form. The default.
    case automatic
    /// The query of the URL.
    case query
    /// A body of `application/x-www-form-urlencoded`.
    case form
    /// A JSON object; for GET, HEAD and DELETE as well, unlike in YTKNetwork.
    case json
}
