import ErrandSupport

extension RequestBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The body's type and length.
    public var description: String {
        if isNone { return "no body" }
        return "\(contentType ?? "a body"), \(length.map { "\($0) bytes" } ?? "length unknown")"
    }
    /// Returns `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The body's length.
    public var description: String { length.map { "\($0) bytes" } ?? "length unknown" }
    /// Returns `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Parameters: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names, with masked values.
    public var description: String { items.map(\.description).joined(separator: "&") }
    /// Returns `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Parameters.Item: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name, with a masked value.
    public var description: String { "\(name)=\(value)" }
    /// Returns `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ParameterValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A mask in place of the value.
    public var description: String { Redaction.mask }
    /// Returns `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Tags: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number of tags.
    public var description: String { "\(values.count) tags" }
    /// Returns `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Redactor: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text without the redactor's secrets.
    public var description: String { "a redactor" }
    /// Returns `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ErrandError: CustomReflectable {
    /// The parts of the description, and the underlying error's description.
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
