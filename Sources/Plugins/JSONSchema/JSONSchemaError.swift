public import Errand
import ErrandEssentials
import ErrandJSONValidation

/// Explains why a schema can't be used, and where.
///
/// ```swift
/// do { _ = try JSONSchema(data) } catch { print(error.code, error.pointer, error.reason) }
/// ```
public struct JSONSchemaError: DescribedError, Sendable, Hashable {
    /// What is wrong with a schema. Handle unknown codes with a `default`, because cases may be added.
    public enum Code: Int, Sendable, Hashable {
        /// The text isn't JSON, or its file can't be read.
        case notJSON = 1
        /// A keyword has a value that isn't allowed.
        case invalidKeyword = 2
        /// A pattern isn't a regular expression, or uses unsupported syntax.
        case invalidPattern = 3
        /// A reference doesn't lead to a schema, and the resolver doesn't have the document.
        case unresolvedReference = 4
        /// `$schema` or `$vocabulary` names something unknown.
        case unknownDialect = 5
        /// References lead back to a schema for the same value, so validation would never end.
        case endlessRecursion = 6
        /// The schema, including all documents that it refers to, exceeds a limit.
        case tooLarge = 7
    }

    /// What is wrong with the schema, to switch over.
    public var code: Code
    /// The URI of the document that contains the fault, or an empty string if the document has none.
    public var uri: String
    /// The fault's position in that document, as a JSON Pointer (RFC 6901).
    public var pointer: String
    /// What is wrong, in words: either a sentence, or text that completes "the keyword …".
    public var reason: String

    /// Creates an error, for your own validators and tests.
    public init(_ code: Code, uri: String = "", pointer: String, reason: String) {
        (self.code, self.uri, self.pointer, self.reason) = (code, uri, pointer, reason)
    }

    /// The raw value of the code, which never changes.
    public var errorCode: Int { code.rawValue }

    /// A message such as `JSON Schema: /properties/id/minimum: expected a number`.
    public var description: String {
        let shown = uri + (uri.isEmpty || pointer.isEmpty ? pointer : "#\(pointer)")
        return "JSON Schema: \(MessageText.shown(shown.isEmpty ? "document" : shown, limit: 1_200)): \(reason)"
    }
}
