import ErrandSupport

// Values that may hold a secret describe themselves without it, and show no children to `dump` and debuggers.

extension RequestBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The type and the length, no bytes.
    public var description: String {
        if isNone { return "no body" }
        return "\(contentType ?? "a body"), \(length.map { "\($0) bytes" } ?? "length unknown")"
    }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Empty: children would show what the description masks.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The length, no bytes.
    public var description: String { length.map { "\($0) bytes" } ?? "length unknown" }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Empty: children would show what the description masks.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Parameters: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names; the values are masked.
    public var description: String { items.map(\.description).joined(separator: "&") }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Empty: children would show what the description masks.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Parameters.Item: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name; the value is masked.
    public var description: String { "\(name)=\(value)" }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Empty: children would show what the description masks.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ParameterValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A mask.
    public var description: String { Redaction.mask }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Empty: children would show what the description masks.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Tags: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number of tags.
    public var description: String { "\(values.count) tags" }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Empty: children would show what the description masks.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Redactor: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Without the secrets that it remembers.
    public var description: String { "a redactor" }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Empty: children would show what the description masks.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ErrandError: CustomReflectable {
    /// The parts of the description, and the description of the cause.
    public var customMirror: Mirror {
        let cause = underlying?.briefDescription
        return Mirror(
            self,
            children: [
                "code": code, "message": message, "request": request as Any, "response": response as Any,
                "underlying": cause as Any,
            ])
    }
}
