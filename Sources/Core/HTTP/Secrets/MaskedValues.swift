import ErrandSupport

// Values that may hold a secret leave it out of their descriptions, and show no children to `dump` and debuggers.

extension RequestBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The body's type and length, without its bytes.
    public var description: String {
        if isNone { return "no body" }
        return "\(contentType ?? "a body"), \(length.map { "\($0) bytes" } ?? "length unknown")"
    }
    /// The same text as `description`, for debuggers.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The body's length, without its bytes.
    public var description: String { length.map { "\($0) bytes" } ?? "length unknown" }
    /// The same text as `description`, for debuggers.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Parameters: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The parameters' names, with masked values.
    public var description: String { items.map(\.description).joined(separator: "&") }
    /// The same text as `description`, for debuggers.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Parameters.Item: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The parameter's name, with a masked value.
    public var description: String { "\(name)=\(value)" }
    /// The same text as `description`, for debuggers.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ParameterValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The mask in place of the value.
    public var description: String { Redaction.mask }
    /// The same text as `description`, for debuggers.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Tags: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number of tags, without their values.
    public var description: String { "\(values.count) tags" }
    /// The same text as `description`, for debuggers.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Redactor: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text that doesn't contain the secrets that the redactor remembers.
    public var description: String { "a redactor" }
    /// The same text as `description`, for debuggers.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ErrandError: CustomReflectable {
    /// The parts of the description, and the description of the underlying error.
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
