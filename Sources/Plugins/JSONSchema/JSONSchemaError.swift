public import Errand
import ErrandEssentials
import ErrandJSONValidation

/// Why a schema cannot be used, and the place.
///
/// ```swift
/// do { _ = try JSONSchema(data) } catch { print(error.code, error.pointer, error.reason) }
/// ```
public struct JSONSchemaError: DescribedError, Sendable, Hashable {
    /// The kind of a fault. Cases may be added: write a `default`.
    public enum Code: Int, Sendable, Hashable {
        /// The text is not JSON, or its file cannot be read.
        case notJSON = 1
        /// A keyword has a value that it must not have.
        case invalidKeyword = 2
        /// A pattern is not a regular expression, or has what is not supported.
        case invalidPattern = 3
        /// A reference leads to no schema, and the resolver has none.
        case unresolvedReference = 4
        /// `$schema` or `$vocabulary` names what is not known.
        case unknownDialect = 5
        /// References lead back to a schema for the same value, so that validation would not end.
        case endlessRecursion = 6
        /// The schema, with all documents that it refers to, exceeds a limit.
        case tooLarge = 7
    }

    /// The kind of the fault.
    public var code: Code
    /// The URI of the document with the fault; empty for one without a URI.
    public var uri: String
    /// The place in that document, as a JSON Pointer (RFC 6901).
    public var pointer: String
    /// A description of the fault; completes "the keyword …", or is a sentence.
    public var reason: String

    /// Makes an error.
    public init(_ code: Code, uri: String = "", pointer: String, reason: String) {
        (self.code, self.uri, self.pointer, self.reason) = (code, uri, pointer, reason)
    }

    /// The number of the code, which never changes.
    public var errorCode: Int { code.rawValue }

    /// `JSON Schema: /properties/id/minimum: expected a number`
    public var description: String {
        let shown = uri + (uri.isEmpty || pointer.isEmpty ? pointer : "#\(pointer)")
        return "JSON Schema: \(MessageText.shown(shown.isEmpty ? "document" : shown, limit: 1_200)): \(reason)"
    }
}
