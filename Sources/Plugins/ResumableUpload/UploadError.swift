public import Errand
import ErrandEssentials
import ErrandSupport

/// The failure of an upload, beyond those that the network and the server report in an `ErrandError`.
///
/// ```swift
/// do { _ = try await agent.send(SendVideo(file: file)) } catch let error as UploadError where error.code == .tooLarge {
///     show(error.localizedDescription)
/// }
/// ```
///
/// A failure loses nothing: the next start of the same request resumes from the bytes that the server has.
public struct UploadError: Error, Sendable {
    /// The kind of failure; codes may be added.
    public typealias Code = FailureCode<UploadError>

    /// The kind of failure.
    public let code: Code
    /// The expected and the actual result, in a sentence for people, without a full stop. Files are named by their whole
    /// paths.
    public let message: String
    /// The request of the upload; nil for what is asked of a directory.
    public internal(set) var request: HTTPRequest?

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// A failure of the system.
    init(_ failure: SystemFile.Failure) { self.init(.fileFailed, failure.description) }

    static func converting<Value: ~Copyable>(
        _ body: () throws(SystemFile.Failure) -> Value
    ) throws(UploadError) -> Value {
        do { return try body() } catch { throw UploadError(error) }
    }

    /// Whether the same upload may succeed when it is sent again later, with nothing changed on this side.
    public var isRetryable: Bool { [.busy, .fileFailed, .changedTooOften].contains(code) }

    /// One line: the code, the request with its secrets masked, and the message.
    public var description: String {
        [code.description, request?.description, message].compactMap(\.self).joined(separator: ": ")
    }
}

extension FailureCode<UploadError> {
    /// A method, a header field or a body that makes no sense for an upload.
    public static var invalidRequest: Self { Self("invalidRequest", 1) }
    /// The same upload is running, perhaps in another process.
    public static var busy: Self { Self("busy", 2) }
    /// A failure of the file system.
    public static var fileFailed: Self { Self("fileFailed", 3) }
    /// The body is larger than the server takes (`Upload-Limit`, `Tus-Max-Size`); nothing more was sent.
    public static var tooLarge: Self { Self("tooLarge", 4) }
    /// The body changed while it was sent, or the server lost it, in each of several attempts.
    public static var changedTooOften: Self { Self("changedTooOften", 5) }
    /// A response from which the upload cannot continue, such as one that leads from https to http.
    public static var unusableResponse: Self { Self("unusableResponse", 6) }
}

extension UploadError: CodedError {}

extension UploadError: RequestFailure {}
