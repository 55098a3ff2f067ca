import ErrandEssentials

extension Error {
    /// A short text for descriptions and logs: the error's `description` or `errorDescription`, or else its type with
    /// case and numbers, such as `APIError.refused(code: 7)`. For a `DecodingError` or `EncodingError`, the path and
    /// expected type, such as `/user/id: expected Int`.
    ///
    /// ```swift
    /// do { try await agent.send(GetUser(id: 7)) } catch { print("failed: \(error.briefDescription)") }
    /// ```
    ///
    /// Leaves out an error's strings and the user info of an `NSError`, which includes URLs, because they may not
    /// belong in a log.
    public var briefDescription: String {
        if let error = self as? DecodingError { return error.summary }
        if let error = self as? EncodingError { return error.summary }
        if !(type(of: self) is AnyClass), !isOfTheSystem, let error = self as? any Error & CustomStringConvertible {
            return error.description
        }
        return (self as? any LocalizedError)?.errorDescription ?? outline
    }

    /// The error's type, its enumeration case, and the fields that are numbers or Booleans.
    private var outline: String {
        let name = "\(type(of: self))"
        if type(of: self) is AnyClass || isOfTheSystem || self is any CustomDebugStringConvertible { return name }
        let mirror = Mirror(reflecting: self)
        switch mirror.displayStyle {
        case .enum:
            guard let payload = mirror.children.first else { return "\(name).\(self)" }
            let inner = Mirror(reflecting: payload.value)
            let fields = inner.displayStyle == .tuple ? Array(inner.children) : [(nil, payload.value)]
            return "\(name).\(payload.label ?? "")" + Self.numbers(of: fields)
        case .struct: return name + Self.numbers(of: Array(mirror.children))
        default: return name
        }
    }

    /// Returns `(code: 7, …)`, or an empty string if no field is a number.
    private static func numbers(of fields: [Mirror.Child]) -> String {
        let shown = fields.compactMap { field -> String? in
            guard field.value is any Numeric || field.value is Bool else { return nil }
            // The unlabeled elements of a tuple are called .0, .1 and so on.
            let label = field.label.flatMap { $0.hasPrefix(".") ? nil : "\($0): " } ?? ""
            return "\(label)\(field.value)"
        }
        if shown.isEmpty { return "" }
        return "(\((shown + (shown.count < fields.count ? ["…"] : [])).joined(separator: ", ")))"
    }

    /// Whether it is a Foundation error such as `URLError`, whose description contains the whole user info of an
    /// `NSError`.
    private var isOfTheSystem: Bool {
        let name = String(reflecting: type(of: self))
        return name.hasPrefix("Foundation") || name.hasPrefix("__C.")
    }
}
