import ErrandMessageSyntax
import ErrandSupport

/// Writes parameters as a query or a form. Names and values are percent-encoded as UTF-8, except for RFC 3986's
/// unreserved characters, `?` and `/`. A space becomes `%20`, a plus `%2B`.
public struct ParameterEncoding: Sendable, Hashable {
    /// How arrays are written in a query or form.
    public enum Arrays: Sendable, Hashable {
        /// Adds brackets to the name: `a[]=1&a[]=2`. The default.
        case brackets
        /// Repeats the name: `a=1&a=2`.
        case repeated
        /// Adds each element's index in brackets: `a[0]=1&a[1]=2`.
        case indexed
        /// Joins the elements with commas: `a=1,2`.
        case commas
    }

    /// How Booleans are written in a query or form.
    public enum Booleans: Sendable, Hashable {
        /// `1` and `0`. The default.
        case numeric
        /// `true` and `false`.
        case literal
    }

    /// How arrays are written. Defaults to brackets.
    public var arrays: Arrays
    /// How Booleans are written. Defaults to 1 and 0.
    public var booleans: Booleans
    /// Whether to sort names, so equal parameters give equal URLs. Defaults to true.
    public var sortsNames: Bool

    /// Creates an encoding.
    public init(arrays: Arrays = .brackets, booleans: Booleans = .numeric, sortsNames: Bool = true) {
        self.arrays = arrays
        self.booleans = booleans
        self.sortsNames = sortsNames
    }

    /// Returns the text of a query or form, without a leading `?`. Throws ``ErrandError/Code/encodingFailed`` if an
    /// `.encoded` value isn't percent-encoded.
    public func encode(_ parameters: Parameters) throws -> String {
        if let fault = parameters.fault { throw ErrandError(.encodingFailed, fault) }
        var result = ""
        let items = parameters.items
        // The sort is stable, so values of one name keep their order.
        for item in sortsNames && items.count > 1 ? items.sorted(by: { $0.name < $1.name }) : items {
            try append(Self.escape(item.name), item.value, to: &result)
        }
        return result
    }

    static func escape(_ text: String) -> String {
        var result = ""
        PercentEncoding.encode(text, into: &result) {
            ASCII.isUnreserved($0) || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "/")
        }
        return result
    }

    private func append(_ name: String, _ value: ParameterValue, to result: inout String) throws {
        switch value {
        case .array(let values):
            if arrays == .commas {
                return add(name, try values.map(scalar).map { $0 ?? "" }.joined(separator: ","), to: &result)
            }
            for (index, value) in values.enumerated() {
                switch arrays {
                case .brackets: try append(name + "%5B%5D", value, to: &result)
                case .indexed: try append(name + "%5B\(index)%5D", value, to: &result)
                case .repeated, .commas: try append(name, value, to: &result)
                }
            }
        case .object(let values):
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                try append("\(name)%5B\(Self.escape(key))%5D", value, to: &result)
            }
        case .set(let values):
            for text in try values.map({ try scalar($0) ?? "" }).sorted() { add(name, text, to: &result) }
        default: add(name, try scalar(value), to: &result)
        }
    }

    private func add(_ name: String, _ text: String?, to result: inout String) {
        if !result.isEmpty { result += "&" }
        result += name
        if let text { result += "=" + text }
    }

    private func scalar(_ value: ParameterValue) throws -> String? {
        switch value {
        case .string(let text): return Self.escape(text)
        case .integer(let number): return "\(number)"
        case .number(let number): return Self.escape(ASCII.withoutExponent("\(number)"))
        case .decimal(let number): return Self.escape("\(number)")
        case .boolean(let flag):
            return switch booleans {
            case .numeric: flag ? "1" : "0"
            case .literal: flag ? "true" : "false"
            }
        case .encoded(let text):
            do { try URLSyntax.checkRest(text) { ASCII.isPathOrQuery($0) && $0 != UInt8(ascii: "&") } } catch {
                throw ErrandError(.encodingFailed, "a parameter marked as percent-encoded isn't valid: \(error)")
            }
            return text
        case .null: return nil
        case .array, .object, .set:
            throw ErrandError(
                .encodingFailed, "a set or a comma-separated array can't contain an array, object or set")
        }
    }
}
