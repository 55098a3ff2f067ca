public import Errand
import ErrandEssentials

/// A failure to read an XML document, with a code, a message and the position.
///
/// If a response can't be parsed, the request throws an `ErrandError` with the code `decodingFailed`. This error is its
/// `underlying` error:
///
/// ```swift
/// do { _ = try await agent.send(Call<XMLTree>(.get, "feed.xml")) } catch let error as ErrandError {
///     if let xml = error.xml { print(xml.code, xml.line, xml.column) }
/// }
/// ```
///
/// A stream throws this error directly. The description never contains text from the document.
public struct XMLError: CodedError, Sendable, Hashable {
    /// The type of the error's codes. Later versions may add codes, so write a `default` in a `switch`.
    public typealias Code = FailureCode<XMLError>

    /// The kind of failure. Stable, and suitable for metrics.
    public var code: Code
    /// The fault, in one sentence without text from the document.
    public var message: String
    /// The failure's line, from 1. Only LF ends a line.
    public var line: Int
    /// The failure's column in characters, from 1. The cause may be earlier in the document, if the parser notices it
    /// late.
    public var column: Int

    init(_ code: Code, _ message: String, at location: XMLLocation = XMLLocation()) {
        (self.code, self.message, line, column) = (code, message, location.line, location.column)
    }

    /// The code, the message, the line and the column.
    public var description: String { "\(code): \(message), line \(line), column \(column)" }
}

extension FailureCode<XMLError> {
    /// The document isn't well-formed.
    public static var malformed: Self { Self("malformed", 1) }
    /// The document ends too early: before or within its root element, or within a tag or comment.
    public static var truncated: Self { Self("truncated", 2) }
    /// The document has a document type declaration that isn't allowed; see ``XMLLimits/skipsDocumentType``.
    public static var refusedDocumentType: Self { Self("refusedDocumentType", 3) }
    /// Elements are nested deeper than the limit.
    public static var tooDeep: Self { Self("tooDeep", 4) }
    /// The document, its tree, a tag or a comment is larger than the limit.
    public static var tooLarge: Self { Self("tooLarge", 5) }
    /// The declaration's charset is unknown, or the bytes aren't valid in the document's charset.
    public static var invalidCharset: Self { Self("invalidCharset", 6) }
    /// A prefix isn't declared, or a namespace declaration isn't allowed.
    public static var invalidNamespace: Self { Self("invalidNamespace", 7) }
}

extension ErrandError {
    /// The XML failure, or `nil` if the error has another cause.
    public var xml: XMLError? { underlying as? XMLError }
}

extension XMLError {
    /// The sentence for users.
    public var failureSentence: FailureSentence { .unusableResponse }
}
