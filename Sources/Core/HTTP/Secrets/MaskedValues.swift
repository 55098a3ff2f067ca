import ErrandSupport

// Values that may hold a secret leave it out of their descriptions, and show no children to `dump` and debuggers.

extension RequestBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The type and length, but no bytes.
    public var description: String {
        if isNone { return "no body" }
        return "\(contentType ?? "a body"), \(length.map { "\($0) bytes" } ?? "length unknown")"
    }
    /// Same as `description`.
    public var debugDescription: String { description }
    /// Empty, to hide secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The length, but no bytes.
    public var description: String { length.map { "\($0) bytes" } ?? "length unknown" }
    /// Same as `description`.
    public var debugDescription: String { description }
    /// Empty, to hide secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Parameters: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names, with masked values.
    public var description: String { items.map(\.description).joined(separator: "&") }
    /// Same as `description`.
    public var debugDescription: String { description }
    /// Empty, to hide secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Parameters.Item: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name, with a masked value.
    public var description: String { "\(name)=\(value)" }
    /// Same as `description`.
    public var debugDescription: String { description }
    /// Empty, to hide secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ParameterValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always the mask.
    public var description: String { Redaction.mask }
    /// Same as `description`.
    public var debugDescription: String { description }
    /// Empty, to hide secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Tags: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number of tags.
    public var description: String { "\(values.count) tags" }
    /// Same as `description`.
    public var debugDescription: String { description }
    /// Empty, to hide secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Redactor: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text without the remembered secrets.
    public var description: String { "a redactor" }
    /// Same as `description`.
    public var debugDescription: String { description }
    /// Empty, to hide secrets.
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
