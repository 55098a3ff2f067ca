public import Errand
import ErrandEssentials

/// A document that cannot be read: a code, a sentence, and the position.
///
/// For a request of an agent it is the `underlying` error of an `ErrandError` with the code `decodingFailed`, which has the
/// response:
///
/// ```swift
/// do { _ = try await agent.send(Call<XMLTree>(.get, "feed.xml")) } catch let error as ErrandError {
///     if let xml = error.xml { print(xml.code, xml.line, xml.column) }
/// }
/// ```
///
/// A stream throws the error itself. The description contains nothing of the document.
public struct XMLError: CodedError, Sendable, Hashable {
    /// The kind of failure; stable, of low cardinality, fit for metrics.
    public typealias Code = FailureCode<XMLError>

    /// The kind of failure.
    public var code: Code
    /// A sentence that says what is wrong.
    public var message: String
    /// The line, from 1. Lines end with LF.
    public var line: Int
    /// The column in characters, from 1; where the parser detected the failure, which may be behind its cause.
    public var column: Int

    init(_ code: Code, _ message: String, at location: XMLLocation = XMLLocation()) {
        (self.code, self.message, line, column) = (code, message, location.line, location.column)
    }

    /// The code, the message and the place.
    public var description: String { "\(code): \(message), line \(line), column \(column)" }
}

extension FailureCode<XMLError> {
    /// The document is not well-formed.
    public static var malformed: Self { Self("malformed", 1) }
    /// The document ends too early: within an element, a tag or a comment, or before its root element.
    public static var truncated: Self { Self("truncated", 2) }
    /// The document has a document type declaration that is rejected; see ``XMLLimits/skipsDocumentType``.
    public static var refusedDocumentType: Self { Self("refusedDocumentType", 3) }
    /// Elements are nested deeper than the limit.
    public static var tooDeep: Self { Self("tooDeep", 4) }
    /// The document, its tree, a tag or a comment is larger than the limit.
    public static var tooLarge: Self { Self("tooLarge", 5) }
    /// The charset is not known, or the bytes are not valid in it.
    public static var invalidCharset: Self { Self("invalidCharset", 6) }
    /// A prefix has no namespace, or a declaration of a namespace is not allowed.
    public static var invalidNamespace: Self { Self("invalidNamespace", 7) }
}

extension ErrandError {
    /// The failure of the XML; nil if the error has another cause.
    public var xml: XMLError? { underlying as? XMLError }
}

extension XMLError {
    /// The sentence for people.
    public var failureSentence: FailureSentence { .unusableResponse }
}
