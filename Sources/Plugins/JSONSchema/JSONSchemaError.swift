public import Errand
import ErrandEssentials
import ErrandJSONValidation

/// An error in a schema, with its position and the reason.
///
/// ```swift
/// do { _ = try JSONSchema(data) } catch { print(error.code, error.pointer, error.reason) }
/// ```
public struct JSONSchemaError: DescribedError, Sendable, Hashable {
    /// The kind of fault. Later versions may add cases, so write a `default` in a `switch`.
    public enum Code: Int, Sendable, Hashable {
        /// The text isn't JSON, or its file can't be read.
        case notJSON = 1
        /// A keyword has a value that isn't allowed.
        case invalidKeyword = 2
        /// A pattern isn't a regular expression, or uses unsupported syntax.
        case invalidPattern = 3
        /// A reference doesn't lead to a schema, or leads to an unknown document.
        case unresolvedReference = 4
        /// `$schema` or `$vocabulary` contains an unknown name.
        case unknownDialect = 5
        /// References lead back to a schema for the same value, so validation would never end.
        case endlessRecursion = 6
        /// The schema, including all documents that it refers to, exceeds a limit.
        case tooLarge = 7
    }

    /// The kind of fault.
    public var code: Code
    /// The URI of the document with the fault, or an empty string if the document has no URI.
    public var uri: String
    /// The position of the fault in the document, as a JSON Pointer (RFC 6901).
    public var pointer: String
    /// What is wrong: a sentence, or text that completes "the keyword …".
    public var reason: String

    /// Creates an error, for your own validators and tests.
    public init(_ code: Code, uri: String = "", pointer: String, reason: String) {
        (self.code, self.uri, self.pointer, self.reason) = (code, uri, pointer, reason)
    }

    /// The code's raw value, which never changes.
    public var errorCode: Int { code.rawValue }

    /// A message such as `JSON Schema: /properties/id/minimum: expected a number`.
    public var description: String {
        let shown = uri + (uri.isEmpty || pointer.isEmpty ? pointer : "#\(pointer)")
        return "JSON Schema: \(MessageText.shown(shown.isEmpty ? "document" : shown, limit: 1_200)): \(reason)"
    }
}
