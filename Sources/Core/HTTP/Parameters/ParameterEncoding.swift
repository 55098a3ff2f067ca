import ErrandMessageSyntax
import ErrandSupport

/// How parameters are written as the text of a query or a form.
///
/// Names and values are escaped as UTF-8, all characters but the unreserved ones of RFC 3986 and `?`, `/`; a space
/// becomes `%20`, a plus `%2B`.
public struct ParameterEncoding: Sendable, Hashable {
    /// How an array is written.
    public enum Arrays: Sendable, Hashable {
        /// `a[]=1&a[]=2`, the default.
        case brackets
        /// `a=1&a=2`
        case repeated
        /// `a[0]=1&a[1]=2`
        case indexed
        /// `a=1,2`
        case commas
    }

    /// How a boolean is written.
    public enum Booleans: Sendable, Hashable {
        /// `1` and `0`, the default.
        case numeric
        /// `true` and `false`
        case literal
    }

    /// How arrays are written; in brackets by default.
    public var arrays: Arrays
    /// How booleans are written; as 1 and 0 by default.
    public var booleans: Booleans
    /// Whether names are sorted; true by default, so that equal parameters make equal URLs.
    public var sortsNames: Bool

    /// Makes an encoding; the defaults are those of the properties.
    public init(arrays: Arrays = .brackets, booleans: Booleans = .numeric, sortsNames: Bool = true) {
        self.arrays = arrays
        self.booleans = booleans
        self.sortsNames = sortsNames
    }

    /// The text, without a leading `?`. Throws ``ErrandError/Code/encodingFailed`` for an `.encoded` value that is not.
    public func encode(_ parameters: Parameters) throws -> String {
        if let fault = parameters.fault { throw ErrandError(.encodingFailed, fault) }
        var result = ""
        let items = parameters.items
        // A stable sort: values of one name keep their order.
        for item in sortsNames && items.count > 1 ? items.sorted(by: { $0.name < $1.name }) : items {
            try append(Self.escape(item.name), item.value, to: &result)
        }
        return result
    }

    /// One name or value with every character escaped that is not unreserved.
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

    /// The escaped text of a value that is not a container; nil for null.
    private func scalar(_ value: ParameterValue) throws -> String? {
        switch value {
        case .string(let text): return Self.escape(text)
        case .integer(let number): return "\(number)"
        case .number(let number): return Self.escape("\(number)")
        case .decimal(let number): return Self.escape("\(number)")
        case .boolean(let flag):
            return switch booleans {
            case .numeric: flag ? "1" : "0"
            case .literal: flag ? "true" : "false"
            }
        case .encoded(let text):
            do { try URLSyntax.checkRest(text) { ASCII.isPathOrQuery($0) && $0 != UInt8(ascii: "&") } } catch {
                throw ErrandError(.encodingFailed, "a parameter given as encoded is not: \(error)")
            }
            return text
        case .null: return nil
        case .array, .object, .set:
            throw ErrandError(.encodingFailed, "a container within a set or a comma-separated array has no encoding")
        }
    }
}
