/// Where a request sends its parameters.
public enum ParameterPlacement: Sendable, Hashable {
    /// In the query for GET, HEAD and DELETE, and for requests that have their own body; otherwise in a form. The
    /// default.
    case automatic
    /// In the URL's query.
    case query
    /// In an `application/x-www-form-urlencoded` body.
    case form
    /// In a JSON object, also for GET, HEAD and DELETE (unlike YTKNetwork).
    case json
}
