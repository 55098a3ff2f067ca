public import Errand
import ErrandEssentials

/// Why a document is not read: a code, a sentence, and the place.
///
/// For a request of an agent it is the `underlying` error of an `ErrandError` with the code `decoding`, which has the
/// response:
///
/// ```swift
/// do { _ = try await agent.send(Call<XMLTree>(.get, "feed.xml")) } catch let error as ErrandError {
///     if let xml = error.xml { print(xml.code, xml.line, xml.column) }
/// }
/// ```
///
/// A stream throws it itself. The description holds nothing of the document.
public struct XMLError: CodedError, Sendable, Hashable {
    /// The kind of failure; stable, of low cardinality, fit for metrics.
    public struct Code: ErrorCode {
        /// The name of the code.
        public let description: String
        /// A number that never changes, from 1; the `code` of an `NSError`.
        public let number: Int

        init(_ description: String, _ number: Int) { (self.description, self.number) = (description, number) }
    }

    /// The kind of failure.
    public var code: Code
    /// What is wrong.
    public var message: String
    /// The line, from 1. Lines end with LF.
    public var line: Int
    /// The column in characters, from 1; where the parser noticed the failure, which may be behind what caused it.
    public var column: Int

    init(_ code: Code, _ message: String, at place: XMLPlace = XMLPlace()) {
        (self.code, self.message, line, column) = (code, message, place.line, place.column)
    }

    /// The code, the message and the place.
    public var description: String { "\(code): \(message), line \(line), column \(column)" }
}

extension XMLError.Code {
    /// The document is not well-formed.
    public static let malformed = Self("malformed", 1)
    /// The document ends too early: within an element, a tag or a comment, or before its root element.
    public static let truncated = Self("truncated", 2)
    /// The document has a document type declaration that is refused; see ``XMLLimits/skipsDocumentType``.
    public static let documentType = Self("documentType", 3)
    /// Elements are nested deeper than the limit.
    public static let tooDeep = Self("tooDeep", 4)
    /// The document, its tree, a tag or a comment is larger than the limit.
    public static let tooLarge = Self("tooLarge", 5)
    /// The charset is not known, or the bytes are not valid in it.
    public static let charset = Self("charset", 6)
    /// A prefix has no namespace, or a declaration of a namespace is not allowed.
    public static let namespace = Self("namespace", 7)
}

extension ErrandError {
    /// What is wrong with the XML; nil if the error has another cause.
    public var xml: XMLError? { underlying as? XMLError }
}
