import ErrandHTTP

extension Call: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Method and path, without a query.
    public var description: String { "\(method) \(path.prefix { $0 != "?" })" }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// No children, which would hold what the description masks.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Exchange: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Method and URL, with the values that `Redaction` masks by default.
    public var description: String { http.description }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// No children, which would hold what the description masks.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
