import ErrandEssentials

extension Error {
    /// A short text for descriptions and logs: the error's `description` or `errorDescription`, or else its type with
    /// its case and numbers, such as `APIError.refused(code: 7)`. A `DecodingError` or `EncodingError` becomes a path
    /// and a reason, such as `/user/id: expected Int`.
    ///
    /// ```swift
    /// do { try await agent.send(GetUser(id: 7)) } catch { print("failed: \(error.briefDescription)") }
    /// ```
    ///
    /// Leaves out an error's strings and an `NSError`'s user info, because they may not belong in a log.
    public var briefDescription: String {
        if let error = self as? DecodingError { return error.summary }
        if let error = self as? EncodingError { return error.summary }
        if !(type(of: self) is AnyClass), !isOfTheSystem, let error = self as? any Error & CustomStringConvertible {
            return error.description
        }
        return (self as? any LocalizedError)?.errorDescription ?? outline
    }

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

    private static func numbers(of fields: [Mirror.Child]) -> String {
        let shown = fields.compactMap { field -> String? in
            guard field.value is any Numeric || field.value is Bool else { return nil }
            // A tuple's unlabeled elements are called .0, .1 and so on.
            let label = field.label.flatMap { $0.hasPrefix(".") ? nil : "\($0): " } ?? ""
            return "\(label)\(field.value)"
        }
        if shown.isEmpty { return "" }
        return "(\((shown + (shown.count < fields.count ? ["…"] : [])).joined(separator: ", ")))"
    }

    /// Whether the error comes from Foundation, such as `URLError`. Such an error's description contains an `NSError`'s
    /// user info.
    private var isOfTheSystem: Bool {
        let name = String(reflecting: type(of: self))
        return name.hasPrefix("Foundation") || name.hasPrefix("__C.")
    }
}

extension DecodingError {
    var summary: String {
        switch self {
        case .keyNotFound(let key, let context): "\(path(context)): the key \"\(key.stringValue)\" is missing"
        case .typeMismatch(let type, let context): "\(path(context)): expected \(type)"
        case .valueNotFound(let type, let context): "\(path(context)): expected \(type), found null"
        case .dataCorrupted(let context) where context.mayBeNumber: "\(Self.noJSON), or \(Self.unfitNumber)"
        case .dataCorrupted(let context) where context.isNoJSON: Self.noJSON
        case .dataCorrupted(let context): "\(path(context)): not valid\(reason(context))"
        @unknown default: "not valid"
        }
    }

    /// Returns a summary of a decoding error. Only the body tells whether the JSON is invalid or a number doesn't fit
    /// its type.
    func summary(of body: Data) -> String {
        guard case .dataCorrupted(let context) = self, context.mayBeNumber else { return summary }
        let hasStructure = (try? JSONDecoder().decode(Anything.self, from: body)) != nil
        return hasStructure ? summary : Self.noJSON
    }

    private static let noJSON = "the body isn't valid JSON"
    private static let unfitNumber = "a number in the body doesn't fit the type of its property"

    /// Accepts any JSON value, without reading numbers and texts.
    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }

    private func reason(_ context: Context) -> String {
        (context.underlyingError as? any DescribedError).map { ", \($0.description)" } ?? ""
    }

    private func path(_ context: Context) -> String {
        "/" + context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: "/")
    }
}

extension DecodingError.Context {
    fileprivate var isNoJSON: Bool {
        codingPath.isEmpty && debugDescription.hasPrefix("The given data was not valid JSON")
    }

    /// Whether the error may be caused by a number that doesn't fit its type. `JSONDecoder` reports invalid JSON with
    /// the same words.
    fileprivate var mayBeNumber: Bool {
        codingPath.isEmpty && debugDescription == "The given data was not valid JSON."
    }
}

extension EncodingError {
    var summary: String {
        switch self {
        case .invalidValue(let value, let context):
            let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
            return "/\(path.joined(separator: "/")): this \(type(of: value)) can't be represented"
        @unknown default: return "not valid"
        }
    }
}
